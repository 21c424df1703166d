package dev.kagzi.sdk.internal.run;

import dev.kagzi.protocol.v1.ErrorDetail;
import dev.kagzi.protocol.v1.Payload;
import dev.kagzi.protocol.v1.ReportItem;
import dev.kagzi.protocol.v1.RetryPolicy;
import dev.kagzi.protocol.v1.StepKind;
import dev.kagzi.sdk.internal.log.EventLog;
import dev.kagzi.sdk.internal.log.LoggedRun;
import dev.kagzi.sdk.internal.wire.ProtoMapper;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * One attempt of a step while its code runs. Its thread sets the progress without a lock.
 * Everything else changes under the lock of the execution state and is read without it.
 */
final class RunningStep {
  private static final EventLog log = EventLog.of(RunningStep.class);

  /** A step that runs longer is reported as started. */
  private static final long REPORT_STARTED_AFTER_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

  /** Minimum interval between two progress reports. */
  private static final long PROGRESS_INTERVAL_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final String key;
  private final int attempt;
  private final StepOptions options;
  private final long timeoutMs;
  private final long startedNanos = System.nanoTime();
  private volatile boolean reportedStarted;
  private volatile boolean interrupted;
  private volatile boolean cancelled;
  private volatile @Nullable Payload progress;

  private volatile boolean progressIsNew;
  private volatile boolean knownToServer;

  /** The server refused the payloads: report the step without progress and input. */
  private volatile boolean withoutPayloads;

  private volatile long reportedNanos;

  private volatile StepTelemetry telemetry = StepTelemetry.NONE;

  /** The default timeout applies to a step without its own; 0: no default. */
  RunningStep(String key, int attempt, StepOptions options, long defaultTimeoutMs) {
    this.key = key;
    this.attempt = attempt;
    this.options = options;
    this.timeoutMs = options.timeoutMs() > 0 ? options.timeoutMs() : defaultTimeoutMs;
  }

  String key() {
    return key;
  }

  long startedNanos() {
    return startedNanos;
  }

  long ranMs(long nowNanos) {
    return TimeUnit.NANOSECONDS.toMillis(nowNanos - startedNanos);
  }

  private long ranUs(long nowNanos) {
    return TimeUnit.NANOSECONDS.toMicros(nowNanos - startedNanos);
  }

  int attempt() {
    return attempt;
  }

  void telemetry(StepTelemetry telemetry) {
    this.telemetry = telemetry;
  }

  StepTelemetry telemetry() {
    return telemetry;
  }

  /** Traces and measures the end of the attempt; without an error, it has completed. */
  void ended(@Nullable ErrorDetail error, long nowNanos) {
    telemetry.ended(error, nowNanos - startedNanos);
  }

  /** Keeps the progress of an earlier attempt, which the server already has. */
  void inheritProgress(Payload payload) {
    progress = payload;
  }

  void progress(Payload payload) {
    progress = payload;
    progressIsNew = true;
  }

  @Nullable Payload progress() {
    return progress;
  }

  boolean isStartedReportDue(long nowNanos) {
    return reportedStarted
        ? progressIsNew && !withoutPayloads && nowNanos - reportedNanos > PROGRESS_INTERVAL_NANOS
        : nowNanos - startedNanos > REPORT_STARTED_AFTER_NANOS;
  }

  /** The input is sent once: it may be large, and does not change. */
  ReportItem.StepStarted started(long nowNanos) {
    boolean first = !reportedStarted;
    reportedStarted = true;
    progressIsNew = false;
    reportedNanos = nowNanos;
    Payload currentProgress = progress;
    ReportItem.StepStarted.Builder started =
        ReportItem.StepStarted.newBuilder()
            .setStepKey(key)
            .setAttempt(attempt)
            .setKind(StepKind.STEP_KIND_FUNCTION)
            .setRunningUs(ranUs(nowNanos))
            .setTimeoutMs(options.timeoutMs());
    if (options.retry() != null) {
      started.setRetryPolicy(ProtoMapper.retryPolicy(options.retry()));
    }
    if (currentProgress != null && !withoutPayloads) {
      started.setProgress(currentProgress);
    }
    StepInput input = options.input();
    if (input != null && first) {
      started.setInputHash(input.hash());
      if (!withoutPayloads) {
        started.setInput(input.payload());
      }
    }
    return started.build();
  }

  void startedAccepted() {
    knownToServer = true;
  }

  /** Reports the step again without payloads: the server must know that it runs. */
  void startedRefused(LoggedRun run, ErrorDetail why) {
    if (!withoutPayloads) {
      withoutPayloads = true;
      reportedStarted = knownToServer;
      log.warn("progress or input of a step cannot be stored")
          .about(run)
          .with("step", key)
          .with("reason", why.getMessage())
          .write();
    }
  }

  boolean isReportedStarted() {
    return reportedStarted;
  }

  /** Whether the attempt has timed out; then its result no longer counts. */
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

  /** The step was interrupted because its run is cancelled; a result that it returns counts. */
  void markCancelled() {
    cancelled = true;
  }

  boolean isCancelled() {
    return cancelled;
  }

  /**
   * Returns the exception of a timeout. Its cause is what the interrupted code threw, or the stack
   * of code that still runs; null for none.
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
    ReportItem.StepDone.Builder done =
        ReportItem.StepDone.newBuilder()
            .setStepKey(key)
            .setAttempt(attempt)
            .setKind(StepKind.STEP_KIND_FUNCTION)
            .setOutput(output)
            .setRanUs(ranUs(nowNanos));
    StepInput input = options.input();
    if (input != null) {
      done.setInput(input.payload()).setInputHash(input.hash());
    }
    return done.build();
  }

  /** With {@code keepClaim}, the server does not release the run during the retry delay. */
  ReportItem.StepFailed failed(ErrorDetail error, boolean keepClaim, long nowNanos) {
    ReportItem.StepFailed.Builder failed =
        ReportItem.StepFailed.newBuilder()
            .setStepKey(key)
            .setAttempt(attempt)
            .setError(error)
            .setKeepClaim(keepClaim)
            .setRanUs(ranUs(nowNanos));
    if (options.retry() != null) {
      failed.setRetryPolicy(ProtoMapper.retryPolicy(options.retry()));
    }
    Payload currentProgress = progress;
    if (currentProgress != null && !withoutPayloads) {
      failed.setProgress(currentProgress);
    }
    StepInput input = options.input();
    if (input != null && withoutPayloads) {
      failed.setInputHash(input.hash());
    } else if (input != null) {
      failed.setInput(input.payload()).setInputHash(input.hash());
    }
    return failed.build();
  }

  /**
   * The report for a step of a stopped branch. The code does not see this failure and the attempt
   * does not count; it only closes the open step.
   */
  ReportItem.StepFailed interrupted(String reason, long nowNanos) {
    return ReportItem.StepFailed.newBuilder()
        .setStepKey(key)
        .setAttempt(attempt)
        .setError(ErrorDetail.newBuilder().setMessage("interrupted: " + reason))
        .setRetryPolicy(RetryPolicy.newBuilder().setMaximumAttempts(-1).setInitialIntervalMs(1))
        .setKeepClaim(true)
        .setRanUs(ranUs(nowNanos))
        .build();
  }

  private static String text(long ms) {
    return ms % 1_000 == 0 ? ms / 1_000 + " s" : ms + " ms";
  }
}
