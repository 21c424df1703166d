package dev.kagzi.torture;

import dev.kagzi.torture.LedgerEntry.Event;
import dev.kagzi.torture.RunStory.Execution;
import dev.kagzi.torture.Scenario.Behavior;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/** Rules for whether and how runs end. */
final class EndRules {
  private static final long LOCK_WAIT_MICROS = 3_000_000;

  /** The events whose values a workflow's output consists of. */
  private static final Set<Event> MADE_OF =
      Set.of(Event.SEEN, Event.CAUGHT, Event.RECEIVED, Event.JOINED, Event.WON);

  private EndRules() {}

  static void everyStartEnds(RunStory story, Consumer<String> violation) {
    RunRecord run = story.run();
    if (run == null) {
      violation.accept(
          story.isAcknowledged()
              ? "its start was acknowledged, and it is not in the tables"
              : "known to ledgers or steps, and not in the tables");
    } else if (!run.hasEnded()) {
      violation.accept("still " + run.status());
    }
  }

  static void endMatchesScenario(RunStory story, Consumer<String> violation) {
    RunRecord run = story.run();
    Scenario scenario = story.scenario();
    if (run == null || !run.hasEnded() || scenario == null) {
      return;
    }
    boolean asked = story.client(Event.CANCELLED).findAny().isPresent();
    boolean fits =
        run.status().equals(scenario.end().name())
            || (asked && story.isCancelled())
            || (story.isTerminated() && !scenario.has(Behavior.RESUMES));
    if (!fits) {
      violation.accept(
          "%s ended as %s with error \"%s\" (expected: %s)"
              .formatted(run.type(), run.status(), run.error(), scenario.end()));
    }
    if (!story.isEndedFromOutside() && run.endedEpoch() != run.epoch()) {
      violation.accept(
          "ended by claim %d, the last is %d".formatted(run.endedEpoch(), run.epoch()));
    }
  }

  /**
   * After a run was ended from outside, no step is recorded in it. The tables store when
   * transactions began. The transaction that ended the run may have begun before a transaction that
   * recorded a step, and waited for its lock. It waits at most for the lock time-out.
   */
  static void nothingAfterEnd(RunStory story, Consumer<String> violation) {
    RunRecord run = story.run();
    if (run == null || !story.isEndedFromOutside()) {
      return;
    }
    story
        .attempts()
        .filter(attempt -> attempt.finishedMicros() > run.finishedMicros() + LOCK_WAIT_MICROS)
        .forEach(
            attempt -> violation.accept("step " + attempt.step() + " was recorded afterwards"));
  }

  static void outputIsReturned(RunStory story, Consumer<String> violation) {
    RunRecord run = story.run();
    if (run == null || !run.status().equals(RunRecord.COMPLETED) || run.hasContinued()) {
      return;
    }
    Scenario scenario = story.scenario();
    if (scenario != null && !scenario.hasEffects()) {
      String expected = Script.output(run.input(), List.of());
      if (!run.output().equals(expected)) {
        violation.accept("output is %s (expected: %s)".formatted(run.output(), expected));
      }
      return;
    }
    List<Execution> enders =
        story.executions().stream()
            .filter(
                execution ->
                    execution.of(Event.END).anyMatch(end -> end.value().equals(run.output())))
            .toList();
    if (enders.isEmpty()) {
      violation.accept("output " + run.output() + " was never returned");
    } else if (enders.stream().noneMatch(ender -> isClaim(ender, run.endedEpoch()))) {
      violation.accept("output of a claim other than the one that ended it, " + run.endedEpoch());
    } else if (enders.stream().noneMatch(ender -> output(run, ender).equals(run.output()))) {
      violation.accept("output is not made of the values that the code has seen");
    }
  }

  private static boolean isClaim(Execution execution, int epoch) {
    return execution.epoch() == 0 || execution.epoch() == epoch;
  }

  private static String output(RunRecord run, Execution ender) {
    return Script.output(
        run.input(),
        ender.entries().stream()
            .filter(entry -> MADE_OF.contains(entry.event()))
            .map(LedgerEntry::value)
            .toList());
  }
}
