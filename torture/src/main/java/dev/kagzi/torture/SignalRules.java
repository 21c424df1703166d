package dev.kagzi.torture;

import dev.kagzi.torture.LedgerEntry.Event;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/** Signals are stored once, and received once and in the order in which the client sent them. */
final class SignalRules {
  /** All values of signals begin with this; no other value does. */
  static final String MARK = "sig-";

  private SignalRules() {}

  /** The value and the id of a signal; the first one has the number 1. */
  static String value(String input, int number) {
    return MARK + input + "-" + number;
  }

  static void storedOnce(RunStory story, Consumer<String> violation) {
    Map<String, Integer> stored = new HashMap<>();
    story.chainSignals().forEach(signal -> stored.merge(signal.id(), 1, Integer::sum));
    stored.forEach(
        (id, count) -> {
          if (count > 1) {
            violation.accept("signal %s is stored %d times".formatted(id, count));
          }
        });
    story
        .client(Event.SENT)
        .map(LedgerEntry::value)
        .distinct()
        .filter(id -> !stored.containsKey(id))
        .forEach(id -> violation.accept("signal " + id + " was acknowledged and is not stored"));
  }

  /** A step that received a signal has its value, and has received no other. */
  static void receivedBySteps(RunStory story, Consumer<String> violation) {
    Set<String> steps = new HashSet<>();
    for (SignalRecord signal : story.signals()) {
      if (signal.step().isEmpty()) {
        continue;
      }
      if (!steps.add(signal.step())) {
        violation.accept("step %s has received two signals".formatted(signal.step()));
      }
      String value = story.completed(signal.step()).map(StepRecord::value).orElse("nothing");
      if (!value.equals(signal.id())) {
        violation.accept(
            "step %s has received signal %s, and has the value %s"
                .formatted(signal.step(), signal.id(), value));
      }
    }
  }

  /** The code of a completed run has received all signals, each once, in their order. */
  static void receivedInOrder(RunStory story, Consumer<String> violation) {
    RunRecord run = story.run();
    if (run == null
        || story.chainSignals().isEmpty()
        || !run.status().equals(RunRecord.COMPLETED)) {
      return;
    }
    List<String> received = new ArrayList<>();
    for (String value : run.output().split("[ ,]", -1)) {
      if (value.startsWith(MARK)) {
        received.add(value);
      }
    }
    List<String> arrived = story.chainSignals().stream().map(SignalRecord::id).toList();
    if (!received.equals(arrived)) {
      violation.accept("received %s (expected: %s)".formatted(received, arrived));
    }
  }
}
