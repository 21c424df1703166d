package dev.kagzi.sdk.internal.run;

import dev.kagzi.protocol.v1.RecordedStep;
import dev.kagzi.protocol.v1.ReportItem;
import dev.kagzi.protocol.v1.ReportItem.SleepStarted;
import dev.kagzi.protocol.v1.ReportResult;
import dev.kagzi.protocol.v1.StepKind;
import dev.kagzi.sdk.internal.trace.TraceScope;
import dev.kagzi.sdk.internal.wire.ProtoMapper;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Durable sleeps. The server stores the wake time once and returns the remaining time. In a replay,
 * a sleep that is not over keeps its wake time. Only its workflow thread may use it.
 */
final class Sleeps {
  private final WorkflowThread workflowThread;
  private final History history;

  Sleeps(WorkflowThread workflowThread, History history) {
    this.workflowThread = workflowThread;
    this.history = history;
  }

  void sleep(String name, String key, @Nullable RecordedStep recorded, long durationMs) {
    startOrReplay(
        name, SleepStarted.newBuilder().setStepKey(key).setDurationMs(durationMs), recorded);
  }

  void sleepUntil(String name, String key, @Nullable RecordedStep recorded, Instant until) {
    startOrReplay(
        name,
        SleepStarted.newBuilder().setStepKey(key).setUntil(ProtoMapper.timestamp(until)),
        recorded);
  }

  // The span of a sleep is in the trace once: the execution that begins the sleep has it.
  private void startOrReplay(
      String name, SleepStarted.Builder sleep, @Nullable RecordedStep recorded) {
    if (recorded == null) {
      TraceScope span = workflowThread.state().trace().sleep(name, sleep.getStepKey());
      try {
        start(sleep, null);
      } finally {
        span.close();
      }
    } else if (!isOver(recorded)) {
      start(sleep, recorded);
    }
  }

  private boolean isOver(RecordedStep recorded) {
    HistoryMismatch.requireKind(workflowThread, recorded, StepKind.STEP_KIND_SLEEP);
    return switch (recorded.getResultCase()) {
      case OUTPUT -> true;
      case SLEEPS_MS, OPEN -> false;
      case FINAL_FAILURE, RETRY, TIMED_OUT, RESULT_NOT_SET ->
          throw HistoryMismatch.unreadable(workflowThread, recorded);
    };
  }

  private void start(SleepStarted.Builder sleep, @Nullable RecordedStep recorded) {
    boolean alone = workflowThread.isAlone();
    if (!alone && recorded != null && recorded.hasSleepsMs()) {
      // Use the recorded time: every sleeping branch comes here whenever the run continues, and a
      // report of each would be expensive.
      workflowThread.reports().awaitDurable();
      history.sleepBegan();
      workflowThread.suspendUntil(
          workflowThread.state().historyNanos()
              + TimeUnit.MILLISECONDS.toNanos(recorded.getSleepsMs()));
      history.sleepEnded();
      workflowThread.reports().hold(over(sleep.getStepKey()));
      return;
    }
    sleep.setKeepClaim(!alone);
    ReportResult result =
        workflowThread.reports().report(workflowThread.item().setSleep(sleep).build());
    switch (result.getResultCase()) {
      case SLEEPING -> {
        if (!result.getSleeping().getClaimKept()) {
          throw workflowThread.end(new StopReason.Parked());
        }
        history.sleepBegan();
        workflowThread.suspend(result.getSleeping().getRemainingMs());
        history.sleepEnded();
        workflowThread.reports().hold(over(sleep.getStepKey()));
      }
      // Already over.
      case ACCEPTED, ALREADY_RECORDED -> {}
      case REFUSED -> throw workflowThread.end(new StopReason.Refused(result.getRefused()));
      default -> throw workflowThread.end(new StopReason.StartOver());
    }
  }

  /** Returns the report that a sleep is over. The worker sends it if it kept the claim. */
  private ReportItem over(String key) {
    return workflowThread
        .item()
        .setStepDone(
            ReportItem.StepDone.newBuilder()
                .setStepKey(key)
                .setAttempt(1)
                .setKind(StepKind.STEP_KIND_SLEEP))
        .build();
  }
}
