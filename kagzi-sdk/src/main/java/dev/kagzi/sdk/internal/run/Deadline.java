package dev.kagzi.sdk.internal.run;

import dev.kagzi.protocol.v1.Task;
import java.util.concurrent.TimeUnit;

/**
 * The deadline of a run. The task contains the remaining time by the database's clock. It counts
 * from the task's arrival, so it never passes before the server's deadline.
 */
record Deadline(long fromNanos, long leftNanos) {
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
