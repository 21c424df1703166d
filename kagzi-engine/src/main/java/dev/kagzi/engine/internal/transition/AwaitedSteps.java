package dev.kagzi.engine.internal.transition;

import dev.kagzi.engine.internal.run.RunEvents;
import dev.kagzi.engine.internal.run.RunRow;
import dev.kagzi.engine.internal.step.StepRow;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.StepStatus;
import java.util.ArrayList;
import java.util.List;

/** Decides whether the steps that a run waits for have ended, and wakes it then. */
record AwaitedSteps(RunBatch batch, RunEvents events) {

  /** Of the given steps, those that have ended in the run's current attempt. */
  List<StepRow> ended(RunRow row, List<String> steps) {
    List<StepRow> ended = new ArrayList<>();
    for (String step : steps) {
      StepRow last = batch.lastAttempt(row.runId(), step);
      if (last != null && hasEnded(row, last)) {
        ended.add(last);
      }
    }
    return ended;
  }

  private static boolean hasEnded(RunRow row, StepRow step) {
    return step.status() == StepStatus.COMPLETED || step.isFinalIn(row.attempts());
  }

  /** Whether the run is parked until steps end, or until a time. */
  static boolean isWaiting(RunRow row) {
    return row.status() == RunStatus.SLEEPING && !row.waitsFor().isEmpty();
  }

  /** Makes a parked run due if enough of the steps that it waits for have ended. */
  void wakeIfEnded(RunRow row) {
    if (!isWaiting(row)) {
      return;
    }
    int ended = ended(row, row.waitsFor()).size();
    if (row.waitsForAll() ? ended == row.waitsFor().size() : ended > 0) {
      row.wake();
      batch.afterCommit(() -> events.runDue(row.queue(), row.type(), 0));
    }
  }
}
