package dev.kagzi.torture;

import dev.kagzi.torture.LedgerEntry.Event;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** The input of the checker: all ledgers, and the tables after the last run has ended. */
record Evidence(List<RunStory> stories, int stepCount) {
  Evidence {
    stories = List.copyOf(stories);
  }

  static Evidence of(
      List<LedgerEntry> entries,
      List<RunRecord> runs,
      List<StepRecord> steps,
      List<SignalRecord> signals,
      Map<String, String> published) {
    Map<String, RunRecord> runsById = new HashMap<>();
    runs.forEach(run -> runsById.put(run.runId(), run));
    Map<String, List<LedgerEntry>> entriesByRun = new HashMap<>();
    for (LedgerEntry entry : entries) {
      // A start that was not acknowledged has no run id, and no rule depends on it.
      if (entry.event() != Event.START) {
        String about =
            entry.author().execution().isEmpty()
                ? ChainRules.last(entry.runId(), runsById)
                : entry.runId();
        entriesByRun.computeIfAbsent(about, id -> new ArrayList<>()).add(entry);
      }
    }
    Map<String, List<StepRecord>> stepsByRun = new HashMap<>();
    for (StepRecord step : steps) {
      stepsByRun.computeIfAbsent(step.runId(), id -> new ArrayList<>()).add(step);
    }
    Map<String, List<SignalRecord>> signalsByRun = new HashMap<>();
    for (SignalRecord signal : signals) {
      signalsByRun.computeIfAbsent(signal.runId(), id -> new ArrayList<>()).add(signal);
    }
    Set<String> ids = new TreeSet<>(entriesByRun.keySet());
    ids.addAll(stepsByRun.keySet());
    ids.addAll(runsById.keySet());
    List<RunStory> stories = new ArrayList<>();
    for (String id : ids) {
      stories.add(
          RunStory.of(
              id,
              runsById.get(id),
              stepsByRun.getOrDefault(id, List.of()),
              signalsByRun.getOrDefault(id, List.of()),
              published.getOrDefault(id, ""),
              ChainRules.signals(id, runsById, signalsByRun),
              entriesByRun.getOrDefault(id, List.of())));
    }
    return new Evidence(stories, steps.size());
  }
}
