package dev.kagzi.engine.internal.dispatch;

import org.jspecify.annotations.Nullable;

/**
 * When the next run is due.
 *
 * @param dueMs milliseconds until then, zero or less if a run is due now; null if there is none
 */
record NextDue(@Nullable Long dueMs, long nowUs) {
  boolean isDue() {
    return dueMs != null && dueMs <= 0;
  }

  /** The due time of that run, rounded down, in microseconds since 1970. */
  long atUs() {
    return dueMs == null ? Long.MAX_VALUE : nowUs + (dueMs - 1) * 1_000;
  }
}
