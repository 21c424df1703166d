package dev.kagzi.sdk.internal.run;

import dev.kagzi.protocol.v1.RecordedStep;
import dev.kagzi.protocol.v1.StepKind;
import dev.kagzi.sdk.internal.wire.ProtoMapper;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Checks that the code of one scope, the main code or a branch, does the same in a replay as
 * before. It compares the code with two things:
 *
 * <ul>
 *   <li><b>An earlier execution in this process</b>, which had the same code. As long as every
 *       requested step has a recorded result, the same code must ask for the same keys.
 *   <li><b>The history</b>, perhaps of other code. Steps that one claim executed have an order. The
 *       code may ask for further steps between them, and may leave some out. It must not change
 *       their order, and must not ask for a new name in place of a recorded one: then the name
 *       differs each time, or the step was renamed.
 * </ul>
 *
 * <p>A step that a deployment inserts or removes is no mismatch. Only the thread of the scope may
 * use it.
 */
final class ReplayCheck {
  /** Further keys of a scope are not compared with earlier executions. */
  static final int KEYS_MAX = 1_000;

  /** Limits the slow searches for a missing step: valid new steps can cause many of them. */
  private static final int SEARCHES_MAX = 100;

  private final List<RecordedStep> recorded;
  private final Predicate<String> isUnconsumed;
  private final List<String> before;
  private final List<String> asked = new ArrayList<>();

  /** By epoch of a claim, the last of its recorded steps that the code has asked for. */
  private final Map<Integer, RecordedStep> lastOfClaim = new HashMap<>();

  /** Whether the code has received the same results so far as in the earlier execution. */
  private boolean certain = true;

  private int position;

  /**
   * The position of the last request for a recorded step that {@linkplain #hasPosition has a
   * position} in the history.
   */
  private int recordedPosition;

  private int searches;
  private @Nullable String unrecordedKey;
  private int unrecordedPosition;

  /**
   * What the code did before and what it does now.
   *
   * @param isCertain false if only recorded times show the order: the database's clock may have
   *     been set back between two steps
   */
  record Mismatch(String before, String now, boolean isCertain) {}

  ReplayCheck(List<RecordedStep> recorded, Predicate<String> isUnconsumed, List<String> before) {
    this.recorded = recorded;
    this.isUnconsumed = isUnconsumed;
    this.before = before;
  }

  List<String> asked() {
    return asked;
  }

  /**
   * Compares a request for a step; returns a mismatch, or null. The kind is unspecified for a group
   * of branches, which may have no recorded step of its own.
   */
  @Nullable Mismatch ask(String key, StepKind kind, @Nullable RecordedStep step) {
    position++;
    if (asked.size() < KEYS_MAX) {
      asked.add(key);
    }
    Mismatch mismatch = compareWithEarlierExecution(key);
    if (mismatch == null) {
      mismatch = step == null ? null : compareWithHistory(step);
    }
    boolean isGroup = kind == StepKind.STEP_KIND_UNSPECIFIED;
    if (step == null && !isGroup) {
      unrecordedKey = key;
      unrecordedPosition = position;
    }
    certain &= isGroup || (step != null && hasResult(step));
    return mismatch;
  }

  private @Nullable Mismatch compareWithEarlierExecution(String key) {
    if (!certain || position > before.size() || before.get(position - 1).equals(key)) {
      return null;
    }
    return new Mismatch(
        "an earlier execution in this process asked for " + before.get(position - 1),
        "asks for " + key,
        true);
  }

  private @Nullable Mismatch compareWithHistory(RecordedStep step) {
    if (!hasPosition(step)) {
      return null;
    }
    int formerPosition = recordedPosition;
    recordedPosition = position;
    RecordedStep last = lastOfClaim.get(step.getEpoch());
    if (last != null && recordedAt(step).isBefore(recordedAt(last))) {
      return new Mismatch(
          "the history has %s before %s".formatted(step.getStepKey(), last.getStepKey()),
          "asks for %s after it".formatted(step.getStepKey()),
          false);
    }
    Mismatch mismatch = null;
    if (unrecordedKey != null && unrecordedPosition > formerPosition) {
      RecordedStep missed = missedBefore(step, last);
      if (missed != null) {
        mismatch =
            new Mismatch(
                "the history has %s before %s".formatted(missed.getStepKey(), step.getStepKey()),
                "asks for %s in its place".formatted(unrecordedKey),
                true);
      }
    }
    lastOfClaim.put(step.getEpoch(), step);
    return mismatch;
  }

  /**
   * Returns a step that the same claim recorded between {@code last} and {@code step}, and that the
   * code has not asked for; null if there is none, or after {@link #SEARCHES_MAX} searches.
   */
  private @Nullable RecordedStep missedBefore(RecordedStep step, @Nullable RecordedStep last) {
    if (++searches > SEARCHES_MAX) {
      return null;
    }
    for (RecordedStep each : recorded) {
      if (each.getEpoch() == step.getEpoch()
          && recordedAt(each).isBefore(recordedAt(step))
          && (last == null || recordedAt(last).isBefore(recordedAt(each)))
          && isUnconsumed.test(each.getStepKey())) {
        return each;
      }
    }
    return null;
  }

  // A child runs in parallel to the code, and its recorded time changes when it ends, so it has no
  // position.
  static boolean hasPosition(RecordedStep step) {
    return step.getEpoch() > 0
        && step.hasRecordedAt()
        && step.getKind() != StepKind.STEP_KIND_CHILD_WORKFLOW
        && (step.hasOutput() || step.hasFinalFailure() || step.hasTimedOut());
  }

  static boolean hasResult(RecordedStep step) {
    return step.hasOutput()
        || step.hasFinalFailure()
        || step.hasTimedOut()
        || (step.hasOpen() && step.getKind() == StepKind.STEP_KIND_CHILD_WORKFLOW);
  }

  private static Instant recordedAt(RecordedStep step) {
    return ProtoMapper.instant(step.getRecordedAt());
  }
}
