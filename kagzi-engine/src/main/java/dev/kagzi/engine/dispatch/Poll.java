package dev.kagzi.engine.dispatch;

import java.util.List;
import java.util.concurrent.CompletableFuture;

/** A worker's wish for work while it is open. */
public interface Poll {
  /** Completes with tasks, or with none when the wait is over. */
  CompletableFuture<List<Task>> tasks();

  /** The caller has gone: what would have been its tasks goes to others. */
  void cancel();
}
