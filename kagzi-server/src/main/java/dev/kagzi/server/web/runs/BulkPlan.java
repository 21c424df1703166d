package dev.kagzi.server.web.runs;

import dev.kagzi.engine.query.Queries;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * The runs that an action will change, as they were when it was planned.
 *
 * @param runs those that it can change
 * @param others how many more were chosen that it cannot change
 * @param isCut whether more runs match than one action may change
 */
record BulkPlan(List<RunId> runs, long others, boolean isCut) {
  /** How many runs one action may change: their ids travel in a form. */
  static final int RUNS_MAX = 100_000;

  BulkPlan {
    runs = List.copyOf(runs);
  }

  /** Plans an action on all runs that match. */
  static BulkPlan ofAll(Queries queries, RunSearch search, RunAction action) {
    RunId one = search.runId();
    if (one != null) {
      return ofChosen(queries, search.namespace(), List.of(one), action);
    }
    Set<RunStatus> statuses = EnumSet.copyOf(action.statuses());
    if (!search.statuses().isEmpty()) {
      statuses.retainAll(search.statuses());
    } else {
      // Completed runs are only retried if the search names their status.
      statuses.remove(RunStatus.COMPLETED);
    }
    long matching = queries.count(search.filter()).runs();
    if (statuses.isEmpty()) {
      return new BulkPlan(List.of(), matching, false);
    }
    List<RunId> runs = queries.runIds(search.filter(statuses), RUNS_MAX + 1);
    boolean isCut = runs.size() > RUNS_MAX;
    return new BulkPlan(
        isCut ? runs.subList(0, RUNS_MAX) : runs, Math.max(0, matching - runs.size()), isCut);
  }

  /** Plans an action on runs that a person has chosen. */
  static BulkPlan ofChosen(
      Queries queries, String namespace, List<RunId> chosen, RunAction action) {
    List<RunId> runs = new ArrayList<>();
    for (RunId run : chosen) {
      try {
        if (action.statuses().contains(queries.runWithoutLargePayloads(namespace, run).status())) {
          runs.add(run);
        }
      } catch (Refusal gone) {
        if (gone.reason() != Refusal.Reason.NOT_FOUND) {
          throw gone;
        }
      }
    }
    return new BulkPlan(runs, (long) chosen.size() - runs.size(), false);
  }
}
