package dev.kagzi.server.grpc;

import dev.kagzi.engine.dispatch.Poll;
import dev.kagzi.engine.dispatch.Task;
import dev.kagzi.engine.value.Refusal;
import io.grpc.Context;
import io.grpc.Deadline;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A worker's call that waits for tasks. It ends once: with tasks, with the caller's going, or with
 * the server's stop. In the latter two the engine hears of it, and tasks that come all the same are
 * given back, so that they do not lie with a worker that will never know of them. So are tasks
 * whose answer could not be sent to its end: the call was cancelled, over its deadline, or its
 * connection broke.
 */
final class LongPoll<M> implements OpenCalls.OpenCall {
  private static final long MARGIN_MS_MIN = 50;
  private static final long MARGIN_MS_MAX = 1_000;

  private final GrpcContext room;
  private final ServerCallStreamObserver<M> caller;
  private final Function<List<Task>, M> reply;
  private final Consumer<List<Task>> giveBack;
  private final AtomicBoolean ended = new AtomicBoolean();

  /** Tasks that are on their way to the caller; taken by who gives them back. */
  private final AtomicReference<@Nullable List<Task>> unsent = new AtomicReference<>();

  private volatile @Nullable Poll poll;

  private LongPoll(
      GrpcContext room,
      StreamObserver<M> caller,
      Function<List<Task>, M> reply,
      Consumer<List<Task>> giveBack) {
    this.room = room;
    this.caller = UnaryResponses.stream(caller);
    this.reply = reply;
    this.giveBack = giveBack;
  }

  static <M> void open(
      GrpcContext room,
      StreamObserver<M> caller,
      Supplier<Poll> start,
      Function<List<Task>, M> reply,
      Consumer<List<Task>> giveBack) {
    LongPoll<M> call = new LongPoll<>(room, caller, reply, giveBack);
    call.caller.setOnCancelHandler(call::gone);
    call.caller.setOnCloseHandler(() -> call.unsent.set(null));
    room.calls().add(call);
    if (!call.ended.get()) {
      call.begin(start);
    }
  }

  /**
   * How long the present call may wait: as long as it asks for (0: as long as it may), but so that
   * its answer arrives before the caller's deadline.
   */
  static long waitMs(long askedMs) {
    Deadline deadline = Context.current().getDeadline();
    if (deadline == null) {
      return askedMs;
    }
    long leftMs = deadline.timeRemaining(TimeUnit.MILLISECONDS);
    long marginMs = Math.clamp(leftMs / 10, MARGIN_MS_MIN, MARGIN_MS_MAX);
    long mostMs = Math.max(1, leftMs - marginMs);
    return askedMs == 0 ? mostMs : Math.min(askedMs, mostMs);
  }

  private void begin(Supplier<Poll> start) {
    Poll begun;
    try {
      begun = start.get();
    } catch (RuntimeException e) {
      if (finish()) {
        caller.onError(GrpcErrors.of(e));
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
    if (problem != null) {
      if (finish()) {
        caller.onError(GrpcErrors.of(problem));
      }
      return;
    }
    unsent.set(tasks);
    if (finish() && !caller.isCancelled()) {
      UnaryResponses.writer(tasks.size(), room.senders()).execute(() -> send(tasks));
    } else {
      giveBackUnsent();
    }
  }

  private void send(List<Task> tasks) {
    try {
      // Fails when memory has no room for the answer.
      caller.onNext(reply.apply(tasks));
    } catch (RuntimeException e) {
      giveBackUnsent();
      caller.onError(GrpcErrors.of(e));
      return;
    }
    caller.onCompleted();
  }

  private void giveBackUnsent() {
    List<Task> tasks = unsent.getAndSet(null);
    if (tasks != null && !tasks.isEmpty()) {
      giveBack.accept(tasks);
    }
  }

  private void gone() {
    if (finish()) {
      cancel();
    }
    giveBackUnsent();
  }

  @Override
  public void end(Refusal why) {
    if (finish()) {
      cancel();
      caller.onError(GrpcErrors.of(why));
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
