package dev.kagzi.sdk.internal.replay;

import dev.kagzi.protocol.v1.RecordedStep;
import dev.kagzi.protocol.v1.StepKind;
import dev.kagzi.sdk.internal.replay.RecordedRun.Entry;
import dev.kagzi.sdk.internal.run.ReplayObserver;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Keeps the first difference between what the code asks for and a history. Thread-safe. */
final class HistoryComparator implements ReplayObserver {
  private static final Verdict MATCHES = new Verdict.Matches();
  private static final Verdict HISTORY_ENDS = new Verdict.HistoryEnds();

  private final RecordedRun recordedRun;
  private final Map<String, Entry> byKey = new HashMap<>();
  private final UnconsumedSteps unconsumed;
  private @Nullable HistoryDifference difference;

  HistoryComparator(RecordedRun recordedRun) {
    this.recordedRun = recordedRun;
    recordedRun.entries().forEach(entry -> byKey.put(entry.key(), entry));
    this.unconsumed =
        new UnconsumedSteps(recordedRun.entries().stream().filter(Entry::ofLastAttempt).toList());
  }

  @Override
  public synchronized Verdict asked(String key, StepKind kind, @Nullable RecordedStep recorded) {
    Entry entry = byKey.get(key);
    return entry == null ? compareUnrecorded(key, kind) : compareRecorded(entry, kind);
  }

  private Verdict compareUnrecorded(String key, StepKind kind) {
    if (kind == StepKind.STEP_KIND_UNSPECIFIED) {
      return MATCHES;
    }
    Entry missed = unconsumed.firstAround(key);
    if (missed != null) {
      return differs(missed.number(), name(missed), "asks for " + name(kind, key));
    }
    return recordedRun.isEndedByCode()
        ? differs(
            recordedRun.entries().size() + 1,
            "no further step (the run ended as " + recordedRun.status() + ")",
            "asks for " + name(kind, key))
        : HISTORY_ENDS;
  }

  private Verdict compareRecorded(Entry entry, StepKind kind) {
    unconsumed.remove(entry);
    Entry missed = unconsumed.firstAround(entry.key());
    if (missed != null && missed.precedes(entry)) {
      return differs(missed.number(), name(missed), "asks for " + name(kind, entry.key()));
    }
    StepKind recorded = entry.step().getKind();
    boolean isBranches = kind == StepKind.STEP_KIND_UNSPECIFIED;
    if (recorded != (isBranches ? StepKind.STEP_KIND_FUNCTION : kind)) {
      return differs(entry.number(), name(entry), "asks for " + name(kind, entry.key()));
    }
    return !isBranches && hasNoResult(entry.step()) ? HISTORY_ENDS : MATCHES;
  }

  // An open child has started, and its start is all that the code asks for.
  private static boolean hasNoResult(RecordedStep step) {
    return switch (step.getResultCase()) {
      case OUTPUT, FINAL_FAILURE, TIMED_OUT -> false;
      case OPEN -> step.getKind() != StepKind.STEP_KIND_CHILD_WORKFLOW;
      case RETRY, SLEEPS_MS, RESULT_NOT_SET -> true;
    };
  }

  @Override
  public synchronized void discarded(Set<String> keys) {
    unconsumed.removeAll(keys);
  }

  private Verdict differs(int number, String recorded, String asked) {
    HistoryDifference found = HistoryDifference.of(number, recorded, asked);
    if (difference == null) {
      difference = found;
    }
    return new Verdict.Differs(found.message());
  }

  synchronized @Nullable HistoryDifference difference() {
    return difference;
  }

  /** The first recorded step of the run's last attempt that the code did not ask for, or null. */
  synchronized @Nullable Entry missed() {
    return unconsumed.first();
  }

  int number(String key) {
    Entry entry = byKey.get(key);
    return entry == null ? 0 : entry.number();
  }

  static String name(Entry entry) {
    return name(entry.step().getKind(), entry.key());
  }

  private static String name(StepKind kind, String key) {
    return switch (kind) {
      case STEP_KIND_SLEEP -> "sleep " + key;
      case STEP_KIND_CHILD_WORKFLOW -> "child " + key;
      case STEP_KIND_SIGNAL -> "signal " + key;
      case STEP_KIND_CALLBACK -> "callback " + key;
      case STEP_KIND_UNSPECIFIED -> "branches " + key;
      case STEP_KIND_FUNCTION, UNRECOGNIZED -> "step " + key;
    };
  }
}
