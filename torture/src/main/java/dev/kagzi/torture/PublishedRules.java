package dev.kagzi.torture;

import dev.kagzi.torture.LedgerEntry.Event;
import dev.kagzi.torture.RunStory.Execution;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** A published value never goes back, and the last one is stored at the end of the run. */
final class PublishedRules {
  static final String NAME = "progress";

  private PublishedRules() {}

  /** A value: its number, and the last value that the code had. */
  static String value(int number, String last) {
    return number + " " + last;
  }

  private static int number(String value) {
    return Integer.parseInt(value.substring(0, value.indexOf(' ')));
  }

  /** The execution that has ended the run has published what is stored. */
  static void lastIsStored(RunStory story, Consumer<String> violation) {
    RunRecord run = story.run();
    if (run == null || !run.status().equals(RunRecord.COMPLETED)) {
      return;
    }
    List<Execution> ended =
        story.executions().stream()
            .filter(
                execution ->
                    execution.of(Event.END).anyMatch(end -> end.value().equals(run.output())))
            .toList();
    if (ended.isEmpty()) {
      return;
    }
    boolean isLast =
        ended.stream().anyMatch(execution -> lastOf(execution).equals(story.published()));
    if (!isLast) {
      violation.accept(
          "stored is \"%s\" (expected: %s)".formatted(story.published(), lastOf(ended.getLast())));
    }
  }

  private static String lastOf(Execution execution) {
    return execution.of(Event.PUBLISHED).map(LedgerEntry::value).reduce("", (a, b) -> b);
  }

  /** A reader who follows the value sees its numbers in order, and at last the stored one. */
  static void neverGoesBack(RunStory story, Consumer<String> violation) {
    List<String> seen = story.client(Event.WATCHED).map(LedgerEntry::value).toList();
    for (int i = 1; i < seen.size(); i++) {
      if (number(seen.get(i)) <= number(seen.get(i - 1))) {
        violation.accept("\"%s\" came after \"%s\"".formatted(seen.get(i), seen.get(i - 1)));
      }
    }
    boolean isComplete =
        Stream.of(story.run())
            .filter(Objects::nonNull)
            .anyMatch(run -> run.status().equals(RunRecord.COMPLETED));
    if (isComplete && !seen.isEmpty() && !seen.getLast().equals(story.published())) {
      violation.accept(
          "the reader saw \"%s\" last (expected: \"%s\")"
              .formatted(seen.getLast(), story.published()));
    }
  }
}
