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
 * A worker's call that waits for tasks. It ends once: with tasks or without, with an error, when
 * the caller cancels, or when the server stops. In the last two cases the poll is cancelled in the
 * engine. Tasks that still arrive are released, so that they are not held by a worker that never
 * received them. Tasks are also released if the response was not sent completely: the call was
 * cancelled or its deadline passed, or the connection broke.
 */
final class LongPoll<M> implements OpenCalls.OpenCall {
  private static final long MARGIN_MS_MIN = 50;
  private static final long MARGIN_MS_MAX = 1_000;

  private final GrpcContext context;
  private final ServerCallStreamObserver<M> caller;
  private final Function<List<Task>, M> reply;
  private final Consumer<List<Task>> giveBack;
  private final AtomicBoolean ended = new AtomicBoolean();

  /** Tasks whose response is not sent yet. The thread that releases them removes them from here. */
  private final AtomicReference<@Nullable List<Task>> unsent = new AtomicReference<>();

  private volatile @Nullable Poll poll;

  private LongPoll(
      GrpcContext context,
      StreamObserver<M> caller,
      Function<List<Task>, M> reply,
      Consumer<List<Task>> giveBack) {
    this.context = context;
    this.caller = UnaryResponses.stream(caller);
    this.reply = reply;
    this.giveBack = giveBack;
  }

  static <M> void open(
      GrpcContext context,
      StreamObserver<M> caller,
      Supplier<Poll> start,
      Function<List<Task>, M> reply,
      Consumer<List<Task>> giveBack) {
    LongPoll<M> call = new LongPoll<>(context, caller, reply, giveBack);
    call.caller.setOnCancelHandler(call::cancelled);
    call.caller.setOnCloseHandler(() -> call.unsent.set(null));
    context.calls().add(call);
    if (!call.ended.get()) {
      call.begin(start);
    }
  }

  /**
   * Returns how long the current call may wait: as requested (0: the maximum), but short enough
   * that the response arrives before the caller's deadline.
   */
  static long waitMs(long requestedMs) {
    Deadline deadline = Context.current().getDeadline();
    if (deadline == null) {
      return requestedMs;
    }
    long leftMs = deadline.timeRemaining(TimeUnit.MILLISECONDS);
    long marginMs = Math.clamp(leftMs / 10, MARGIN_MS_MIN, MARGIN_MS_MAX);
    long limitMs = Math.max(1, leftMs - marginMs);
    return requestedMs == 0 ? limitMs : Math.min(requestedMs, limitMs);
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
      UnaryResponses.writer(tasks.size(), context.senders()).execute(() -> send(tasks));
    } else {
      giveBackUnsent();
    }
  }

  private void send(List<Task> tasks) {
    try {
      // Throws if memory has no room for the response.
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

  private void cancelled() {
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
    context.calls().remove(this);
    return true;
  }

  private void cancel() {
    Poll begun = poll;
    if (begun != null) {
      begun.cancel();
    }
  }
}
