package dev.kagzi.sdk.internal.run;

import dev.kagzi.protocol.v1.Task;
import java.util.concurrent.TimeUnit;

/**
 * Until when a run may take. The task says how much is left, by the database's clock; here it
 * counts from the task's arrival, and so never ends before the server's.
 */
record Deadline(long fromNanos, long leftNanos) {
  /** For ever. */
  private static final long NONE = Long.MAX_VALUE;

  static Deadline of(Task task) {
    return new Deadline(
        System.nanoTime(),
        task.hasDeadlineInMs() ? TimeUnit.MILLISECONDS.toNanos(task.getDeadlineInMs()) : NONE);
  }

  boolean isPast(long nowNanos) {
    return leftNanos != NONE && nowNanos - fromNanos >= leftNanos;
  }
}
