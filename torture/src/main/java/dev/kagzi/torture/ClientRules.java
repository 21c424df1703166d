package dev.kagzi.torture;

import dev.kagzi.torture.LedgerEntry.Event;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/** Rules for the answers that the client received. */
final class ClientRules {
  private ClientRules() {}

  /**
   * A result after the last resume must be the run's end. An earlier result must be a recorded
   * failure.
   */
  static void resultsAreRecorded(RunStory story, Consumer<String> violation) {
    RunRecord run = story.run();
    if (run == null) {
      return;
    }
    List<LedgerEntry> entries = story.client();
    int resumedAt = -1;
    for (int i = 0; i < entries.size(); i++) {
      resumedAt = entries.get(i).event() == Event.RESUMED ? i : resumedAt;
    }
    for (int i = 0; i < entries.size(); i++) {
      if (entries.get(i).event() == Event.RESULT && i > resumedAt) {
        checkEnd(run, entries.get(i), violation);
      } else if (entries.get(i).event() == Event.RESULT) {
        checkFailure(story, entries.get(i), violation);
      }
    }
    boolean hasResult = story.client(Event.RESULT).findAny().isPresent();
    if (!hasResult && story.isAcknowledged() && run.hasEnded()) {
      violation.accept("it has ended, and the client received no result");
    }
  }

  private static void checkEnd(RunRecord run, LedgerEntry result, Consumer<String> violation) {
    String expected = run.hasFailed() ? run.error() : run.output();
    if (!result.step().equals(run.status()) || !result.value().equals(expected)) {
      violation.accept(
          "the client received %s %s (expected: %s %s)"
              .formatted(result.step(), result.value(), run.status(), expected));
    }
  }

  private static void checkFailure(RunStory story, LedgerEntry result, Consumer<String> violation) {
    boolean recorded =
        story.isReason(result.value())
            || story
                .attempts()
                .filter(StepRecord::isFinalFailure)
                .anyMatch(failed -> failed.value().equals(result.value()));
    if (!recorded && !result.step().equals(RunRecord.TIMED_OUT)) {
      violation.accept(
          "the client received %s %s before it was resumed (expected: a recorded failure)"
              .formatted(result.step(), result.value()));
    }
  }

  /**
   * After an acknowledged resume, the client must not receive a result from before the resume
   * again. All failures except time-outs have a unique value.
   */
  static void resumedContinues(RunStory story, Consumer<String> violation) {
    Set<String> received = new HashSet<>();
    Set<String> past = new HashSet<>();
    for (LedgerEntry entry : story.client()) {
      if (entry.event() == Event.RESUMED && entry.value().equals("true")) {
        past.addAll(received);
      } else if (entry.event() == Event.RESULT && !entry.step().equals(RunRecord.TIMED_OUT)) {
        received.add(entry.value());
        if (past.contains(entry.value())) {
          violation.accept(
              "it was resumed, and the client received %s again".formatted(entry.value()));
        }
      }
    }
  }

  static void startedOnce(RunStory story, Consumer<String> violation) {
    long made = story.client(Event.STARTED).count();
    if (made > 1) {
      violation.accept(made + " starts were acknowledged as having created it");
    }
  }

  static void cancelledIsCancelled(RunStory story, Consumer<String> violation) {
    RunRecord run = story.run();
    if (run != null && isAcknowledged(story, Event.CANCELLED) && !story.isCancelled()) {
      violation.accept("its cancel was acknowledged, and it is " + run.status());
    }
  }

  static void terminatedIsTerminated(RunStory story, Consumer<String> violation) {
    RunRecord run = story.run();
    if (run != null
        && isAcknowledged(story, Event.TERMINATED)
        && !story.isTerminated()
        && !story.isResumed()) {
      violation.accept(
          "its termination was acknowledged, and it is %s with error \"%s\""
              .formatted(run.status(), run.error()));
    }
  }

  private static boolean isAcknowledged(RunStory story, Event event) {
    return story.client(event).anyMatch(entry -> entry.value().equals("true"));
  }
}
