package dev.kagzi.engine.internal.transition;

import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.internal.message.Messages;
import dev.kagzi.engine.internal.run.RunEvents;
import dev.kagzi.engine.internal.run.RunRow;
import dev.kagzi.engine.internal.run.UpdateRuns;
import dev.kagzi.engine.internal.step.CaughtFailures;
import dev.kagzi.engine.internal.step.CloseSteps;
import dev.kagzi.engine.value.Failure;
import dev.kagzi.engine.value.RunId;
import java.sql.SQLException;
import java.util.LinkedHashMap;
import java.util.Map;

/** The runs that one transaction resumes. */
final class ResumedRuns {
  private final Map<RunId, RunRow> rows = new LinkedHashMap<>();

  /** The resumed runs, each with its new attempt. */
  private final Map<RunId, Integer> attempts = new LinkedHashMap<>();

  private final Map<RunId, Integer> carriedOver = new LinkedHashMap<>();

  /**
   * Renews the deadline of the run, and reopens the sleeps, receives and children that its end has
   * closed.
   *
   * @param keepsCaught whether failures that the run's code has caught stay final
   */
  void add(RunRow row, boolean keepsCaught) {
    rows.put(row.runId(), row);
    attempts.put(row.runId(), row.attempts());
    if (keepsCaught) {
      carriedOver.put(row.runId(), row.attempts());
    }
  }

  /** The run has ended again in this transaction, so its steps stay closed. */
  void remove(RunId run) {
    rows.remove(run);
    attempts.remove(run);
  }

  /**
   * Writes the changes. Call it after the runs themselves are written.
   *
   * @param closedFor the failure of steps that were closed because their run ended
   */
  void flush(Session tx, RunBatch batch, RunEvents events, Failure closedFor) throws SQLException {
    if (!carriedOver.isEmpty()) {
      CaughtFailures.carryOver(tx, carriedOver);
    }
    if (rows.isEmpty()) {
      return;
    }
    CloseSteps.reopenWaits(tx, attempts, closedFor);
    if (CloseSteps.reopenChildren(tx, rows.keySet(), closedFor)) {
      for (RunId receiver : Messages.postResultsOfEndedChildren(tx, rows.keySet())) {
        batch.afterCommit(() -> events.messagesPosted(receiver));
      }
    }
    Long expiresMs = UpdateRuns.renewDeadlines(tx, rows.values());
    if (expiresMs != null) {
      batch.afterCommit(() -> events.expires(expiresMs));
    }
  }
}
