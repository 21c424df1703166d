package dev.kagzi.sdk.internal.run;

import dev.kagzi.protocol.v1.ErrorDetail;
import dev.kagzi.protocol.v1.Payload;
import dev.kagzi.protocol.v1.ReportItem;
import dev.kagzi.protocol.v1.StepKind;
import dev.kagzi.sdk.internal.wire.Protos;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * One attempt of a step while its code runs. The clock is asked without a lock; what changes does
 * so under the lock of the run's progress.
 */
final class RunningStep {
  /** A step that runs longer is shown as running. */
  private static final long ANNOUNCE_AFTER_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

  private final String key;
  private final int attempt;
  private final StepOptions options;
  private final long timeoutMs;
  private final long startedNanos = System.nanoTime();
  private volatile boolean announced;
  private volatile boolean interrupted;

  /**
   * @param defaultTimeoutMs for a step that has none of its own; 0 for none
   */
  RunningStep(String key, int attempt, StepOptions options, long defaultTimeoutMs) {
    this.key = key;
    this.attempt = attempt;
    this.options = options;
    this.timeoutMs = options.timeoutMs() > 0 ? options.timeoutMs() : defaultTimeoutMs;
  }

  String key() {
    return key;
  }

  long ranMs(long nowNanos) {
    return TimeUnit.NANOSECONDS.toMillis(nowNanos - startedNanos);
  }

  boolean isAnnouncementDue(long nowNanos) {
    return !announced && nowNanos - startedNanos > ANNOUNCE_AFTER_NANOS;
  }

  ReportItem.StepStarted announce(long nowNanos) {
    announced = true;
    ReportItem.StepStarted.Builder started =
        ReportItem.StepStarted.newBuilder()
            .setStepKey(key)
            .setAttempt(attempt)
            .setKind(StepKind.STEP_KIND_FUNCTION)
            .setRunningMs(ranMs(nowNanos))
            .setTimeoutMs(options.timeoutMs());
    if (options.retry() != null) {
      started.setRetryPolicy(Protos.retryPolicy(options.retry()));
    }
    return started.build();
  }

  /** Its time is over: whatever it returns from now on does not count. */
  boolean isExpired(long nowNanos) {
    return timeoutMs > 0 && nowNanos - startedNanos >= TimeUnit.MILLISECONDS.toNanos(timeoutMs);
  }

  boolean isInterruptDue(long nowNanos) {
    return !interrupted && isExpired(nowNanos);
  }

  boolean isInterrupted() {
    return interrupted;
  }

  void markInterrupted() {
    interrupted = true;
  }

  /**
   * @param thrown how the step's code answered its interrupt, if it did with an exception
   */
  TimeoutException timeout(@Nullable Throwable thrown) {
    TimeoutException timeout =
        new TimeoutException("step %s timed out after %s".formatted(key, text(timeoutMs)));
    if (thrown != null) {
      timeout.initCause(thrown);
    }
    return timeout;
  }

  ReportItem.StepDone done(Payload output, long nowNanos) {
    return ReportItem.StepDone.newBuilder()
        .setStepKey(key)
        .setAttempt(attempt)
        .setKind(StepKind.STEP_KIND_FUNCTION)
        .setOutput(output)
        .setRanMs(ranMs(nowNanos))
        .build();
  }

  ReportItem.StepFailed failed(ErrorDetail error, long nowNanos) {
    ReportItem.StepFailed.Builder failed =
        ReportItem.StepFailed.newBuilder()
            .setStepKey(key)
            .setAttempt(attempt)
            .setError(error)
            .setRanMs(ranMs(nowNanos));
    if (options.retry() != null) {
      failed.setRetryPolicy(Protos.retryPolicy(options.retry()));
    }
    return failed.build();
  }

  private static String text(long ms) {
    return ms % 1_000 == 0 ? ms / 1_000 + " s" : ms + " ms";
  }
}
