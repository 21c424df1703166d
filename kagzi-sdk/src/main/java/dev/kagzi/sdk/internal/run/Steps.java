package dev.kagzi.sdk.internal.run;

import dev.kagzi.protocol.v1.ErrorDetail;
import dev.kagzi.protocol.v1.Payload;
import dev.kagzi.protocol.v1.RecordedStep;
import dev.kagzi.protocol.v1.ReportItem;
import dev.kagzi.protocol.v1.ReportResult;
import dev.kagzi.protocol.v1.StepKind;
import dev.kagzi.protocol.v1.Task;
import dev.kagzi.sdk.PayloadException;
import dev.kagzi.sdk.RunCancelledException;
import dev.kagzi.sdk.StepCode;
import dev.kagzi.sdk.StepFailedException;
import dev.kagzi.sdk.internal.log.EventLog;
import dev.kagzi.sdk.internal.metrics.ClientMetrics;
import dev.kagzi.sdk.internal.wire.Payloads;
import dev.kagzi.sdk.internal.wire.ProtoMapper;
import java.lang.reflect.Type;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Executes steps, or returns their recorded results. Only its workflow thread may use it. */
final class Steps {
  private static final EventLog log = EventLog.of(Steps.class);

  private final Payloads payloads;
  private final FailureRecorder failures;
  private final WorkflowThread workflowThread;
  private final long defaultTimeoutMs;
  private final RunRef run;
  private final InterceptorChain interceptors;
  private final ClientMetrics metrics;

  Steps(
      RunRef run,
      Payloads payloads,
      FailureRecorder failures,
      InterceptorChain interceptors,
      ClientMetrics metrics,
      WorkflowThread workflowThread,
      long defaultTimeoutMs) {
    this.run = run;
    this.interceptors = interceptors;
    this.metrics = metrics;
    this.payloads = payloads;
    this.failures = failures;
    this.workflowThread = workflowThread;
    this.defaultTimeoutMs = defaultTimeoutMs;
  }

  /** A step call of the workflow code; the key is the name with scope and occurrence. */
  record Call(
      String name,
      String key,
      StepOptions options,
      Type type,
      StepCode<?> code,
      @Nullable TransactionStep transaction) {
    Call(String name, String key, StepOptions options, Type type, StepCode<?> code) {
      this(name, key, options, type, code, null);
    }
  }

  private sealed interface Outcome {
    /** The value is decoded from the report's payload, so that it is the same as in a replay. */
    record Done(@Nullable Object value, ReportItem.StepDone report) implements Outcome {}

    record Failed(Throwable thrown, ErrorDetail error, ReportItem.StepFailed report)
        implements Outcome {}
  }

  @Nullable Object execute(Call call, @Nullable RecordedStep recorded) {
    return execute(call, recorded, workflowThread.state().historyNanos());
  }

  /** Recorded delays count from {@code fromNanos}. */
  private @Nullable Object execute(Call call, @Nullable RecordedStep recorded, long fromNanos) {
    if (recorded == null) {
      return attemptUntilAnswered(call, 1, null);
    }
    HistoryMismatch.requireKind(workflowThread, recorded, StepKind.STEP_KIND_FUNCTION);
    HistoryMismatch.requireInput(workflowThread, recorded, call.options.input());
    Payload progress = recorded.hasProgress() ? recorded.getProgress() : null;
    return switch (recorded.getResultCase()) {
      case OUTPUT -> decode(call, recorded.getOutput());
      case FINAL_FAILURE -> finalFailure(call, recorded.getFinalFailure());
      case RETRY -> {
        workflowThread.reports().awaitDurable();
        suspend(call, fromNanos, recorded.getRetry().getDelayMs());
        yield attemptUntilAnswered(call, recorded.getAttempt() + 1, progress);
      }
      // Reported as started but not ended: the worker crashed or released the run, which is no
      // failed attempt.
      case OPEN -> attemptUntilAnswered(call, recorded.getAttempt(), progress);
      case SLEEPS_MS, TIMED_OUT, RESULT_NOT_SET ->
          throw HistoryMismatch.unreadable(workflowThread, recorded);
    };
  }

  /**
   * Throws the recorded failure. If the step's transaction was committed nevertheless, returns the
   * stored result.
   */
  private @Nullable Object finalFailure(Call call, ErrorDetail error) {
    Payloads.Recorded stored = stored(call);
    if (stored == null) {
      throw new StepFailedException(call.key, ProtoMapper.failure(error));
    }
    return stored.value();
  }

  /** Returns the result of the step's transaction if it was committed, else null. */
  private static Payloads.@Nullable Recorded stored(Call call) {
    TransactionStep transaction = call.transaction;
    return transaction == null ? null : transaction.settle();
  }

  /** Returns the recorded time, or holds the present time until the next report. */
  Instant now(String key, @Nullable RecordedStep recorded, Task task) {
    int attempt = 1;
    if (recorded != null) {
      HistoryMismatch.requireKind(workflowThread, recorded, StepKind.STEP_KIND_FUNCTION);
      switch (recorded.getResultCase()) {
        case OUTPUT -> {
          return recordedTime(key, recorded.getOutput());
        }
        // The other cases were recorded by earlier code, which had an ordinary step with this key.
        case FINAL_FAILURE ->
            throw new StepFailedException(key, ProtoMapper.failure(recorded.getFinalFailure()));
        case RETRY -> attempt = recorded.getAttempt() + 1;
        case OPEN -> attempt = recorded.getAttempt();
        case SLEEPS_MS, TIMED_OUT, RESULT_NOT_SET ->
            throw HistoryMismatch.unreadable(workflowThread, recorded);
      }
    }
    Instant now = workflowThread.state().databaseTime(task);
    workflowThread
        .reports()
        .holdNext(
            workflowThread
                .item()
                .setStepDone(
                    ReportItem.StepDone.newBuilder()
                        .setStepKey(key)
                        .setAttempt(attempt)
                        .setKind(StepKind.STEP_KIND_FUNCTION)
                        .setOutput(payloads.encode(now.toString(), String.class)))
                .build());
    return now;
  }

  private Instant recordedTime(String key, Payload output) {
    try {
      return Instant.parse(String.valueOf(payloads.decode(output, String.class)));
    } catch (PayloadException | DateTimeParseException e) {
      throw HistoryMismatch.blocked(
          workflowThread,
          BlockReason.RESULT_UNREADABLE.name(),
          "step %s: recorded time: %s".formatted(key, e.getMessage()),
          e);
    }
  }

  private @Nullable Object attemptUntilAnswered(
      Call call, int firstAttempt, @Nullable Payload earlierProgress) {
    int attempt = firstAttempt;
    Payload progress = earlierProgress;
    workflowThread.reports().awaitDurable();
    while (true) {
      switch (attempt(call, attempt, progress)) {
        case Outcome.Done done -> {
          workflowThread.reports().hold(workflowThread.item().setStepDone(done.report).build());
          return done.value;
        }
        case Outcome.Failed failed -> {
          ReportResult result = report(failed.report);
          if (!result.hasRetryScheduled()) {
            return applyAnswer(call, failed, result);
          }
          logFailed(log.info("step failed, it will be tried again"), call, failed, result);
          progress = failed.report.hasProgress() ? failed.report.getProgress() : progress;
          attempt = awaitRetry(call, result.getRetryScheduled());
        }
      }
    }
  }

  /**
   * Sends the report. If the server refuses it, sends it again without progress and input, which
   * may be too large: the step must not lose its next attempt because of them.
   */
  private ReportResult report(ReportItem.StepFailed failed) {
    ReportResult result =
        workflowThread.reports().report(workflowThread.item().setStepFailed(failed).build());
    if (!result.hasRefused() || !(failed.hasProgress() || failed.hasInput())) {
      return result;
    }
    log.warn("failure of a step is recorded without its progress and input")
        .about(workflowThread.state().logged())
        .with("step", failed.getStepKey())
        .with("reason", result.getRefused().getMessage())
        .write();
    ReportItem.StepFailed withoutPayloads = failed.toBuilder().clearProgress().clearInput().build();
    return workflowThread
        .reports()
        .report(workflowThread.item().setStepFailed(withoutPayloads).build());
  }

  private @Nullable Object applyAnswer(Call call, Outcome.Failed failed, ReportResult result) {
    return switch (result.getResultCase()) {
      case FINAL_FAILURE -> {
        logFailed(log.warn("step failed, no attempt is left"), call, failed, result);
        yield finalFailure(call, failed.error);
      }
      case ALREADY_RECORDED -> execute(call, result.getAlreadyRecorded(), System.nanoTime());
      case REFUSED -> throw workflowThread.end(new StopReason.Refused(result.getRefused()));
      default -> throw workflowThread.end(new StopReason.StartOver());
    };
  }

  private void logFailed(
      EventLog.Event event, Call call, Outcome.Failed failed, ReportResult result) {
    event
        .about(workflowThread.state().logged())
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

  private int awaitRetry(Call call, ReportResult.RetryScheduled retry) {
    if (!retry.getClaimKept()) {
      throw workflowThread.end(new StopReason.Parked());
    }
    suspend(call, System.nanoTime(), retry.getDelayMs());
    return retry.getNextAttempt();
  }

  // A cancel is not recorded during the delay of a transactional step, but ends the delay: the next
  // attempt settles the step first.
  private void suspend(Call call, long fromNanos, long delayMs) {
    long untilNanos = fromNanos + TimeUnit.MILLISECONDS.toNanos(delayMs);
    if (call.transaction == null) {
      workflowThread.suspendUntil(untilNanos);
    } else {
      workflowThread.suspendUntilOrCancel(untilNanos);
    }
  }

  private Outcome attempt(Call call, int attempt, @Nullable Payload progress) {
    RunningStep step = new RunningStep(call.key, attempt, call.options, defaultTimeoutMs);
    RunStepContext scope = new RunStepContext(run, call.name, step, payloads, progress);
    StepTelemetry telemetry =
        new StepTelemetry(run.workflowType(), metrics, workflowThread.state().trace().step(scope));
    step.telemetry(telemetry);
    try {
      return attempt(call, step, scope);
    } catch (SuspendedError | RunCancelledException e) {
      telemetry.stopped();
      throw e;
    }
  }

  private Outcome attempt(Call call, RunningStep step, RunStepContext scope) {
    Payloads.Recorded recorded = null;
    Throwable thrown = null;
    workflowThread.stepBegins(step);
    scope.enter();
    try {
      if (!step.isCancelled()) {
        Object returned = interceptors.step(scope, () -> call.code.run(scope));
        recorded = payloads.record(returned, call.type);
      }
    } catch (SuspendedError e) {
      throw e;
    } catch (Throwable e) {
      thrown = e;
    } finally {
      scope.leave();
      step.telemetry().leave();
    }
    long nowNanos = System.nanoTime();
    workflowThread.stepEnds(step);
    // If the run or the branch was stopped, what its interrupted step threw is no failure.
    workflowThread.check();
    if (recorded == null && step.isCancelled()) {
      recorded = storedOrCancelled(call);
    }
    // A transaction that was committed after the timeout has had its effect, so its result counts.
    if (recorded != null && (call.transaction != null || !step.isExpired(nowNanos))) {
      step.ended(null, nowNanos);
      return new Outcome.Done(recorded.value(), step.done(recorded.payload(), nowNanos));
    }
    return failed(step, step.isExpired(nowNanos) ? step.timeout(thrown) : thrown, nowNanos);
  }

  /**
   * Returns the result of a transaction that was committed although the run is cancelled. The code
   * receives it, and learns of the cancel at its next call. Otherwise it learns of it here.
   */
  private Payloads.Recorded storedOrCancelled(Call call) {
    Payloads.Recorded stored = stored(call);
    if (stored == null) {
      Object unused = Cancellation.see(workflowThread, call.key, StepKind.STEP_KIND_FUNCTION);
      throw workflowThread.end(new StopReason.StartOver());
    }
    return stored;
  }

  private Outcome failed(RunningStep step, @Nullable Throwable thrown, long nowNanos) {
    Throwable failure =
        thrown == null
            ? new AssertionError(
                "step %s: neither a result nor an exception (expected: one of them)"
                    .formatted(step.key()))
            : thrown;
    ErrorDetail error = failures.record(failure);
    step.ended(error, nowNanos);
    return new Outcome.Failed(
        failure, error, step.failed(error, !workflowThread.isAlone(), nowNanos));
  }

  private @Nullable Object decode(Call call, Payload output) {
    try {
      return payloads.decode(output, call.type);
    } catch (PayloadException e) {
      throw HistoryMismatch.blocked(
          workflowThread,
          BlockReason.RESULT_UNREADABLE.name(),
          "step %s: recorded result: %s".formatted(call.key, e.getMessage()),
          e);
    }
  }
}
