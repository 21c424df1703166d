package dev.kagzi.engine.dispatch;

import java.util.List;
import java.util.concurrent.CompletableFuture;

/** A worker's open poll. */
public interface Poll {
  /** Completes with tasks, or with an empty list when the wait time is over. */
  CompletableFuture<List<Task>> tasks();

  /** Ends the poll because its caller is gone. Its tasks are given to other workers. */
  void cancel();
}
