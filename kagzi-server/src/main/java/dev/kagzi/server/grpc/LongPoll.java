package dev.kagzi.server.grpc;

import dev.kagzi.engine.task.Poll;
import dev.kagzi.engine.task.Task;
import dev.kagzi.engine.value.Refusal;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A worker's call that waits for tasks. It ends once: with tasks, with the caller's going, or with
 * the server's stop. In the latter two the engine hears of it, and tasks that come all the same are
 * given back, so that they do not lie with a worker that will never know of them.
 */
final class LongPoll<M> implements OpenCalls.OpenCall {
  private final EdgeRoom room;
  private final ServerCallStreamObserver<M> caller;
  private final Function<List<Task>, M> reply;
  private final Consumer<List<Task>> giveBack;
  private final AtomicBoolean ended = new AtomicBoolean();
  private volatile @Nullable Poll poll;

  private LongPoll(
      EdgeRoom room,
      StreamObserver<M> caller,
      Function<List<Task>, M> reply,
      Consumer<List<Task>> giveBack) {
    this.room = room;
    this.caller = Calls.stream(caller);
    this.reply = reply;
    this.giveBack = giveBack;
  }

  static <M> void open(
      EdgeRoom room,
      StreamObserver<M> caller,
      Supplier<Poll> start,
      Function<List<Task>, M> reply,
      Consumer<List<Task>> giveBack) {
    LongPoll<M> call = new LongPoll<>(room, caller, reply, giveBack);
    call.caller.setOnCancelHandler(call::gone);
    room.calls().add(call);
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
    }
    begun.tasks().whenComplete(this::deliver);
  }

  private void deliver(List<Task> tasks, @Nullable Throwable problem) {
    boolean first = finish();
    if (problem != null) {
      if (first) {
        caller.onError(Errors.of(problem));
      }
    } else if (first && !caller.isCancelled()) {
      Calls.writer(tasks.size(), room.senders())
          .execute(() -> Calls.send(caller, () -> reply.apply(tasks)));
    } else if (!tasks.isEmpty()) {
      giveBack.accept(tasks);
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
    room.calls().remove(this);
    return true;
  }

  private void cancel() {
    Poll begun = poll;
    if (begun != null) {
      begun.cancel();
    }
  }
}
