package dev.kagzi.server.grpc;

import dev.kagzi.engine.task.Poll;
import dev.kagzi.engine.task.Task;
import dev.kagzi.engine.value.Refusal;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A worker's call that waits for tasks. It ends once: with tasks, with the caller's going, or with
 * the server's stop; in the latter two the engine hears that whatever it claimed for the poll goes
 * to others.
 */
final class LongPoll<M> implements OpenCalls.OpenCall {
  private final OpenCalls calls;
  private final ServerCallStreamObserver<M> caller;
  private final Function<List<Task>, M> reply;
  private final AtomicBoolean ended = new AtomicBoolean();
  private volatile @Nullable Poll poll;

  private LongPoll(OpenCalls calls, StreamObserver<M> caller, Function<List<Task>, M> reply) {
    this.calls = calls;
    this.caller = Calls.stream(caller);
    this.reply = reply;
  }

  static <M> void open(
      OpenCalls calls,
      StreamObserver<M> caller,
      Supplier<Poll> start,
      Function<List<Task>, M> reply) {
    LongPoll<M> call = new LongPoll<>(calls, caller, reply);
    call.caller.setOnCancelHandler(call::gone);
    calls.add(call);
    if (!call.ended.get()) {
      call.begin(start);
    }
  }

  private void begin(Supplier<Poll> start) {
    Poll begun;
    try {
      begun = start.get();
    } catch (RuntimeException e) {
      if (finish()) {
        caller.onError(Errors.of(e));
      }
      return;
    }
    poll = begun;
    if (ended.get()) {
      begun.cancel();
      return;
    }
    begun.tasks().whenComplete((tasks, problem) -> deliver(begun, tasks, problem));
  }

  private void deliver(Poll begun, List<Task> tasks, @Nullable Throwable problem) {
    if (!finish()) {
      begun.cancel();
    } else if (problem != null) {
      caller.onError(Errors.of(problem));
    } else if (caller.isCancelled()) {
      begun.cancel();
    } else {
      Calls.send(caller, () -> reply.apply(tasks));
    }
  }

  private void gone() {
    if (finish()) {
      cancel();
    }
  }

  @Override
  public void end(Refusal why) {
    if (finish()) {
      cancel();
      caller.onError(Errors.of(why));
    }
  }

  private boolean finish() {
    if (!ended.compareAndSet(false, true)) {
      return false;
    }
    calls.remove(this);
    return true;
  }

  private void cancel() {
    Poll begun = poll;
    if (begun != null) {
      begun.cancel();
    }
  }
}
