package dev.kagzi.torture;

import dev.kagzi.torture.LedgerEntry.Event;
import java.util.Comparator;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;

/** Sleeps last at least as long as requested, by every available clock. */
final class SleepRules {
  /** Clocks of one machine agree, but they are read one after the other. */
  private static final long TOLERANCE_MICROS = 2_000;

  private SleepRules() {}

  static void noSleepIsShort(RunStory story, Consumer<String> violation) {
    Map<String, Long> askedMicros = new TreeMap<>();
    story
        .worker(Event.SLEEP)
        .forEach(sleep -> askedMicros.put(sleep.step(), Long.parseLong(sleep.value()) * 1_000));
    askedMicros.forEach(
        (step, asked) -> {
          checkLedger(story, step, asked, violation);
          checkTables(story, step, asked, violation);
        });
  }

  /** From the first time that the code requested the sleep to the first time that it continued. */
  private static void checkLedger(
      RunStory story, String step, long askedMicros, Consumer<String> violation) {
    Optional<LedgerEntry> woke = first(story, Event.WOKE, step);
    Optional<LedgerEntry> slept = first(story, Event.SLEEP, step);
    if (woke.isEmpty() || slept.isEmpty()) {
      return;
    }
    long micros = (woke.get().at().monoNanos() - slept.get().at().monoNanos()) / 1_000;
    if (micros < askedMicros - TOLERANCE_MICROS) {
      violation.accept(isShort(step, micros, askedMicros, "the ledger's"));
    }
    Optional<StepRecord> recorded = story.attempts(step).stream().findFirst();
    long fromBegun =
        recorded
            .map(each -> woke.get().at().wallMicros() - each.createdMicros())
            .orElse(askedMicros);
    if (fromBegun < askedMicros - TOLERANCE_MICROS) {
      violation.accept(isShort(step, fromBegun, askedMicros, "the wall's"));
    }
  }

  private static void checkTables(
      RunStory story, String step, long askedMicros, Consumer<String> violation) {
    story
        .completed(step)
        .map(each -> each.finishedMicros() - each.createdMicros())
        .filter(micros -> micros < askedMicros - TOLERANCE_MICROS)
        .ifPresent(
            micros -> violation.accept(isShort(step, micros, askedMicros, "the database's")));
  }

  private static Optional<LedgerEntry> first(RunStory story, Event event, String step) {
    return story
        .worker(event)
        .filter(entry -> entry.step().equals(step))
        .min(Comparator.comparingLong(entry -> entry.at().monoNanos()));
  }

  private static String isShort(String step, long micros, long askedMicros, String clock) {
    return "sleep %s took %d us by %s clock (expected: at least %d)"
        .formatted(step, micros, clock, askedMicros);
  }
}
