package dev.kagzi.torture;

import dev.kagzi.torture.LedgerEntry.Event;
import dev.kagzi.torture.RunStory.Execution;
import dev.kagzi.torture.Scenario.Behavior;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.IntStream;

/** Rules for attempts of whole runs: why they start, and what they keep. */
final class RunAttemptRules {
  private RunAttemptRules() {}

  /** A run is retried only if a policy or a resume allows it, and only after a failed attempt. */
  static void attemptsHaveReasons(RunStory story, Consumer<String> violation) {
    RunRecord run = story.run();
    if (run == null || run.attempts() == 1) {
      return;
    }
    Scenario scenario = story.scenario();
    if (scenario == null || !(scenario.has(Behavior.RETRIES) || story.isResumed())) {
      violation.accept("attempted %d times (expected: once)".formatted(run.attempts()));
      return;
    }
    IntStream.range(1, run.attempts())
        .filter(attempt -> !hasFailed(story, attempt))
        .forEach(
            attempt ->
                violation.accept("was retried, although attempt " + attempt + " had not failed"));
  }

  /** A run that was ended from outside may have no failed step. */
  private static boolean hasFailed(RunStory story, int runAttempt) {
    boolean endedFromOutside =
        story
            .client(Event.RESULT)
            .anyMatch(
                result ->
                    result.step().equals(RunRecord.TIMED_OUT) || story.isReason(result.value()));
    return endedFromOutside
        || story
            .attempts()
            .anyMatch(step -> step.isFinalFailure() && step.runAttempt() == runAttempt);
  }

  /** Every later claim receives the completed steps, in any attempt of the run. */
  static void completedIsKept(RunStory story, Consumer<String> violation) {
    for (Execution execution : story.executions()) {
      execution
          .of(Event.EXEC)
          .filter(
              exec ->
                  story
                      .completed(exec.step())
                      .filter(completed -> completed.epoch() < execution.epoch())
                      .isPresent())
          .forEach(
              exec ->
                  violation.accept(
                      "step %s was executed by claim %d, after its result was recorded"
                          .formatted(exec.step(), execution.epoch())));
    }
  }

  /** A run that caught a final failure and recorded more steps has begun to compensate. */
  static void compensatedIsNotRetried(RunStory story, Consumer<String> violation) {
    RunRecord run = story.run();
    if (run == null || story.isResumed()) {
      return;
    }
    story
        .worker(Event.CAUGHT)
        .map(caught -> recorded(story, caught))
        .flatMap(Optional::stream)
        .filter(failed -> failed.runAttempt() < run.attempts())
        .filter(failed -> isFollowed(story, failed))
        .distinct()
        .forEach(
            failed ->
                violation.accept(
                    "was retried, although it had continued after the failure of step "
                        + failed.step()));
  }

  private static Optional<StepRecord> recorded(RunStory story, LedgerEntry caught) {
    return story
        .finalFailures(caught.step())
        .filter(failed -> failed.value().equals(caught.value()))
        .findFirst();
  }

  private static boolean isFollowed(RunStory story, StepRecord failed) {
    return story
        .attempts()
        .anyMatch(
            step ->
                step.isCompleted()
                    && step.runAttempt() == failed.runAttempt()
                    && step.finishedMicros() > failed.finishedMicros());
  }
}
