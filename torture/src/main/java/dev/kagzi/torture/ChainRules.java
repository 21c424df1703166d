package dev.kagzi.torture;

import dev.kagzi.torture.LedgerEntry.Event;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Rules for runs that continue as new.
 *
 * @param byId all runs
 * @param successors by run id, the runs whose rows say that they continue this run
 */
record ChainRules(Map<String, RunRecord> byId, Map<String, List<String>> successors) {

  static ChainRules of(List<RunStory> stories) {
    Map<String, RunRecord> byId = new HashMap<>();
    Map<String, List<String>> successors = new HashMap<>();
    for (RunStory story : stories) {
      RunRecord run = story.run();
      if (run != null) {
        byId.put(run.runId(), run);
        String from = run.chain().continuedFrom();
        if (!from.isEmpty()) {
          successors.computeIfAbsent(from, id -> new ArrayList<>()).add(run.runId());
        }
      }
    }
    return new ChainRules(byId, successors);
  }

  /** The last run of the chain that begins here. */
  static String last(String runId, Map<String, RunRecord> runs) {
    String last = runId;
    for (RunRecord run = runs.get(last); run != null && run.hasContinued(); run = runs.get(last)) {
      last = run.chain().continuedTo();
    }
    return last;
  }

  /** The signals of the whole chain if this is its last run, else none. */
  static List<SignalRecord> signals(
      String runId, Map<String, RunRecord> runs, Map<String, List<SignalRecord>> byRun) {
    RunRecord run = runs.get(runId);
    if (run != null && run.hasContinued()) {
      return List.of();
    }
    Deque<String> ids = new ArrayDeque<>(List.of(runId));
    for (String id = from(run); !id.isEmpty(); id = from(runs.get(id))) {
      ids.addFirst(id);
    }
    List<SignalRecord> signals = new ArrayList<>();
    ids.forEach(id -> signals.addAll(byRun.getOrDefault(id, List.of())));
    return signals;
  }

  private static String from(@Nullable RunRecord run) {
    return run == null ? "" : run.chain().continuedFrom();
  }

  /**
   * A run that has continued is completed and has exactly one successor. The successor refers to
   * the same first run of the chain.
   */
  void chainsAreWhole(RunStory story, Consumer<String> violation) {
    RunRecord run = story.run();
    if (run == null) {
      return;
    }
    List<String> next = successors.getOrDefault(run.runId(), List.of());
    String named = run.chain().continuedTo();
    if (!next.equals(named.isEmpty() ? List.of() : List.of(named))) {
      violation.accept("it has continued as \"%s\", and %s continue it".formatted(named, next));
    }
    if (!named.isEmpty() && !run.status().equals(RunRecord.COMPLETED)) {
      violation.accept("it has continued, and is " + run.status());
    }
    RunRecord from = byId.get(run.chain().continuedFrom());
    if (from != null) {
      String first = from.chain().first().isEmpty() ? from.runId() : from.chain().first();
      if (!run.chain().first().equals(first)) {
        violation.accept(
            "its chain begins with %s (expected: %s)".formatted(run.chain().first(), first));
      }
    }
  }

  /** The claim that ended the run has reported the successor's input. */
  void inputsAreReported(RunStory story, Consumer<String> violation) {
    RunRecord run = story.run();
    RunRecord next = run == null ? null : byId.get(run.chain().continuedTo());
    if (run == null || next == null) {
      return;
    }
    boolean reported =
        story.executions().stream()
            .filter(execution -> execution.epoch() == 0 || execution.epoch() == run.endedEpoch())
            .flatMap(execution -> execution.of(Event.CONTINUES))
            .anyMatch(entry -> entry.value().equals(next.input()));
    if (!reported) {
      violation.accept("the input %s of its successor was never reported".formatted(next.input()));
    }
  }

  /** A run that has continued keeps no signal that it has not received. */
  static void signalsMoveAlong(RunStory story, Consumer<String> violation) {
    RunRecord run = story.run();
    if (run != null && run.hasContinued()) {
      story.signals().stream()
          .filter(signal -> signal.step().isEmpty())
          .forEach(signal -> violation.accept("signal " + signal.id() + " was left behind"));
    }
  }
}
