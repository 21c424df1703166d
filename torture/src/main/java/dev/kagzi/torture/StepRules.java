package dev.kagzi.torture;

import dev.kagzi.torture.LedgerEntry.Event;
import dev.kagzi.torture.RunStory.Execution;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/** Rules for the recorded steps and their origin. */
final class StepRules {
  /** PostgreSQL and the workers read the same clock. */
  private static final long CLOCK_TOLERANCE_MICROS = 2_000;

  private StepRules() {}

  /**
   * A result is the last attempt of its step. A final failure is the last attempt within one
   * attempt of the run.
   */
  static void oneResultPerStep(RunStory story, Consumer<String> violation) {
    story.steps().forEach((step, attempts) -> checkAttempts(step, attempts, violation));
  }

  /**
   * Attempts are numbered without gaps. Another attempt follows only after a failure, and after a
   * final failure only in a later attempt of the run.
   */
  private static void checkAttempts(
      String step, List<StepRecord> attempts, Consumer<String> violation) {
    for (int i = 0; i < attempts.size(); i++) {
      StepRecord attempt = attempts.get(i);
      if (attempt.attempt() != i + 1) {
        violation.accept("step %s: attempt %d is missing".formatted(step, i + 1));
        return;
      }
      if (i < attempts.size() - 1) {
        checkFollowed(attempt, attempts.get(i + 1), violation);
      }
    }
  }

  private static void checkFollowed(
      StepRecord attempt, StepRecord next, Consumer<String> violation) {
    String what = "step %s: attempt %d ".formatted(attempt.step(), attempt.attempt());
    boolean over = attempt.isFinal() && next.runAttempt() == attempt.runAttempt();
    if (attempt.status() != StepRecord.Status.FAILED || over) {
      violation.accept(
          what
              + "is %s%s and yet another follows"
                  .formatted(attempt.status(), attempt.isFinal() ? " finally" : ""));
    }
    if (next.epoch() < attempt.epoch()) {
      violation.accept(what + "is followed by one of an earlier claim");
    }
    if (next.runAttempt() < attempt.runAttempt()) {
      violation.accept(what + "is followed by one of an earlier attempt of the run");
    }
  }

  static void recordedWasExecuted(RunStory story, Consumer<String> violation) {
    story
        .attempts()
        .filter(attempt -> !attempt.isWait() && attempt.finishedMicros() != 0)
        .filter(attempt -> !attempt.isChild() && !story.isGroup(attempt.step()))
        .filter(attempt -> attempt.cause() != StepRecord.Cause.CANCELLED)
        .filter(attempt -> !isClosedByEnd(story, attempt))
        .forEach(attempt -> checkOrigin(story, attempt, violation));
  }

  /**
   * A claim is lost when the next claim is assigned, which is before the next execution begins. A
   * later write for the lost claim has passed the fence. Only waits are an exception: they end by
   * themselves, and their rows keep the epoch of the claim that began them. This happens in a
   * resumed run, in a branch while another branch has been woken, and to a sleep that ends by time.
   */
  static void noWriteOfLostClaim(RunStory story, Consumer<String> violation) {
    for (Execution later : story.executions()) {
      long begunMicros = later.entries().getFirst().at().wallMicros();
      story
          .attempts()
          .filter(attempt -> attempt.epoch() < later.epoch())
          .filter(attempt -> writtenMicros(attempt) > begunMicros + CLOCK_TOLERANCE_MICROS)
          .filter(attempt -> !isClosedByEnd(story, attempt))
          .filter(attempt -> !endsByItself(story, attempt))
          .forEach(
              attempt ->
                  violation.accept(
                      "step %s was recorded for claim %d after claim %d had begun"
                          .formatted(attempt.step(), attempt.epoch(), later.epoch())));
    }
  }

  private static long writtenMicros(StepRecord attempt) {
    return attempt.endsByTime() ? attempt.createdMicros() : attempt.finishedMicros();
  }

  /** A sleep ends at its wake time, independent of the claim at that time. */
  private static boolean endsByItself(RunStory story, StepRecord attempt) {
    return attempt.isWait() && (story.isResumed() || attempt.step().contains("["));
  }

  /**
   * Whether the end of the run closed this open step with a failure of its own. If a run is ended
   * from outside, this can happen to every step. Otherwise it can happen to steps in branches, such
   * as those of the losers of a race, and to children that were not awaited.
   */
  static boolean isClosedByEnd(RunStory story, StepRecord attempt) {
    RunRecord run = story.run();
    boolean mayBeOpen =
        story.isEndedFromOutside() || attempt.isChild() || attempt.step().contains("[");
    boolean endedThen =
        run != null && mayBeOpen && attempt.finishedMicros() == run.finishedMicros();
    return attempt.isFinalFailure()
        && attempt.cause() == StepRecord.Cause.RUN_ENDED
        && (endedThen || story.isResumed());
  }

  /** For an attempt that timed out, the time-out is recorded and not the value. */
  private static boolean isOrigin(LedgerEntry exec, StepRecord attempt) {
    if (!attempt.hasNoValue()) {
      return exec.value().equals(attempt.value());
    }
    int epoch = exec.author().epoch();
    return epoch == 0 || (epoch == attempt.epoch() && exec.attempt() == attempt.attempt());
  }

  private static void checkOrigin(RunStory story, StepRecord attempt, Consumer<String> violation) {
    Optional<LedgerEntry> origin =
        story
            .worker(Event.EXEC)
            .filter(exec -> exec.step().equals(attempt.step()))
            .filter(exec -> isOrigin(exec, attempt))
            .findFirst();
    String what = "step %s, attempt %d: ".formatted(attempt.step(), attempt.attempt());
    if (origin.isEmpty()) {
      violation.accept(what + "no execution produced the recorded value " + attempt.value());
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
