package dev.kagzi.engine.internal.dispatch;

import dev.kagzi.engine.dispatch.PollRequest;
import dev.kagzi.engine.value.QueueName;
import java.util.List;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * When the next run is due.
 *
 * @param dueMs milliseconds until then, zero or less if a run is due now; null if there is none
 */
record NextDue(@Nullable Long dueMs, long nowUs) {
  /**
   * Runs of one queue, by type and due time.
   *
   * @param types with exact versions
   * @param lowUs for each type, the first due time
   * @param highUs for each type, the due time after the last one
   */
  record Search(
      QueueName queue,
      List<PollRequest.Wanted> types,
      ToLongFunction<PollRequest.Wanted> lowUs,
      ToLongFunction<PollRequest.Wanted> highUs) {}

  boolean isDue() {
    return dueMs != null && dueMs <= 0;
  }

  /** The due time of that run, rounded down, in microseconds since 1970. */
  long atUs() {
    return dueMs == null ? Long.MAX_VALUE : nowUs + (dueMs - 1) * 1_000;
  }
}
