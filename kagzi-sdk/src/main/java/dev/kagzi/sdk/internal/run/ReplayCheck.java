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
 * Finds out whether the code of one scope, the workflow's own or a branch's, does at a replay what
 * it did before. Two things are compared:
 *
 * <ul>
 *   <li><b>An earlier execution by this process</b>, which had the same code. As long as everything
 *       asked for has a result on record, the same code must ask for the same keys.
 *   <li><b>The record</b>, perhaps of other code. Steps that one claim executed have an order. The
 *       code may ask for further steps between them, and may leave some out; it must not change
 *       their order, and it must not ask for a new name in place of a recorded one: then a name is
 *       made of something that is different each time, or a step was renamed.
 * </ul>
 *
 * <p>What is inserted or removed by a deploy is no mismatch. Belongs to the thread of the scope.
 */
final class ReplayCheck {
  /** Of a scope that asks for more, the rest is not compared with earlier executions. */
  static final int KEYS_MAX = 1_000;

  /** A record is searched for a missing step so many times: code with many insertions is fine. */
  private static final int SEARCHES_MAX = 100;

  private final List<RecordedStep> recorded;
  private final Predicate<String> isLeft;
  private final List<String> before;
  private final List<String> asked = new ArrayList<>();

  /** By claim, the last of its steps in the record that the code has asked for. */
  private final Map<Integer, RecordedStep> lastOfClaim = new HashMap<>();

  /** Whether all that the code was given so far is what it was given before. */
  private boolean certain = true;

  private int place;

  /** Where the code asked for a step of the record last, of whatever claim. */
  private int recordedPlace;

  private int searches;
  private @Nullable String newcomer;
  private int newcomerPlace;

  /**
   * What the code did before and what it does now.
   *
   * @param isCertain false for an order that only the recorded times show: the database's clock may
   *     have been set back between two steps
   */
  record Mismatch(String before, String now, boolean isCertain) {}

  /**
   * @param recorded the steps of this scope that have a place in the order of their claim
   * @param isLeft whether the code has not asked for the step yet
   * @param before the keys that an earlier execution by this process asked for; empty if unknown
   */
  ReplayCheck(List<RecordedStep> recorded, Predicate<String> isLeft, List<String> before) {
    this.recorded = recorded;
    this.isLeft = isLeft;
    this.before = before;
  }

  /** The keys that were asked for, in order. */
  List<String> asked() {
    return asked;
  }

  /**
   * The code asks for a step. Returns a mismatch that shows by now; null if there is none.
   *
   * @param kind unspecified for branches, which leave no record of their own if all goes well
   */
  @Nullable Mismatch ask(String key, StepKind kind, @Nullable RecordedStep step) {
    place++;
    if (asked.size() < KEYS_MAX) {
      asked.add(key);
    }
    Mismatch mismatch = compareWithEarlierExecution(key);
    if (mismatch == null) {
      mismatch = step == null ? null : compareWithRecord(step);
    }
    boolean isGroup = kind == StepKind.STEP_KIND_UNSPECIFIED;
    if (step == null && !isGroup) {
      newcomer = key;
      newcomerPlace = place;
    }
    certain &= isGroup || (step != null && isDecided(step));
    return mismatch;
  }

  private @Nullable Mismatch compareWithEarlierExecution(String key) {
    if (!certain || place > before.size() || before.get(place - 1).equals(key)) {
      return null;
    }
    return new Mismatch(
        "an earlier execution in this process asked for " + before.get(place - 1),
        "asks for " + key,
        true);
  }

  private @Nullable Mismatch compareWithRecord(RecordedStep step) {
    if (!hasPlace(step)) {
      return null;
    }
    int formerPlace = recordedPlace;
    recordedPlace = place;
    RecordedStep last = lastOfClaim.get(step.getEpoch());
    if (last != null && recordedAt(step).isBefore(recordedAt(last))) {
      return new Mismatch(
          "the record has %s before %s".formatted(step.getStepKey(), last.getStepKey()),
          "asks for %s after it".formatted(step.getStepKey()),
          false);
    }
    Mismatch mismatch = null;
    if (newcomer != null && newcomerPlace > formerPlace) {
      RecordedStep missed = missedBefore(step, last);
      if (missed != null) {
        mismatch =
            new Mismatch(
                "the record has %s before %s".formatted(missed.getStepKey(), step.getStepKey()),
                "asks for %s in its place".formatted(newcomer),
                true);
      }
    }
    lastOfClaim.put(step.getEpoch(), step);
    return mismatch;
  }

  /** A step that the same claim recorded between the two, and that the code has not asked for. */
  private @Nullable RecordedStep missedBefore(RecordedStep step, @Nullable RecordedStep last) {
    if (++searches > SEARCHES_MAX) {
      return null;
    }
    for (RecordedStep each : recorded) {
      if (each.getEpoch() == step.getEpoch()
          && recordedAt(each).isBefore(recordedAt(step))
          && (last == null || recordedAt(last).isBefore(recordedAt(each)))
          && isLeft.test(each.getStepKey())) {
        return each;
      }
    }
    return null;
  }

  // A child is started and goes on beside the code; its record changes when it ends.
  static boolean hasPlace(RecordedStep step) {
    return step.getEpoch() > 0
        && step.hasRecordedAt()
        && step.getKind() != StepKind.STEP_KIND_CHILD_WORKFLOW
        && (step.hasOutput() || step.hasFinalFailure());
  }

  private static boolean isDecided(RecordedStep step) {
    return step.hasOutput()
        || step.hasFinalFailure()
        || (step.hasOpen() && step.getKind() == StepKind.STEP_KIND_CHILD_WORKFLOW);
  }

  private static Instant recordedAt(RecordedStep step) {
    return ProtoMapper.instant(step.getRecordedAt());
  }
}
