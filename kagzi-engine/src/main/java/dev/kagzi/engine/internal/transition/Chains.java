package dev.kagzi.engine.internal.transition;

import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.internal.run.ContinueRuns;
import dev.kagzi.engine.internal.run.RunEvents;
import dev.kagzi.engine.internal.run.RunRow;
import dev.kagzi.engine.internal.signal.MoveSignals;
import dev.kagzi.engine.internal.signal.SignalRow;
import dev.kagzi.engine.internal.signal.SignalRows;
import dev.kagzi.engine.value.CallbackAnswer;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The runs that one transaction continues as new, and what its decisions need to know about other
 * runs of chains.
 */
final class Chains {
  /** A refusal names at most this many open steps. */
  private static final int NAMES_MAX = 20;

  private final List<ContinueRuns.Successor> successors = new ArrayList<>();
  private final Map<RunId, List<String>> open = new HashMap<>();
  private Map<RunId, RunId> lastRuns = Map.of();

  /** Reads what keeps these runs from continuing as new. */
  void readOpenSteps(Session tx, Collection<RunId> runs) throws SQLException {
    if (runs.isEmpty()) {
      return;
    }
    List<ContinueRuns.OpenStep> steps = ContinueRuns.openSteps(tx, runs, NAMES_MAX);
    Map<SignalRow.Key, RunId> answers = new LinkedHashMap<>();
    for (ContinueRuns.OpenStep step : steps) {
      if (step.isCallback()) {
        answers.put(answer(step), step.runId());
      }
    }
    Set<SignalRow.Key> answered =
        answers.isEmpty() ? Set.of() : SignalRows.known(tx, answers).keySet();
    for (ContinueRuns.OpenStep step : steps) {
      if (!step.isCallback() || !answered.contains(answer(step))) {
        open.computeIfAbsent(step.runId(), run -> new ArrayList<>()).add(step.stepKey());
      }
    }
  }

  private static SignalRow.Key answer(ContinueRuns.OpenStep callback) {
    return new SignalRow.Key(callback.runId(), CallbackAnswer.signalName(callback.stepKey()));
  }

  /** Reads the last run of the chain of each of these runs that has continued as new. */
  void readLastRuns(Session tx, Collection<RunRow> rows) throws SQLException {
    List<RunRow> continued = rows.stream().filter(row -> row.continuedTo() != null).toList();
    lastRuns = continued.isEmpty() ? Map.of() : ContinueRuns.lastRuns(tx, continued);
  }

  /**
   * The steps that keep the run from continuing as new: the stored ones, and those that this
   * transaction opens.
   */
  List<String> openSteps(RunId run, Collection<String> started) {
    Set<String> names = new LinkedHashSet<>(open.getOrDefault(run, List.of()));
    names.addAll(started);
    return names.stream().limit(NAMES_MAX).toList();
  }

  /** The last run of the chain of a run that has continued as new; null if it has not. */
  @Nullable RunId lastRun(RunRow row) {
    RunId successor = row.continuedTo();
    return successor == null ? null : lastRuns.getOrDefault(row.runId(), successor);
  }

  /** The refusal of a call about a run that has continued as new; its subject is the last run. */
  @Nullable Refusal continued(RunRow row, String expected) {
    RunId last = lastRun(row);
    return last == null
        ? null
        : Refusal.of(
            Refusal.Code.RUN_CONTINUED,
            "run",
            last.toString(),
            ContinueRuns.describe(row.runId(), row.continuedTo(), last)
                + " (expected: "
                + expected
                + ")");
  }

  void add(ContinueRuns.Successor successor) {
    successors.add(successor);
  }

  /**
   * Inserts the successors. Call it after the ends of their predecessors are written, because that
   * releases their external ids.
   */
  void flush(Session tx, RunBatch batch, RunEvents events) throws SQLException {
    if (successors.isEmpty()) {
      return;
    }
    for (ContinueRuns.Started started : ContinueRuns.insert(tx, successors)) {
      batch.afterCommit(() -> started.publish(events));
    }
    MoveSignals.apply(tx, successors.stream().map(Chains::move).toList());
    successors.forEach(each -> batch.input(each.runId(), each.input()));
  }

  private static MoveSignals.Move move(ContinueRuns.Successor successor) {
    RunRow from = successor.from();
    return new MoveSignals.Move(from.runId(), successor.runId(), from.chainId());
  }
}
