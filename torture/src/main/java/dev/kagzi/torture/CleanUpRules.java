package dev.kagzi.torture;

import dev.kagzi.torture.LedgerEntry.Event;
import dev.kagzi.torture.RunStory.Execution;
import dev.kagzi.torture.Scenario.Behavior;
import java.util.Comparator;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Rules for runs that clean up when they are cancelled. That each undo is recorded once, and in
 * order, is checked by {@link SagaRules}.
 */
final class CleanUpRules {
  private static final String UNDO_PREFIX = "saga[";

  private CleanUpRules() {}

  /** The last execution that has executed all undos of a cancelled run. */
  static Optional<Execution> lastCleanUp(RunStory story) {
    return story.executions().stream()
        .filter(each -> each.of(Event.CLEANED).findAny().isPresent())
        .max(Comparator.comparingInt(Execution::epoch));
  }

  /**
   * A run whose code has begun does not end as CANCELLED before the code has cleaned up, or has
   * reached its end without learning of the cancel. A run that no worker had received ends at once.
   */
  static void cleansUpBeforeItsEnd(RunStory story, Consumer<String> violation) {
    Scenario scenario = story.scenario();
    if (scenario == null || !scenario.has(Behavior.CLEANS_UP) || !story.isCancelled()) {
      return;
    }
    boolean ended =
        story.executions().stream().allMatch(Execution::isBranch)
            || story.worker(Event.END).findAny().isPresent()
            || lastCleanUp(story).isPresent();
    if (!ended) {
      violation.accept("ended as CANCELLED, although its code had not cleaned up");
    }
  }

  /**
   * After an execution has learnt of the cancel, it executes no step except undos. Executions of
   * later claims do not either, because the place where the code learnt of the cancel is recorded.
   */
  static void onlyUndosRunAfterwards(RunStory story, Consumer<String> violation) {
    for (Execution stopped : story.executions()) {
      stopped
          .of(Event.STOPPED)
          .findFirst()
          .ifPresent(at -> checkAfter(story, stopped, at, violation));
    }
  }

  private static void checkAfter(
      RunStory story, Execution stopped, LedgerEntry at, Consumer<String> violation) {
    for (Execution each : story.executions()) {
      each.of(Event.EXEC)
          .filter(exec -> !exec.step().startsWith(UNDO_PREFIX))
          .filter(
              exec ->
                  each.equals(stopped)
                      ? exec.at().monoNanos() > at.at().monoNanos()
                      : stopped.epoch() != 0 && each.epoch() > stopped.epoch())
          .forEach(
              exec ->
                  violation.accept(
                      "step %s was executed by claim %d, although claim %d had learnt of the cancel"
                          .formatted(exec.step(), each.epoch(), stopped.epoch())));
    }
  }
}
