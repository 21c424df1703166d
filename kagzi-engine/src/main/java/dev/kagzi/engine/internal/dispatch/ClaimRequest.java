package dev.kagzi.engine.internal.dispatch;

import java.util.List;

/**
 * Work for {@link ClaimLoop}.
 *
 * @param queues one queue; a fallback may have several
 * @param isFallback true to check for due runs that no event announced, without claiming them
 */
record ClaimRequest(List<TaskQueue> queues, boolean isFallback) {
  static ClaimRequest ofRound(TaskQueue queue) {
    return new ClaimRequest(List.of(queue), false);
  }

  static ClaimRequest ofFallback(List<TaskQueue> queues) {
    return new ClaimRequest(queues, true);
  }
}
