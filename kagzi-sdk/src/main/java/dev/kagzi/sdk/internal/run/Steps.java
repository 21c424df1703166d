package dev.kagzi.sdk.internal.run;

import dev.kagzi.protocol.v1.ErrorDetail;
import dev.kagzi.protocol.v1.Payload;
import dev.kagzi.protocol.v1.RecordedStep;
import dev.kagzi.protocol.v1.ReportItem;
import dev.kagzi.protocol.v1.ReportResult;
import dev.kagzi.protocol.v1.StepKind;
import dev.kagzi.sdk.PayloadException;
import dev.kagzi.sdk.StepCode;
import dev.kagzi.sdk.StepFailedException;
import dev.kagzi.sdk.internal.log.EventLog;
import dev.kagzi.sdk.internal.wire.Payloads;
import dev.kagzi.sdk.internal.wire.ProtoMapper;
import java.lang.reflect.Type;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Executes steps, or returns their recorded results. Only its workflow thread may use it. */
final class Steps {
  private static final EventLog log = EventLog.of(Steps.class);

  private final Payloads payloads;
  private final FailureRecorder failures;
  private final WorkflowThread strand;
  private final long defaultTimeoutMs;
  private final RunRef run;
  private final InterceptorChain around;

  /** @param defaultTimeoutMs the time-out of steps without their own; 0 for none */
  Steps(
      RunRef run,
      Payloads payloads,
      FailureRecorder failures,
      InterceptorChain around,
      WorkflowThread strand,
      long defaultTimeoutMs) {
    this.run = run;
    this.around = around;
    this.payloads = payloads;
    this.failures = failures;
    this.strand = strand;
    this.defaultTimeoutMs = defaultTimeoutMs;
  }

  /**
   * A step call of the workflow code.
   *
   * @param name the name in the code
   * @param key the name with scope and occurrence
   */
  record Call(String name, String key, StepOptions options, Type type, StepCode<?> code) {}

  /** How one attempt ended. */
  private sealed interface Outcome {
    /** @param value what the workflow code receives: decoded from the report, as in a replay */
    record Done(@Nullable Object value, ReportItem.StepDone report) implements Outcome {}

    record Failed(Throwable thrown, ErrorDetail error, ReportItem.StepFailed report)
        implements Outcome {}
  }

  @Nullable Object execute(Call call, @Nullable RecordedStep recorded) {
    return execute(call, recorded, strand.progress().arrivedNanos());
  }

  /** @param fromNanos when the recorded step was read; its delays count from here */
  private @Nullable Object execute(Call call, @Nullable RecordedStep recorded, long fromNanos) {
    if (recorded == null) {
      return attemptUntilDecided(call, 1, null);
    }
    HistoryMismatch.requireKind(strand, recorded, StepKind.STEP_KIND_FUNCTION);
    HistoryMismatch.requireInput(strand, recorded, call.options.input());
    Payload progress = recorded.hasProgress() ? recorded.getProgress() : null;
    return switch (recorded.getResultCase()) {
      case OUTPUT -> decode(call, recorded.getOutput());
      case FINAL_FAILURE ->
          throw new StepFailedException(call.key, ProtoMapper.failure(recorded.getFinalFailure()));
      case RETRY -> {
        strand.settle();
        strand.pauseUntil(
            fromNanos + TimeUnit.MILLISECONDS.toNanos(recorded.getRetry().getDelayMs()));
        yield attemptUntilDecided(call, recorded.getAttempt() + 1, progress);
      }
      // Announced but not ended: the worker crashed. That does not count as a failed attempt.
      case OPEN -> attemptUntilDecided(call, recorded.getAttempt(), progress);
      case SLEEPS_MS, RESULT_NOT_SET -> throw HistoryMismatch.unreadable(strand, recorded);
    };
  }

  private @Nullable Object attemptUntilDecided(
      Call call, int firstAttempt, @Nullable Payload progressBefore) {
    int attempt = firstAttempt;
    Payload progress = progressBefore;
    strand.settle();
    while (true) {
      switch (attempt(call, attempt, progress)) {
        case Outcome.Done done -> {
          strand.hold(strand.item().setStepDone(done.report).build());
          return done.value;
        }
        case Outcome.Failed failed -> {
          ReportResult result = report(failed.report);
          if (!result.hasRetryScheduled()) {
            return decided(call, failed, result);
          }
          logFailed(log.info("step failed, it will be tried again"), call, failed, result);
          progress = failed.report.hasProgress() ? failed.report.getProgress() : progress;
          attempt = awaitRetry(result.getRetryScheduled());
        }
      }
    }
  }

  /**
   * If the server refuses the report, sends it again without progress and input: they may be too
   * large, and that must not cost the step its next attempt.
   */
  private ReportResult report(ReportItem.StepFailed failed) {
    ReportResult result = strand.report(strand.item().setStepFailed(failed).build());
    if (!result.hasRefused() || !(failed.hasProgress() || failed.hasInput())) {
      return result;
    }
    log.warn("failure of a step is recorded without its progress and input")
        .with("run", strand.progress().runId())
        .with("step", failed.getStepKey())
        .with("reason", result.getRefused().getMessage())
        .write();
    ReportItem.StepFailed bare = failed.toBuilder().clearProgress().clearInput().build();
    return strand.report(strand.item().setStepFailed(bare).build());
  }

  private @Nullable Object decided(Call call, Outcome.Failed failed, ReportResult result) {
    return switch (result.getResultCase()) {
      case FINAL_FAILURE -> {
        logFailed(log.warn("step failed, no attempt is left"), call, failed, result);
        throw new StepFailedException(call.key, ProtoMapper.failure(failed.error));
      }
      case ALREADY_RECORDED -> execute(call, result.getAlreadyRecorded(), System.nanoTime());
      case REFUSED -> throw strand.end(new StopReason.Refused(result.getRefused()));
      default -> throw strand.end(new StopReason.StartOver());
    };
  }

  private void logFailed(
      EventLog.Event event, Call call, Outcome.Failed failed, ReportResult result) {
    event
        .with("run", run.runId())
        .with("type", run.workflowType())
        .with("step", call.key)
        .with("attempt", failed.report.getAttempt());
    if (result.hasRetryScheduled()) {
      event.with("again_in_ms", result.getRetryScheduled().getDelayMs());
    }
    event
        .with("error", failed.error.getMessage())
        .cause(failures.loggable(failed.thrown, failed.error))
        .write();
  }

  private int awaitRetry(ReportResult.RetryScheduled retry) {
    if (!retry.getClaimKept()) {
      throw strand.end(new StopReason.Parked());
    }
    strand.pause(retry.getDelayMs());
    return retry.getNextAttempt();
  }

  private Outcome attempt(Call call, int attempt, @Nullable Payload progress) {
    RunningStep step = new RunningStep(call.key, attempt, call.options, defaultTimeoutMs);
    StepScope scope = new StepScope(run, call.name, step, payloads, progress);
    Payloads.Recorded recorded = null;
    Throwable thrown = null;
    strand.stepBegins(step);
    scope.enter();
    try {
      Object returned = around.step(scope, () -> call.code.run(scope));
      recorded = payloads.record(returned, call.type);
    } catch (SuspendedError e) {
      throw e;
    } catch (Throwable e) {
      thrown = e;
    } finally {
      scope.leave();
    }
    long nowNanos = System.nanoTime();
    strand.stepEnds(step);
    // An interrupted step throws; that is no failure of the step.
    strand.check();
    if (recorded != null && !step.isExpired(nowNanos)) {
      return new Outcome.Done(recorded.value(), step.done(recorded.payload(), nowNanos));
    }
    return failed(step, step.isExpired(nowNanos) ? step.timeout(thrown) : thrown, nowNanos);
  }

  private Outcome failed(RunningStep step, @Nullable Throwable thrown, long nowNanos) {
    Throwable failure = thrown == null ? new AssertionError("a step without an end") : thrown;
    ErrorDetail error = failures.record(failure);
    return new Outcome.Failed(failure, error, step.failed(error, !strand.isAlone(), nowNanos));
  }

  private @Nullable Object decode(Call call, Payload output) {
    try {
      return payloads.decode(output, call.type);
    } catch (PayloadException e) {
      throw HistoryMismatch.blocked(
          strand,
          BlockReason.RESULT_UNREADABLE.name(),
          "step %s: recorded result: %s".formatted(call.key, e.getMessage()),
          e);
    }
  }
}
