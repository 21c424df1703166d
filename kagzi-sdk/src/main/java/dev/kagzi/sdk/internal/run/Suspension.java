package dev.kagzi.sdk.internal.run;

import dev.kagzi.protocol.v1.RecordedStep;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;

/**
 * What a workflow thread waits for: a time, or the ends of children. Guarded by the lock of the
 * execution state.
 */
final class Suspension {
  private final boolean timed;
  private final long untilNanos;
  private final Set<String> missing = new LinkedHashSet<>();
  private final Map<String, RecordedStep> come = new LinkedHashMap<>();

  private Suspension(boolean timed, long untilNanos) {
    this.timed = timed;
    this.untilNanos = untilNanos;
  }

  static Suspension until(long nanos) {
    return new Suspension(true, nanos);
  }

  static Suspension forSteps(Collection<String> keys) {
    Suspension wait = new Suspension(false, 0);
    wait.missing.addAll(keys);
    return wait;
  }

  boolean isTimed() {
    return timed;
  }

  long leftNanos(long nowNanos) {
    return untilNanos - nowNanos;
  }

  Set<String> missing() {
    return missing;
  }

  Map<String, RecordedStep> come() {
    return come;
  }

  void came(RecordedStep step) {
    if (missing.remove(step.getStepKey())) {
      come.put(step.getStepKey(), step);
    }
  }

  boolean isOver(long nowNanos) {
    return timed ? leftNanos(nowNanos) <= 0 : missing.isEmpty();
  }

  /** Parks the thread until its time, or until another thread unparks it. */
  void rest(long nowNanos) {
    if (timed) {
      LockSupport.parkNanos(this, Math.max(1, leftNanos(nowNanos)));
    } else {
      LockSupport.park(this);
    }
  }
}
