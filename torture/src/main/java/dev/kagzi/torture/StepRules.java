package dev.kagzi.torture;

import dev.kagzi.torture.LedgerEntry.Event;
import dev.kagzi.torture.RunStory.Execution;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/** What the tables say of steps, and whether it comes from where it should. */
final class StepRules {
  /** PostgreSQL and the workers read the same clock. */
  private static final long CLOCK_TOLERANCE_MICROS = 2_000;

  private StepRules() {}

  static void oneResultPerStep(RunStory story, Consumer<String> violation) {
    story
        .steps()
        .forEach(
            (step, attempts) -> {
              long results =
                  attempts.stream()
                      .filter(each -> each.isCompleted() || each.isFinalFailure())
                      .count();
              if (results > 1) {
                violation.accept("step " + step + " has " + results + " results");
              }
              checkAttempts(step, attempts, violation);
            });
  }

  /** Attempts are numbered without gaps, and only the last may be other than a passing failure. */
  private static void checkAttempts(
      String step, List<StepRecord> attempts, Consumer<String> violation) {
    for (int i = 0; i < attempts.size(); i++) {
      StepRecord attempt = attempts.get(i);
      boolean last = i == attempts.size() - 1;
      if (attempt.attempt() != i + 1) {
        violation.accept("step %s: attempt %d is missing".formatted(step, i + 1));
        return;
      }
      if (!last && (attempt.status() != StepRecord.Status.FAILED || attempt.isFinal())) {
        violation.accept(
            "step %s: attempt %d is %s and yet another follows"
                .formatted(step, attempt.attempt(), attempt.status()));
      }
      if (!last && attempts.get(i + 1).epoch() < attempt.epoch()) {
        violation.accept("step %s: a later attempt has an earlier claim".formatted(step));
      }
    }
  }

  static void recordedWasExecuted(RunStory story, Consumer<String> violation) {
    story
        .attempts()
        .filter(attempt -> !attempt.isSleep() && attempt.finishedMicros() != 0)
        .filter(attempt -> !isClosedByCancel(story, attempt))
        .forEach(attempt -> checkOrigin(story, attempt, violation));
  }

  /**
   * A claim is lost when the next one is given away, and that is before the next execution begins.
   * What is recorded for a claim afterwards was written through the fence.
   */
  static void noWriteOfLostClaim(RunStory story, Consumer<String> violation) {
    for (Execution later : story.executions()) {
      long begunMicros = later.entries().getFirst().at().wallMicros();
      story
          .attempts()
          .filter(attempt -> attempt.epoch() < later.epoch())
          .filter(attempt -> attempt.finishedMicros() > begunMicros + CLOCK_TOLERANCE_MICROS)
          .filter(attempt -> !isClosedByCancel(story, attempt))
          .forEach(
              attempt ->
                  violation.accept(
                      "step %s was recorded for claim %d after claim %d had begun"
                          .formatted(attempt.step(), attempt.epoch(), later.epoch())));
    }
  }

  /** A cancel closes what is open with a failure of its own. */
  private static boolean isClosedByCancel(RunStory story, StepRecord attempt) {
    RunRecord run = story.run();
    return run != null
        && story.isCancelled()
        && attempt.isFinalFailure()
        && attempt.finishedMicros() == run.finishedMicros();
  }

  private static void checkOrigin(RunStory story, StepRecord attempt, Consumer<String> violation) {
    Optional<LedgerEntry> origin =
        story
            .worker(Event.EXEC)
            .filter(exec -> exec.step().equals(attempt.step()))
            .filter(exec -> exec.value().equals(attempt.value()))
            .findFirst();
    String what = "step %s, attempt %d: ".formatted(attempt.step(), attempt.attempt());
    if (origin.isEmpty()) {
      violation.accept(what + "nobody has executed what is recorded, " + attempt.value());
      return;
    }
    int epoch = origin.get().author().epoch();
    if (epoch != 0 && epoch != attempt.epoch()) {
      violation.accept(
          what + "executed by claim %d, recorded for claim %d".formatted(epoch, attempt.epoch()));
    }
    int number = origin.get().attempt();
    if (number != 0 && number != attempt.attempt()) {
      violation.accept(what + "was executed as attempt " + number);
    }
  }
}
