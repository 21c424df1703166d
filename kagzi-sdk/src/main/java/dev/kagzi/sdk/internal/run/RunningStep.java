package dev.kagzi.sdk.internal.run;

import dev.kagzi.protocol.v1.ErrorDetail;
import dev.kagzi.protocol.v1.Payload;
import dev.kagzi.protocol.v1.ReportItem;
import dev.kagzi.protocol.v1.RetryPolicy;
import dev.kagzi.protocol.v1.StepKind;
import dev.kagzi.sdk.internal.log.EventLog;
import dev.kagzi.sdk.internal.wire.ProtoMapper;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * One attempt of a step while its code runs. The clock is asked without a lock; what changes does
 * so under the lock of the run's progress.
 */
final class RunningStep {
  private static final EventLog log = EventLog.of(RunningStep.class);

  /** A step that runs longer is shown as running. */
  private static final long ANNOUNCE_AFTER_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

  /** Progress is not told more often. */
  private static final long TELL_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final String key;
  private final int attempt;
  private final StepOptions options;
  private final long timeoutMs;
  private final long startedNanos = System.nanoTime();
  private volatile boolean announced;
  private volatile boolean interrupted;

  /** What the step's code has said of its progress, and when that was last told. */
  private volatile @Nullable Payload progress;

  private volatile boolean progressIsNew;

  /** The server knows that it runs. */
  private volatile boolean known;

  /** What it carries cannot be stored: only that it runs is told. */
  private volatile boolean bare;

  private volatile long toldNanos;

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

  int attempt() {
    return attempt;
  }

  /** What an earlier attempt has said is known already. */
  void carry(Payload payload) {
    progress = payload;
  }

  /** Thread-safe. */
  void progress(Payload payload) {
    progress = payload;
    progressIsNew = true;
  }

  @Nullable Payload progress() {
    return progress;
  }

  boolean isAnnouncementDue(long nowNanos) {
    return announced
        ? progressIsNew && !bare && nowNanos - toldNanos > TELL_NANOS
        : nowNanos - startedNanos > ANNOUNCE_AFTER_NANOS;
  }

  /**
   * Says that the step runs, or how far it is by now. Its input is told once: it may be large, and
   * does not change.
   */
  ReportItem.StepStarted announce(long nowNanos) {
    boolean first = !announced;
    announced = true;
    progressIsNew = false;
    toldNanos = nowNanos;
    Payload how = progress;
    ReportItem.StepStarted.Builder started =
        ReportItem.StepStarted.newBuilder()
            .setStepKey(key)
            .setAttempt(attempt)
            .setKind(StepKind.STEP_KIND_FUNCTION)
            .setRunningMs(ranMs(nowNanos))
            .setTimeoutMs(options.timeoutMs());
    if (options.retry() != null) {
      started.setRetryPolicy(ProtoMapper.retryPolicy(options.retry()));
    }
    if (how != null && !bare) {
      started.setProgress(how);
    }
    StepInput input = options.input();
    if (input != null && first) {
      started.setInputHash(input.hash());
      if (!bare) {
        started.setInput(input.payload());
      }
    }
    return started.build();
  }

  void announcementAccepted() {
    known = true;
  }

  /**
   * What goes along was too large, for example: the server has to know of the step all the same.
   */
  void announcementRefused(String runId, ErrorDetail why) {
    if (!bare) {
      bare = true;
      announced = known;
      log.warn("progress or input of a step cannot be stored")
          .with("run", runId)
          .with("step", key)
          .with("reason", why.getMessage())
          .write();
    }
  }

  boolean isAnnounced() {
    return announced;
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
    ReportItem.StepDone.Builder done =
        ReportItem.StepDone.newBuilder()
            .setStepKey(key)
            .setAttempt(attempt)
            .setKind(StepKind.STEP_KIND_FUNCTION)
            .setOutput(output)
            .setRanMs(ranMs(nowNanos));
    StepInput input = options.input();
    if (input != null) {
      done.setInput(input.payload()).setInputHash(input.hash());
    }
    return done.build();
  }

  /**
   * @param keepClaim whatever the delay: other branches are open
   */
  ReportItem.StepFailed failed(ErrorDetail error, boolean keepClaim, long nowNanos) {
    ReportItem.StepFailed.Builder failed =
        ReportItem.StepFailed.newBuilder()
            .setStepKey(key)
            .setAttempt(attempt)
            .setError(error)
            .setKeepClaim(keepClaim)
            .setRanMs(ranMs(nowNanos));
    if (options.retry() != null) {
      failed.setRetryPolicy(ProtoMapper.retryPolicy(options.retry()));
    }
    Payload how = progress;
    if (how != null && !bare) {
      failed.setProgress(how);
    }
    StepInput input = options.input();
    if (input != null && bare) {
      failed.setInputHash(input.hash());
    } else if (input != null) {
      failed.setInput(input.payload()).setInputHash(input.hash());
    }
    return failed.build();
  }

  /**
   * Its branch was stopped. That is no failure that the code sees, and no attempt that counts: the
   * step is only shown as what it is, and nobody waits for its end.
   */
  ReportItem.StepFailed interrupted(String reason, long nowNanos) {
    return ReportItem.StepFailed.newBuilder()
        .setStepKey(key)
        .setAttempt(attempt)
        .setError(ErrorDetail.newBuilder().setMessage("interrupted: " + reason))
        .setRetryPolicy(RetryPolicy.newBuilder().setMaximumAttempts(-1).setInitialIntervalMs(1))
        .setKeepClaim(true)
        .setRanMs(ranMs(nowNanos))
        .build();
  }

  private static String text(long ms) {
    return ms % 1_000 == 0 ? ms / 1_000 + " s" : ms + " ms";
  }
}
