package dev.kagzi.torture;

import dev.kagzi.torture.LedgerEntry.Event;
import dev.kagzi.torture.RunStory.Execution;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** Rules for sagas: every undo that is due is recorded once, in reverse order of registration. */
final class SagaRules {
  private static final String UNDO_PREFIX = "saga[";

  /**
   * The order of registration. Code that opens a group of branches waits for the group, so times
   * show the order of its own registrations and those of the branches. Registrations of different
   * branches of one group are ordered by the positions of the branches.
   */
  private static final Comparator<LedgerEntry> REGISTRATION =
      (one, other) -> {
        int byBranch = compareBranches(scope(one), scope(other));
        return byBranch != 0
            ? byBranch
            : Long.compare(one.at().monoNanos(), other.at().monoNanos());
      };

  private SagaRules() {}

  /**
   * Every undo that is due in a compensated run is recorded once. Due are all undos that the last
   * execution registered, and the undo of each recorded step, whichever execution registered it.
   */
  static void dueUndosAreRecorded(RunStory story, Consumer<String> violation) {
    if (lastExecution(story).isEmpty()) {
      return;
    }
    Map<String, LedgerEntry> due = registered(story);
    story
        .worker(Event.DUE)
        .filter(entry -> story.completed(entry.value()).isPresent())
        .forEach(entry -> due.putIfAbsent(entry.step(), entry));
    due.forEach(
        (undo, entry) -> {
          long times = story.attempts(undo).stream().filter(StepRecord::isCompleted).count();
          if (times != 1) {
            violation.accept(
                "undo %s of step %s is recorded %d times (expected: once)"
                    .formatted(undo, entry.value(), times));
          }
        });
  }

  static void onlyRegisteredUndosAreExecuted(RunStory story, Consumer<String> violation) {
    if (lastExecution(story).isEmpty()) {
      return;
    }
    Map<String, LedgerEntry> registered = registered(story);
    story.steps().keySet().stream()
        .filter(step -> step.startsWith(UNDO_PREFIX) && !registered.containsKey(step))
        .forEach(
            step ->
                violation.accept(
                    "undo " + step + " is recorded (expected: one that the code registered)"));
  }

  static void undosAreInReverseOrder(RunStory story, Consumer<String> violation) {
    List<LedgerEntry> inOrder = new ArrayList<>(registered(story).values());
    inOrder.sort(REGISTRATION.reversed());
    StepRecord before = null;
    for (LedgerEntry entry : inOrder) {
      StepRecord undo = story.completed(entry.step()).orElse(null);
      if (undo != null && before != null && undo.finishedMicros() < before.finishedMicros()) {
        violation.accept(
            "undo %s is recorded before %s (expected: after it)"
                .formatted(undo.step(), before.step()));
      }
      before = undo == null ? before : undo;
    }
  }

  /** The execution that ended the run, if it has compensated. */
  private static Optional<Execution> lastExecution(RunStory story) {
    RunRecord run = story.run();
    if (story.isCancelled()) {
      return CleanUpRules.lastCleanUp(story);
    }
    return story.executions().stream()
        .filter(each -> run != null && run.status().equals(RunRecord.COMPLETED))
        .filter(each -> each.of(Event.UNDOES).findAny().isPresent())
        .filter(
            each ->
                each.of(Event.END).anyMatch(end -> run != null && end.value().equals(run.output())))
        .findFirst();
  }

  /** Returns, by step key, the undos that the last execution and its branches have registered. */
  private static Map<String, LedgerEntry> registered(RunStory story) {
    Map<String, LedgerEntry> registered = new LinkedHashMap<>();
    lastExecution(story).stream()
        .map(each -> each.entries().getFirst().author().execution())
        .flatMap(execution -> partsOf(story, execution))
        .flatMap(each -> each.of(Event.DUE))
        .forEach(entry -> registered.putIfAbsent(entry.step(), entry));
    return registered;
  }

  private static Stream<Execution> partsOf(RunStory story, String execution) {
    return story.executions().stream()
        .filter(
            each -> {
              String part = each.entries().getFirst().author().execution();
              return part.equals(execution) || part.startsWith(execution + Script.BRANCH_MARK);
            });
  }

  /** The branch that wrote the entry: {@code fan[1]/inner[0]/}; empty for the main code. */
  private static String scope(LedgerEntry entry) {
    String execution = entry.author().execution();
    int mark = execution.indexOf(Script.BRANCH_MARK);
    return mark < 0 ? "" : execution.substring(mark + 1);
  }

  /** Compares the positions of two branches of one group; 0 if they are not in one. */
  private static int compareBranches(String one, String other) {
    String[] parts = one.split("/");
    String[] otherParts = other.split("/");
    for (int i = 0; i < Math.min(parts.length, otherParts.length); i++) {
      if (!parts[i].equals(otherParts[i])) {
        return group(parts[i]).equals(group(otherParts[i]))
            ? Integer.compare(index(parts[i]), index(otherParts[i]))
            : 0;
      }
    }
    return 0;
  }

  private static String group(String branch) {
    return branch.substring(0, Math.max(0, branch.indexOf('[')));
  }

  private static int index(String branch) {
    String digits = branch.substring(branch.indexOf('[') + 1).replaceAll("\\D", "");
    return digits.isEmpty() ? 0 : Integer.parseInt(digits);
  }
}
