package dev.kagzi.engine.dispatch;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/** A poll that stands in a gate. Its state is guarded by the gate's lock. */
final class WaitingPoll implements Poll {
  private final TaskQueue gate;
  final PollRequest request;
  private final CompletableFuture<List<Task>> tasks = new CompletableFuture<>();
  @Nullable Future<?> timeout;

  WaitingPoll(TaskQueue gate, PollRequest request) {
    this.gate = gate;
    this.request = request;
  }

  @Override
  public CompletableFuture<List<Task>> tasks() {
    return tasks;
  }

  @Override
  public void cancel() {
    gate.leave(this, false);
  }

  /** Called outside of the gate's lock. */
  void complete(List<Task> answer) {
    if (timeout != null) {
      timeout.cancel(false);
    }
    tasks.complete(answer);
  }
}
