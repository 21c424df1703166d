package dev.kagzi.torture;

import dev.kagzi.torture.LedgerEntry.Event;
import dev.kagzi.torture.RunStory.Execution;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/** Rules for what later executions of a run can rely on. */
final class ReplayRules {
  private ReplayRules() {}

  static void oneExecutionPerClaim(RunStory story, Consumer<String> violation) {
    RunRecord run = story.run();
    Set<Integer> epochs = new HashSet<>();
    for (Execution execution : story.executions()) {
      if (execution.epoch() != 0 && !execution.isBranch() && !epochs.add(execution.epoch())) {
        violation.accept("claim " + execution.epoch() + " was executed twice");
      }
      if (run != null && execution.epoch() > run.epoch()) {
        violation.accept(
            "claim %d was executed, the last is %d".formatted(execution.epoch(), run.epoch()));
      }
    }
  }

  /**
   * When an execution begins a step, all results before it are recorded. So every later claim
   * receives them and must not execute these steps. Earlier claims may: they do not know yet that
   * they are lost.
   */
  static void noStepRepeated(RunStory story, Consumer<String> violation) {
    for (Execution earlier : story.executions()) {
      Map<String, Integer> passed = passed(earlier);
      checkOrder(earlier, violation);
      for (Execution later : story.executions()) {
        if (earlier.epoch() != 0 && later.epoch() > earlier.epoch()) {
          later
              .of(Event.EXEC)
              .filter(exec -> isAgain(exec, passed))
              .forEach(
                  exec ->
                      violation.accept(
                          "step %s was executed by claim %d, although claim %d had recorded its result"
                              .formatted(exec.step(), later.epoch(), earlier.epoch())));
        }
      }
    }
  }

  private static final int ALL_ATTEMPTS = Integer.MAX_VALUE;

  /**
   * For each step, the last attempt that is certainly recorded when the execution's last step
   * began.
   */
  private static Map<String, Integer> passed(Execution execution) {
    Map<String, Integer> passed = new HashMap<>();
    Map<String, Integer> decided = new HashMap<>();
    String present = "";
    int attempt = 0;
    for (LedgerEntry entry : execution.entries()) {
      switch (entry.event()) {
        case EXEC -> {
          passed.putAll(decided);
          if (entry.step().equals(present)) {
            passed.put(present, attempt);
          }
          present = entry.step();
          attempt = entry.attempt();
        }
        case SEEN -> decided.put(entry.step(), ALL_ATTEMPTS);
        case CAUGHT -> passed.put(entry.step(), ALL_ATTEMPTS);
        default -> {}
      }
    }
    return passed;
  }

  private static boolean isAgain(LedgerEntry exec, Map<String, Integer> passed) {
    int upTo = passed.getOrDefault(exec.step(), 0);
    return upTo == ALL_ATTEMPTS || (exec.attempt() != 0 && exec.attempt() <= upTo);
  }

  /** Within one execution, no step is executed after the code has received its result. */
  private static void checkOrder(Execution execution, Consumer<String> violation) {
    Set<String> decided = new HashSet<>();
    for (LedgerEntry entry : execution.entries()) {
      if (entry.event() == Event.SEEN || entry.event() == Event.CAUGHT) {
        decided.add(entry.step());
      } else if (entry.event() == Event.EXEC && decided.contains(entry.step())) {
        violation.accept("step " + entry.step() + " was executed after its result was seen");
      }
    }
  }

  /** What an execution has received is recorded, with the same value, once the next step begins. */
  static void durableBeforeNext(RunStory story, Consumer<String> violation) {
    for (Execution execution : story.executions()) {
      List<LedgerEntry> entries = execution.entries();
      int lastExec = -1;
      for (int i = 0; i < entries.size(); i++) {
        lastExec = entries.get(i).event() == Event.EXEC ? i : lastExec;
      }
      for (LedgerEntry entry : entries.subList(0, Math.max(0, lastExec))) {
        if (!isOnRecord(story, entry)) {
          violation.accept(
              "%s of step %s with %s is not recorded, and yet the next step began"
                  .formatted(entry.event(), entry.step(), entry.value()));
        }
      }
    }
  }

  private static boolean isOnRecord(RunStory story, LedgerEntry entry) {
    return switch (entry.event()) {
      case SEEN, WON -> hasValue(story.completed(entry.step()), entry);
      case CAUGHT -> isFinalFailure(story, entry);
      case WOKE -> story.completed(entry.step()).isPresent();
      default -> true;
    };
  }

  private static boolean hasValue(Optional<StepRecord> recorded, LedgerEntry entry) {
    return recorded.map(StepRecord::value).filter(entry.value()::equals).isPresent();
  }

  private static boolean isFinalFailure(RunStory story, LedgerEntry caught) {
    return story
        .finalFailures(caught.step())
        .map(StepRecord::value)
        .anyMatch(caught.value()::equals);
  }

  /** A result that an execution did not produce itself must be the recorded one. */
  static void replaysSeeRecorded(RunStory story, Consumer<String> violation) {
    for (Execution execution : story.executions()) {
      execution
          .of(Event.SEEN)
          .filter(seen -> !execution.hasExecuted(seen.step()))
          .filter(seen -> !hasValue(story.completed(seen.step()), seen))
          .forEach(
              seen ->
                  violation.accept(
                      "step %s: claim %d saw %s (expected: the recorded %s)"
                          .formatted(
                              seen.step(),
                              execution.epoch(),
                              seen.value(),
                              story.completed(seen.step()).map(StepRecord::value).orElse("none"))));
    }
  }

  /** A failure reaches the code only after it is recorded as final. */
  static void caughtIsRecorded(RunStory story, Consumer<String> violation) {
    story
        .worker(Event.CAUGHT)
        .filter(caught -> !isFinalFailure(story, caught))
        .forEach(
            caught ->
                violation.accept(
                    "step %s: caught %s, which is not its recorded failure"
                        .formatted(caught.step(), caught.value())));
  }

  /**
   * A run that completes in spite of a final failure has caught it and executed a further step.
   * This does not apply if a later attempt of the run has completed the failed step.
   */
  static void compensationFollows(RunStory story, Consumer<String> violation) {
    RunRecord run = story.run();
    if (run == null || !run.status().equals(RunRecord.COMPLETED)) {
      return;
    }
    List<Execution> enders =
        story.executions().stream()
            .filter(each -> each.of(Event.END).anyMatch(end -> end.value().equals(run.output())))
            .toList();
    story
        .attempts()
        .filter(StepRecord::isFinalFailure)
        .filter(failed -> !StepRules.isClosedByEnd(story, failed))
        .filter(failed -> story.completed(failed.step()).isEmpty())
        .filter(failed -> enders.stream().noneMatch(each -> compensates(story, each, failed)))
        .forEach(
            failed ->
                violation.accept(
                    "step " + failed.step() + " failed finally and no recorded step followed"));
  }

  /** Whether the step failed, or one in a branch of the group that failed. */
  private static boolean isOf(String failed, String caught) {
    return failed.equals(caught) || failed.startsWith(caught + "[");
  }

  private static boolean compensates(RunStory story, Execution ender, StepRecord failed) {
    boolean caught = false;
    boolean followed = false;
    for (LedgerEntry entry : ender.entries()) {
      if (entry.event() == Event.CAUGHT && isOf(failed.step(), entry.step())) {
        caught = true;
      } else if (caught && entry.event() == Event.SEEN) {
        Optional<StepRecord> done = story.completed(entry.step());
        if (done.isEmpty() || done.get().finishedMicros() < failed.finishedMicros()) {
          return false;
        }
        followed = true;
      }
    }
    return followed;
  }
}
