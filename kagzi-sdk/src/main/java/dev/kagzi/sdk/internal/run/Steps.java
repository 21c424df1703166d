package dev.kagzi.sdk.internal.run;

import dev.kagzi.protocol.v1.ErrorDetail;
import dev.kagzi.protocol.v1.Payload;
import dev.kagzi.protocol.v1.RecordedStep;
import dev.kagzi.protocol.v1.ReportItem;
import dev.kagzi.protocol.v1.ReportResult;
import dev.kagzi.protocol.v1.StepKind;
import dev.kagzi.sdk.PayloadException;
import dev.kagzi.sdk.StepFailedException;
import dev.kagzi.sdk.internal.wire.Payloads;
import dev.kagzi.sdk.internal.wire.Protos;
import java.lang.reflect.Type;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Executes steps, or finds their results in the record. Belongs to the run's thread. */
final class Steps {
  private static final Logger log = LoggerFactory.getLogger(Steps.class);

  private final Payloads payloads;
  private final FailureRecorder failures;
  private final Progress progress;
  private final long defaultTimeoutMs;
  private boolean executing;

  /**
   * @param defaultTimeoutMs of steps without a time-out of their own; 0 for none
   */
  Steps(Payloads payloads, FailureRecorder failures, Progress progress, long defaultTimeoutMs) {
    this.payloads = payloads;
    this.failures = failures;
    this.progress = progress;
    this.defaultTimeoutMs = defaultTimeoutMs;
  }

  /** One step as the workflow's code asks for it. */
  record Call(String key, StepOptions options, Type type, Callable<?> code) {}

  /** How one attempt ended. */
  private sealed interface Outcome {
    record Done(@Nullable Object value, ReportItem.StepDone report) implements Outcome {}

    record Failed(ErrorDetail error, ReportItem.StepFailed report) implements Outcome {}
  }

  /** Whether the step's own code is running now. */
  boolean isExecuting() {
    return executing;
  }

  @Nullable Object execute(Call call, @Nullable RecordedStep recorded) {
    if (recorded == null) {
      return attemptUntilDecided(call, 1);
    }
    Records.requireKind(progress, recorded, StepKind.STEP_KIND_FUNCTION);
    return switch (recorded.getResultCase()) {
      case OUTPUT -> decode(call, recorded.getOutput());
      case FINAL_FAILURE ->
          throw new StepFailedException(call.key, Protos.failure(recorded.getFinalFailure()));
      case RETRY -> {
        progress.waitInPlace(recorded.getRetry().getDelayMs());
        yield attemptUntilDecided(call, recorded.getAttempt() + 1);
      }
      // Announced and never ended: the worker died. That costs the step no attempt.
      case OPEN -> attemptUntilDecided(call, recorded.getAttempt());
      case SLEEPS_MS, RESULT_NOT_SET -> throw Records.unreadable(progress, recorded);
    };
  }

  private @Nullable Object attemptUntilDecided(Call call, int firstAttempt) {
    int attempt = firstAttempt;
    progress.settle();
    while (true) {
      switch (attempt(call, attempt)) {
        case Outcome.Done done -> {
          progress.hold(progress.item().setStepDone(done.report).build());
          return done.value;
        }
        case Outcome.Failed failed -> {
          ReportResult result =
              progress.report(progress.item().setStepFailed(failed.report).build());
          if (!result.hasRetryScheduled()) {
            return decided(call, failed, result);
          }
          log.atInfo()
              .addKeyValue("run", progress.runId())
              .addKeyValue("step", call.key)
              .addKeyValue("attempt", attempt)
              .addKeyValue("again_in_ms", result.getRetryScheduled().getDelayMs())
              .addKeyValue("error", failed.error.getMessage())
              .log("step failed, it will be tried again");
          attempt = awaitRetry(result.getRetryScheduled());
        }
      }
    }
  }

  private @Nullable Object decided(Call call, Outcome.Failed failed, ReportResult result) {
    return switch (result.getResultCase()) {
      case FINAL_FAILURE -> throw new StepFailedException(call.key, Protos.failure(failed.error));
      case ALREADY_RECORDED -> execute(call, result.getAlreadyRecorded());
      case REFUSED -> throw progress.end(new Ending.Refused(result.getRefused()));
      default -> throw progress.end(new Ending.StartOver());
    };
  }

  private int awaitRetry(ReportResult.RetryScheduled retry) {
    if (!retry.getClaimKept()) {
      throw progress.end(new Ending.Parked());
    }
    progress.waitInPlace(retry.getDelayMs());
    return retry.getNextAttempt();
  }

  private Outcome attempt(Call call, int attempt) {
    RunningStep step = new RunningStep(call.key, attempt, call.options, defaultTimeoutMs);
    Object value = null;
    Payload output = null;
    Throwable thrown = null;
    progress.stepBegins(step);
    executing = true;
    try {
      value = call.code.call();
      output = payloads.encode(value, call.type);
    } catch (SuspendedError e) {
      throw e;
    } catch (Throwable e) {
      thrown = e;
    } finally {
      executing = false;
    }
    long nowNanos = System.nanoTime();
    progress.stepEnds(step);
    // An interrupted step throws; that is no failure of the step.
    progress.check();
    if (output != null && !step.isExpired(nowNanos)) {
      return new Outcome.Done(value, step.done(output, nowNanos));
    }
    return failed(step, step.isExpired(nowNanos) ? step.timeout(thrown) : thrown, nowNanos);
  }

  private Outcome failed(RunningStep step, @Nullable Throwable thrown, long nowNanos) {
    Throwable failure = thrown == null ? new AssertionError("a step without an end") : thrown;
    ErrorDetail error = failures.record(failure);
    return new Outcome.Failed(error, step.failed(error, nowNanos));
  }

  private @Nullable Object decode(Call call, Payload output) {
    try {
      return payloads.decode(output, call.type);
    } catch (PayloadException e) {
      throw Records.blocked(
          progress, "step %s: recorded result: %s".formatted(call.key, e.getMessage()), e);
    }
  }
}
