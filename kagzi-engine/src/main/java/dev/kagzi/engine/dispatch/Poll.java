package dev.kagzi.engine.dispatch;

import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * A worker's open poll.
 *
 * @param tasks completes with tasks, or with an empty list when the wait time is over
 * @param onCancel executed by {@link #cancel}
 */
public record Poll(CompletableFuture<List<Task>> tasks, Runnable onCancel) {
  /** Ends the poll because its caller is gone. Its tasks are given to other workers. */
  public void cancel() {
    onCancel.run();
  }
}
