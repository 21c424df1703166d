package dev.kagzi.engine.internal.dispatch;

import dev.kagzi.engine.dispatch.PollRequest;
import dev.kagzi.engine.dispatch.Task;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * A poll that waits in a {@link TaskQueue}.
 *
 * @param tasks must not be completed while the queue's lock is held, because that runs the
 *     callbacks of the caller
 */
record WaitingPoll(PollRequest request, CompletableFuture<List<Task>> tasks) {
  WaitingPoll(PollRequest request) {
    this(request, new CompletableFuture<>());
  }
}
