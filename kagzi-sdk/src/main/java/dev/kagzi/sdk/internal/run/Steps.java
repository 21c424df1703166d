package dev.kagzi.sdk.internal.run;

import dev.kagzi.protocol.v1.ErrorDetail;
import dev.kagzi.protocol.v1.Payload;
import dev.kagzi.protocol.v1.RecordedStep;
import dev.kagzi.protocol.v1.ReportItem;
import dev.kagzi.protocol.v1.ReportResult;
import dev.kagzi.protocol.v1.StepKind;
import dev.kagzi.sdk.PayloadException;
import dev.kagzi.sdk.Retry;
import dev.kagzi.sdk.StepFailedException;
import dev.kagzi.sdk.internal.wire.Payloads;
import dev.kagzi.sdk.internal.wire.Protos;
import java.lang.reflect.Type;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/** Executes steps, or finds their results in the record. Belongs to the run's thread. */
final class Steps {
  private final Payloads payloads;
  private final Progress progress;
  private boolean executing;

  Steps(Payloads payloads, Progress progress) {
    this.payloads = payloads;
    this.progress = progress;
  }

  /** One step as the workflow's code asks for it. */
  record Call(String key, @Nullable Retry retry, Type type, Callable<?> code) {}

  /** How one attempt ended: with an output, or with what was thrown. */
  private record Outcome(
      @Nullable Object value, @Nullable Payload output, @Nullable Throwable thrown, long ranMs) {}

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
          throw new StepFailedException(call.key, Protos.failure(recorded.getFinalFailure()), null);
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
      Outcome outcome = attempt(call, attempt);
      if (outcome.output != null) {
        progress.hold(done(call, attempt, outcome.output, outcome.ranMs));
        return outcome.value;
      }
      Throwable thrown = outcome.thrown == null ? new AssertionError() : outcome.thrown;
      ErrorDetail error = Protos.error(thrown);
      ReportResult result = progress.report(failed(call, attempt, error, outcome.ranMs));
      switch (result.getResultCase()) {
        case RETRY_SCHEDULED -> attempt = awaitRetry(result.getRetryScheduled());
        case FINAL_FAILURE ->
            throw new StepFailedException(call.key, Protos.failure(error), thrown);
        case ALREADY_RECORDED -> {
          return execute(call, result.getAlreadyRecorded());
        }
        case REFUSED -> throw progress.end(new Ending.Refused(result.getRefused()));
        default -> throw progress.end(new Ending.StartOver());
      }
    }
  }

  private int awaitRetry(ReportResult.RetryScheduled retry) {
    if (!retry.getClaimKept()) {
      throw progress.end(new Ending.Parked());
    }
    progress.waitInPlace(retry.getDelayMs());
    return retry.getNextAttempt();
  }

  private Outcome attempt(Call call, int attempt) {
    Object value = null;
    Payload output = null;
    Throwable thrown = null;
    progress.stepBegins(call.key, attempt);
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
    long ranMs = progress.stepEnds();
    // An interrupted step throws; that is no failure of the step.
    progress.check();
    return new Outcome(value, output, thrown, ranMs);
  }

  private ReportItem done(Call call, int attempt, Payload output, long ranMs) {
    return progress
        .item()
        .setStepDone(
            ReportItem.StepDone.newBuilder()
                .setStepKey(call.key)
                .setAttempt(attempt)
                .setKind(StepKind.STEP_KIND_FUNCTION)
                .setOutput(output)
                .setRanMs(ranMs))
        .build();
  }

  private ReportItem failed(Call call, int attempt, ErrorDetail error, long ranMs) {
    ReportItem.StepFailed.Builder failed =
        ReportItem.StepFailed.newBuilder()
            .setStepKey(call.key)
            .setAttempt(attempt)
            .setError(error)
            .setRanMs(ranMs);
    if (call.retry != null) {
      failed.setRetryPolicy(Protos.retryPolicy(call.retry));
    }
    return progress.item().setStepFailed(failed).build();
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
