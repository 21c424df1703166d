package dev.kagzi.engine.dispatch;

import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * A worker's open poll.
 *
 * @param tasks completes with tasks; with an empty list when the wait time is over, the poll is
 *     cancelled, or the worker or the server stops; or with a {@link
 *     dev.kagzi.engine.value.Refusal}
 * @param onCancel executed by {@link #cancel}
 */
public record Poll(CompletableFuture<List<Task>> tasks, Runnable onCancel) {
  /**
   * Ends the poll because its caller is gone. Tasks that were claimed for its worker and not sent
   * yet may be released.
   */
  public void cancel() {
    onCancel.run();
  }
}
