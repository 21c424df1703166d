package dev.kagzi.sdk.internal.run;

import dev.kagzi.protocol.v1.RecordedStep;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;

/** What a workflow thread waits for: a time, steps, or both. Guarded by the state's lock. */
final class Suspension {
  private final boolean timed;
  private final boolean endedByCancel;
  private final boolean forSteps;
  private final long untilNanos;
  private final Set<String> openKeys = new LinkedHashSet<>();
  private final Map<String, RecordedStep> results = new LinkedHashMap<>();

  private Suspension(boolean timed, long untilNanos, Collection<String> keys) {
    this(timed, untilNanos, keys, false);
  }

  private Suspension(
      boolean timed, long untilNanos, Collection<String> keys, boolean endedByCancel) {
    this.timed = timed;
    this.endedByCancel = endedByCancel;
    this.untilNanos = untilNanos;
    this.forSteps = !keys.isEmpty();
    this.openKeys.addAll(keys);
  }

  static Suspension until(long nanos) {
    return new Suspension(true, nanos, List.of());
  }

  static Suspension untilOrCancel(long nanos) {
    return new Suspension(true, nanos, List.of(), true);
  }

  static Suspension forSteps(Collection<String> keys) {
    return new Suspension(false, 0, keys);
  }

  static Suspension forStep(String key) {
    return new Suspension(false, 0, List.of(key));
  }

  /** Ends when the step ends, or at the time. */
  static Suspension forStep(String key, long untilNanos) {
    return new Suspension(true, untilNanos, List.of(key));
  }

  /** Whether a cancel of the run ends the wait without an exception. */
  boolean isEndedByCancel() {
    return endedByCancel;
  }

  boolean isForSteps() {
    return forSteps;
  }

  boolean isTimed() {
    return timed;
  }

  long remainingNanos(long nowNanos) {
    return untilNanos - nowNanos;
  }

  Set<String> openKeys() {
    return openKeys;
  }

  Map<String, RecordedStep> results() {
    return results;
  }

  void complete(RecordedStep step) {
    if (openKeys.remove(step.getStepKey())) {
      results.put(step.getStepKey(), step);
    }
  }

  boolean isOver(long nowNanos) {
    return (forSteps && openKeys.isEmpty()) || (timed && remainingNanos(nowNanos) <= 0);
  }

  /** Parks the thread until its time, or until another thread unparks it. */
  void park(long nowNanos) {
    if (timed) {
      LockSupport.parkNanos(this, Math.max(1, remainingNanos(nowNanos)));
    } else {
      LockSupport.park(this);
    }
  }
}
