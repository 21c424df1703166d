package dev.kagzi.engine.internal.dispatch;

import dev.kagzi.engine.dispatch.PollRequest;
import dev.kagzi.engine.dispatch.Task;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * A poll that waits in a {@link TaskQueue}.
 *
 * @param tasks not completed under the queue's lock: this executes the code that waits for them
 */
record WaitingPoll(PollRequest request, CompletableFuture<List<Task>> tasks) {
  WaitingPoll(PollRequest request) {
    this(request, new CompletableFuture<>());
  }
}
