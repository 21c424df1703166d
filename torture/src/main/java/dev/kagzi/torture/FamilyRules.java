package dev.kagzi.torture;

import dev.kagzi.torture.LedgerEntry.Event;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** Rules for parents and children, branches and versions. */
final class FamilyRules {
  private final Map<String, RunStory> stories = new HashMap<>();
  private final Map<String, RunRecord> runs = new HashMap<>();

  private FamilyRules() {}

  static FamilyRules of(List<RunStory> stories) {
    FamilyRules rules = new FamilyRules();
    for (RunStory story : stories) {
      rules.stories.put(story.runId(), story);
      RunRecord run = story.run();
      if (run != null) {
        rules.runs.put(story.runId(), run);
      }
    }
    return rules;
  }

  /**
   * Every child belongs to an attempt of a step of its parent, and every attempt of a child step
   * has a child. If a child continues as new, the step refers to the first run of the chain.
   */
  void eachChildIsAStep(RunStory story, Consumer<String> violation) {
    RunRecord run = story.run();
    if (run != null && !run.family().parentRunId().isEmpty()) {
      RunStory parent = stories.get(run.family().parentRunId());
      String child = run.chain().first().isEmpty() ? run.runId() : run.chain().first();
      boolean known =
          parent != null
              && parent.attempts(run.family().parentStep()).stream()
                  .anyMatch(attempt -> attempt.childRunId().equals(child));
      if (!known) {
        violation.accept(
            "is a child of %s, which has no step for it".formatted(run.family().parentRunId()));
      }
    }
    story
        .attempts()
        .filter(StepRecord::isChild)
        .filter(attempt -> !stories.containsKey(attempt.childRunId()))
        .forEach(attempt -> violation.accept("step " + attempt.step() + " has no child"));
  }

  /** The recorded result of a child is its output; for a chain, the output of the last run. */
  void parentsRecordChildResults(RunStory story, Consumer<String> violation) {
    story
        .attempts()
        .filter(attempt -> attempt.isChild() && attempt.isCompleted())
        .forEach(
            attempt -> {
              RunRecord run = runs.get(ChainRules.last(attempt.childRunId(), runs));
              if (run != null
                  && (!run.status().equals(RunRecord.COMPLETED)
                      || !run.output().equals(attempt.value()))) {
                violation.accept(
                    "step %s has %s recorded, its child ended as %s with %s"
                        .formatted(attempt.step(), attempt.value(), run.status(), run.output()));
              }
            });
  }

  /**
   * A child completes, unless its parent was cancelled or terminated. Then the child is ended too,
   * if it has not ended before.
   */
  void childrenEndWithTheirParents(RunStory story, Consumer<String> violation) {
    RunRecord run = story.run();
    RunStory parent = run == null ? null : stories.get(run.family().parentRunId());
    RunRecord parentRun = parent == null ? null : parent.run();
    if (run == null || parent == null || parentRun == null || run.family().detached()) {
      return;
    }
    boolean ended = parent.isCancelled() || parent.isTerminated();
    boolean completed = run.status().equals(RunRecord.COMPLETED);
    if (!ended && !completed) {
      violation.accept(
          "child ended as %s, its parent as %s".formatted(run.status(), parentRun.status()));
    }
    // The child's last report and the message that ends the child may be in flight at the same
    // time.
    if (ended && completed && run.finishedMicros() > parentRun.finishedMicros() + SLACK_MICROS) {
      violation.accept("child completed long after its parent had been ended");
    }
  }

  /**
   * A message may wait for the restart of a killed server, and for the chore that redelivers it.
   */
  private static final long SLACK_MICROS = 30_000_000;

  /**
   * Once an execution has begun a step that follows a race, later claims execute no step of the
   * losing branches.
   */
  static void losersDoNotRunAgain(RunStory story, Consumer<String> violation) {
    for (RunStory.Execution earlier : story.executions()) {
      Map<String, String> winners = decidedRaces(earlier);
      for (RunStory.Execution later : story.executions()) {
        if (earlier.epoch() == 0 || later.epoch() <= earlier.epoch()) {
          continue;
        }
        later
            .of(Event.EXEC)
            .filter(exec -> isLosers(exec.step(), winners))
            .forEach(
                exec ->
                    violation.accept(
                        "step %s of a loser was executed by claim %d after claim %d had continued"
                            .formatted(exec.step(), later.epoch(), earlier.epoch())));
      }
    }
  }

  private static Map<String, String> decidedRaces(RunStory.Execution execution) {
    Map<String, String> received = new HashMap<>();
    Map<String, String> decided = new HashMap<>();
    for (LedgerEntry entry : execution.entries()) {
      if (entry.event() == Event.WON) {
        received.put(entry.step(), entry.value());
      } else if (entry.event() == Event.EXEC) {
        decided.putAll(received);
      }
    }
    return decided;
  }

  private static boolean isLosers(String step, Map<String, String> winners) {
    return winners.entrySet().stream()
        .anyMatch(
            race ->
                step.startsWith(race.getKey() + "[")
                    && !step.startsWith(race.getKey() + "[" + race.getValue() + "]"));
  }

  /** A run is executed by the code of the version that it started with. */
  static void runsKeepTheirVersion(RunStory story, Consumer<String> violation) {
    RunRecord run = story.run();
    if (run == null) {
      return;
    }
    story
        .worker(Event.VERSION)
        .filter(entry -> !entry.value().equals(run.version()))
        .forEach(
            entry ->
                violation.accept(
                    "executed by version %s, its own is %s"
                        .formatted(entry.value(), run.version())));
  }
}
