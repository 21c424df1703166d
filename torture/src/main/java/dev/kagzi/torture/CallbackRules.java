package dev.kagzi.torture;

import dev.kagzi.torture.LedgerEntry.Event;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Rules for callbacks: a callback has one answer, an acknowledged callback has a stored answer, and
 * every wait receives the stored answer.
 */
final class CallbackRules {
  /** All answers begin with this; no other value does. */
  static final String MARK = "ans-";

  private CallbackRules() {}

  static void answeredOnce(RunStory story, Consumer<String> violation) {
    Map<String, String> answers = new HashMap<>();
    for (SignalRecord answer : story.answers()) {
      String before = answers.put(answer.callback(), answer.answer());
      if (before != null) {
        violation.accept(
            "callback %s has two answers: %s and %s"
                .formatted(answer.callback(), before, answer.answer()));
      }
    }
    story
        .client(Event.ANSWERED)
        .filter(entry -> !answers.containsKey(entry.step()))
        .forEach(
            entry ->
                violation.accept(
                    "the answer %s of callback %s was acknowledged and is not stored"
                        .formatted(entry.value(), entry.step())));
  }

  /** Every execution of the code, and every recorded wait, has received the stored answer. */
  static void receivedAsStored(RunStory story, Consumer<String> violation) {
    for (SignalRecord answer : story.answers()) {
      String wait = "await:" + answer.callback();
      story.steps().values().stream()
          .map(java.util.List::getLast)
          .filter(step -> step.step().equals(wait) || step.step().startsWith(wait + "#"))
          .filter(step -> step.value().startsWith(MARK) && !step.value().equals(answer.answer()))
          .forEach(
              step ->
                  violation.accept(
                      "step %s has received %s (expected: %s)"
                          .formatted(step.step(), step.value(), answer.answer())));
      story.executions().stream()
          .flatMap(execution -> execution.of(Event.RECEIVED))
          .filter(entry -> entry.step().equals(answer.callback()))
          .filter(entry -> !entry.value().equals(answer.answer()))
          .forEach(
              entry ->
                  violation.accept(
                      "the code has received %s of callback %s (expected: %s)"
                          .formatted(entry.value(), answer.callback(), answer.answer())));
    }
  }
}
