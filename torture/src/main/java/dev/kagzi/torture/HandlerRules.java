package dev.kagzi.torture;

import dev.kagzi.torture.LedgerEntry.Event;
import dev.kagzi.torture.Scenario.Behavior;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Each failure is handled by one run, which receives the failure; nothing else is handled. */
final class HandlerRules {
  private final Map<String, RunStory> stories = new HashMap<>();
  private final Map<String, List<RunStory>> handlers = new HashMap<>();

  private HandlerRules() {}

  static HandlerRules of(List<RunStory> stories) {
    HandlerRules rules = new HandlerRules();
    for (RunStory story : stories) {
      rules.stories.put(story.runId(), story);
      RunRecord run = story.run();
      if (run != null && !run.handling().failedRunId().isEmpty()) {
        rules
            .handlers
            .computeIfAbsent(run.handling().failedRunId(), id -> new ArrayList<>())
            .add(story);
      }
    }
    return rules;
  }

  /** There are as many handlers as failures: a resumed run that fails again is handled again. */
  void oneHandlerPerFailure(RunStory story, Consumer<String> violation) {
    RunRecord run = story.run();
    Scenario scenario = story.scenario();
    if (run == null || scenario == null || !run.hasEnded()) {
      return;
    }
    String expected = scenario.has(Behavior.HANDLES_FAILURE) ? Scenarios.HANDLER.name() : "";
    if (!run.handling().handler().equals(expected)) {
      violation.accept(
          "is handled by \"%s\" (expected: \"%s\")".formatted(run.handling().handler(), expected));
    }
    int failures = expected.isEmpty() ? 0 : failures(story, scenario, run);
    int found = handlers.getOrDefault(story.runId(), List.of()).size();
    if (found != failures) {
      violation.accept(
          "%s with %d handlers (expected: %d)".formatted(run.status(), found, failures));
    }
  }

  private static int failures(RunStory story, Scenario scenario, RunRecord run) {
    int last = run.hasFailed() && !story.isTerminated() ? 1 : 0;
    // With a retry policy, only a failure of the last attempt starts a handler.
    return scenario.has(Behavior.RETRIES) ? last : run.attempts() - 1 + last;
  }

  /** Handlers complete, and refer to the run whose failure they handle. */
  void handlersMatchFailures(RunStory story, Consumer<String> violation) {
    RunRecord run = story.run();
    if (run == null) {
      return;
    }
    boolean isHandlerType = run.type().equals(Scenarios.HANDLER.name());
    RunRecord failed = failed(run);
    if (!isHandlerType && !run.handling().isHandler() && failed == null) {
      return;
    }
    if (!isHandlerType || !run.handling().isHandler() || failed == null) {
      violation.accept(
          "a %s for run \"%s\" (expected: a handler for a run)"
              .formatted(run.type(), run.handling().failedRunId()));
      return;
    }
    if (run.hasEnded() && !run.status().equals(RunRecord.COMPLETED)) {
      violation.accept(
          "a handler that ended as %s with error \"%s\"".formatted(run.status(), run.error()));
    }
    story.worker(Event.HANDLES).forEach(received -> checkEvent(run, failed, received, violation));
  }

  private @Nullable RunRecord failed(RunRecord run) {
    RunStory failed = stories.get(run.handling().failedRunId());
    return failed == null ? null : failed.run();
  }

  /** The handler's code received what is recorded of the failure. */
  private void checkEvent(
      RunRecord run, RunRecord failed, LedgerEntry received, Consumer<String> violation) {
    boolean isLast = received.attempt() == failed.attempts() && failed.hasFailed();
    List<String> recorded =
        isLast
            ? List.of(Script.handled(failed.runId(), failed.status(), failed.error()))
            : earlier(failed, received.attempt());
    boolean fits =
        received.step().equals(failed.type())
            && run.input().equals(Script.handlerInput(failed.runId(), received.attempt()))
            && recorded.contains(received.value());
    if (!fits) {
      violation.accept(
          "received %s, attempt %d: %s (expected: %s: one of %s)"
              .formatted(
                  received.step(), received.attempt(), received.value(), failed.type(), recorded));
    }
  }

  /** The possible errors of an attempt from which the run was resumed. */
  private List<String> earlier(RunRecord failed, int runAttempt) {
    RunStory story = stories.get(failed.runId());
    return story == null
        ? List.of()
        : story
            .attempts()
            .filter(step -> step.isFinalFailure() && step.runAttempt() == runAttempt)
            .map(step -> Script.handled(failed.runId(), RunRecord.FAILED, step.value()))
            .toList();
  }
}
