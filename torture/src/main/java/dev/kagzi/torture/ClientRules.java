package dev.kagzi.torture;

import dev.kagzi.torture.LedgerEntry.Event;
import java.util.function.Consumer;

/** What the client was told is so. */
final class ClientRules {
  private ClientRules() {}

  static void resultsAreTrue(RunStory story, Consumer<String> violation) {
    RunRecord run = story.run();
    if (run == null) {
      return;
    }
    String told = run.status().equals(RunRecord.FAILED) ? run.error() : run.output();
    story
        .client(Event.RESULT)
        .filter(result -> !result.step().equals(run.status()) || !result.value().equals(told))
        .forEach(
            result ->
                violation.accept(
                    "the client was told %s %s (expected: %s %s)"
                        .formatted(result.step(), result.value(), run.status(), told)));
    boolean hasResult = story.client(Event.RESULT).findAny().isPresent();
    if (!hasResult && story.client(Event.STARTED).findAny().isPresent() && run.hasEnded()) {
      violation.accept("it has ended, and the client was not told");
    }
  }

  static void cancelledIsCancelled(RunStory story, Consumer<String> violation) {
    RunRecord run = story.run();
    if (run == null) {
      return;
    }
    boolean acknowledged =
        story.client(Event.CANCELLED).anyMatch(entry -> entry.value().equals("true"));
    if (acknowledged && !story.isCancelled()) {
      violation.accept("its cancel was acknowledged, and it is " + run.status());
    }
    if (story.isCancelled()) {
      story
          .attempts()
          .filter(attempt -> attempt.finishedMicros() > run.finishedMicros())
          .forEach(
              attempt -> violation.accept("step " + attempt.step() + " was recorded afterwards"));
    }
  }
}
