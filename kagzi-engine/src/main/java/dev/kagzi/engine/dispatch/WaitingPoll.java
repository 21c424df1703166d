package dev.kagzi.engine.dispatch;

import java.util.List;
import java.util.concurrent.CompletableFuture;

/** A poll that waits in a {@link TaskQueue}. */
final class WaitingPoll {
  private final PollRequest request;
  private final CompletableFuture<List<Task>> tasks = new CompletableFuture<>();

  WaitingPoll(PollRequest request) {
    this.request = request;
  }

  PollRequest request() {
    return request;
  }

  CompletableFuture<List<Task>> tasks() {
    return tasks;
  }

  /** Not called under the queue's lock: this executes the code that waits for the tasks. */
  void complete(List<Task> answer) {
    tasks.complete(answer);
  }
}
