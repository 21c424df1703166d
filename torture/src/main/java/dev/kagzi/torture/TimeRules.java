package dev.kagzi.torture;

import dev.kagzi.torture.LedgerEntry.Event;
import dev.kagzi.torture.RunStory.Execution;
import java.util.Optional;
import java.util.function.Consumer;

/** Rules for time-outs: none is early, and late results do not count. */
final class TimeRules {
  /** Clocks of one machine agree, but they are read one after the other. */
  private static final long TOLERANCE_MICROS = 2_000;

  private TimeRules() {}

  /**
   * Attempts of one execution are sequential. So at least n time-outs lie between the step's start
   * and the end of its n-th attempt that timed out.
   */
  static void noStepTimesOutEarly(RunStory story, Consumer<String> violation) {
    story
        .attempts()
        .filter(StepRecord::hasTimedOut)
        .forEach(
            attempt ->
                story.executions().stream()
                    .filter(execution -> execution.epoch() == attempt.epoch())
                    .forEach(execution -> checkStep(story, execution, attempt, violation)));
  }

  private static void checkStep(
      RunStory story, Execution execution, StepRecord attempt, Consumer<String> violation) {
    Optional<LedgerEntry> limit =
        execution.of(Event.LIMIT).filter(entry -> entry.step().equals(attempt.step())).findFirst();
    String what = "step %s, attempt %d ".formatted(attempt.step(), attempt.attempt());
    if (limit.isEmpty()) {
      violation.accept(what + "timed out, and has no time-out");
      return;
    }
    long count =
        story.attempts(attempt.step()).stream()
            .filter(StepRecord::hasTimedOut)
            .filter(each -> each.epoch() == attempt.epoch())
            .filter(each -> each.attempt() <= attempt.attempt())
            .count();
    long micros = attempt.finishedMicros() - limit.get().at().wallMicros();
    long leastMicros = count * Long.parseLong(limit.get().value()) * 1_000;
    if (micros < leastMicros - TOLERANCE_MICROS) {
      violation.accept(
          what + "timed out after %d us (expected: at least %d)".formatted(micros, leastMicros));
    }
  }

  /** A result after the time-out is never recorded. */
  static void lateResultsDoNotCount(RunStory story, Consumer<String> violation) {
    story
        .worker(Event.LATE)
        .filter(
            late ->
                story
                    .completed(late.step())
                    .filter(completed -> completed.value().equals(late.value()))
                    .isPresent())
        .forEach(
            late ->
                violation.accept(
                    "step %s exceeded its time-out, and its %s is recorded"
                        .formatted(late.step(), late.value())));
  }

  /**
   * No run times out early: neither the run by the database's clock, nor the client's result by the
   * clock of the machine.
   */
  static void noRunTimesOutEarly(RunStory story, Consumer<String> violation) {
    RunRecord run = story.run();
    Scenario scenario = story.scenario();
    if (run == null || scenario == null) {
      return;
    }
    long leastMicros = run.times().createdMicros() + scenario.timeout().toMillis() * 1_000;
    if (story.isTimedOut()) {
      long deadlineMicros = run.times().deadlineMicros();
      if (deadlineMicros < leastMicros) {
        violation.accept(
            "its deadline is %d us after its start (expected: at least %s)"
                .formatted(deadlineMicros - run.times().createdMicros(), scenario.timeout()));
      }
      if (run.finishedMicros() < deadlineMicros) {
        violation.accept(
            "timed out %d us before its deadline".formatted(deadlineMicros - run.finishedMicros()));
      }
    }
    story
        .client(Event.RESULT)
        .filter(result -> result.step().equals(RunRecord.TIMED_OUT))
        .filter(result -> result.at().wallMicros() < leastMicros - TOLERANCE_MICROS)
        .forEach(result -> violation.accept("the client received the time-out too early"));
  }
}
