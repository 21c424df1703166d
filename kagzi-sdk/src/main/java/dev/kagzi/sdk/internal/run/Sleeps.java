package dev.kagzi.sdk.internal.run;

import dev.kagzi.protocol.v1.RecordedStep;
import dev.kagzi.protocol.v1.ReportItem;
import dev.kagzi.protocol.v1.ReportItem.SleepStarted;
import dev.kagzi.protocol.v1.ReportResult;
import dev.kagzi.protocol.v1.StepKind;
import dev.kagzi.sdk.internal.wire.ProtoMapper;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Durable sleeps. The server stores the wake time once and returns the remaining time. A recorded
 * sleep that is not over is requested again and keeps its wake time. Only its workflow thread may
 * use it.
 */
final class Sleeps {
  private final WorkflowThread strand;
  private final History history;

  Sleeps(WorkflowThread strand, History history) {
    this.strand = strand;
    this.history = history;
  }

  void sleep(String key, @Nullable RecordedStep recorded, long durationMs) {
    if (!isOver(recorded)) {
      start(SleepStarted.newBuilder().setStepKey(key).setDurationMs(durationMs), recorded);
    }
  }

  void sleepUntil(String key, @Nullable RecordedStep recorded, Instant until) {
    if (!isOver(recorded)) {
      start(
          SleepStarted.newBuilder().setStepKey(key).setUntil(ProtoMapper.timestamp(until)),
          recorded);
    }
  }

  private boolean isOver(@Nullable RecordedStep recorded) {
    if (recorded == null) {
      return false;
    }
    HistoryMismatch.requireKind(strand, recorded, StepKind.STEP_KIND_SLEEP);
    return switch (recorded.getResultCase()) {
      case OUTPUT -> true;
      case SLEEPS_MS, OPEN -> false;
      case FINAL_FAILURE, RETRY, RESULT_NOT_SET ->
          throw HistoryMismatch.unreadable(strand, recorded);
    };
  }

  private void start(SleepStarted.Builder sleep, @Nullable RecordedStep recorded) {
    boolean alone = strand.isAlone();
    if (!alone && recorded != null && recorded.hasSleepsMs()) {
      // Every sleeping branch reaches this line each time the run continues; avoid a call for each.
      strand.settle();
      history.sleepBegan();
      strand.pauseUntil(
          strand.progress().arrivedNanos() + TimeUnit.MILLISECONDS.toNanos(recorded.getSleepsMs()));
      history.sleepEnded();
      strand.hold(over(sleep.getStepKey()));
      return;
    }
    sleep.setKeepClaim(!alone);
    ReportResult result = strand.report(strand.item().setSleep(sleep).build());
    switch (result.getResultCase()) {
      case SLEEPING -> {
        if (!result.getSleeping().getClaimKept()) {
          throw strand.end(new StopReason.Parked());
        }
        history.sleepBegan();
        strand.pause(result.getSleeping().getRemainingMs());
        history.sleepEnded();
        strand.hold(over(sleep.getStepKey()));
      }
      // Already over.
      case ACCEPTED, ALREADY_RECORDED -> {}
      case REFUSED -> throw strand.end(new StopReason.Refused(result.getRefused()));
      default -> throw strand.end(new StopReason.StartOver());
    }
  }

  /**
   * A sleep that was waited for in place must be recorded as done by the worker; it is sent with
   * the next report.
   */
  private ReportItem over(String key) {
    return strand
        .item()
        .setStepDone(
            ReportItem.StepDone.newBuilder()
                .setStepKey(key)
                .setAttempt(1)
                .setKind(StepKind.STEP_KIND_SLEEP))
        .build();
  }
}
