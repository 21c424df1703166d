package dev.kagzi.engine.report;

import dev.kagzi.engine.message.RunMessage;
import dev.kagzi.engine.run.RunEvents;
import dev.kagzi.engine.run.RunRow;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.ErrorCode;
import dev.kagzi.engine.value.Failure;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What a decision does to a run, together with what is to be told of it after the commit. */
final class Moves {
  private static final long US_PER_MS = 1_000;

  private final RunBatch batch;
  private final RunEvents events;

  Moves(RunBatch batch, RunEvents events) {
    this.batch = batch;
    this.events = events;
  }

  void end(RunRow row, RunStatus status, @Nullable Failure failure, @Nullable Payload output) {
    Claim claim = new Claim(row.runId(), row.epoch());
    row.finish(status, failure);
    if (output != null) {
      batch.output(row.runId(), output);
    }
    if (status != RunStatus.COMPLETED) {
      // Seldom enough to look for open steps each time.
      batch.closeSteps(row.runId());
    }
    batch.then(() -> events.claimEnded(claim));
    tellEnd(row, status, output);
  }

  void tellEnd(RunRow row, RunStatus status, @Nullable Payload output) {
    RunId parent = row.parent();
    String parentStep = row.parentStep();
    if (parent != null && parentStep != null) {
      Failure why = row.failure();
      if (why == null && status != RunStatus.COMPLETED) {
        why = Failure.of(ErrorCode.UNSPECIFIED, "the run ended as " + status);
      }
      batch.post(new RunMessage(parent, parentStep, output, why));
      batch.then(() -> events.messages(parent));
    }
    batch.then(() -> events.ended(RunBatch.end(row, status, output)));
  }

  void park(RunRow row, RunStatus status, long untilUs, List<String> steps, boolean all) {
    Claim claim = new Claim(row.runId(), row.epoch());
    row.park(status, untilUs, steps, all);
    batch.then(() -> events.claimEnded(claim));
    if (untilUs != RunRow.NEVER) {
      long delayMs = remainingMs(row, untilUs);
      batch.then(() -> events.due(row.queue(), row.type(), delayMs));
    }
  }

  /** Rounded up: nobody wakes early. */
  static long remainingMs(RunRow row, long dueUs) {
    return Math.max(0, Math.ceilDiv(dueUs - row.nowUs(), US_PER_MS));
  }

  /** The run is given back unfinished and due after a delay. */
  void release(RunRow row, long delayMs, @Nullable Failure blockedBy) {
    Claim claim = new Claim(row.runId(), row.epoch());
    row.release(row.nowUs() + delayMs * US_PER_MS, blockedBy);
    batch.then(() -> events.claimEnded(claim));
    batch.then(() -> events.due(row.queue(), row.type(), delayMs));
  }
}
