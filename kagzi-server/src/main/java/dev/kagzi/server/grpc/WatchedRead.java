package dev.kagzi.server.grpc;

import dev.kagzi.engine.value.Refusal;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A call that waits for an event, up to a time limit, and then responds with what it reads from the
 * database. It ends once: with the response, with an error, when the caller cancels, or when the
 * server stops.
 */
final class WatchedRead<M> implements OpenCalls.OpenCall {
  private final GrpcContext context;
  private final String name;
  private final ServerCallStreamObserver<M> caller;
  private final Supplier<M> read;
  private final AtomicBoolean ended = new AtomicBoolean();
  private volatile @Nullable Runnable unsubscribe;
  private volatile @Nullable ScheduledFuture<?> limit;

  /**
   * @param name used in the name of the thread that reads
   * @param read makes the response; it may block
   */
  WatchedRead(GrpcContext context, String name, StreamObserver<M> caller, Supplier<M> read) {
    this.context = context;
    this.name = name;
    this.caller = UnaryResponses.stream(caller);
    this.read = read;
  }

  /**
   * Waits until {@link #respond} or {@link #end} is called, at most for {@code waitMs}.
   *
   * @param subscribe subscribes this call to its event; returns how to unsubscribe
   */
  void open(long waitMs, Function<WatchedRead<M>, Runnable> subscribe) {
    caller.setOnCancelHandler(this::finish);
    context.calls().add(this);
    if (ended.get()) {
      return;
    }
    if (waitMs == 0) {
      respond();
      return;
    }
    try {
      unsubscribe = subscribe.apply(this);
      limit = context.timer().schedule(this::respond, waitMs, TimeUnit.MILLISECONDS);
    } catch (RuntimeException e) {
      if (finish()) {
        caller.onError(GrpcErrors.of(e));
      }
    }
    // The event may have come before the fields were set.
    if (ended.get()) {
      release();
    }
  }

  void respond() {
    if (!finish()) {
      return;
    }
    try {
      context.blocking().run(name, () -> UnaryResponses.send(caller, read));
    } catch (Refusal full) {
      caller.onError(GrpcErrors.of(full));
    }
  }

  @Override
  public void end(Refusal why) {
    if (finish()) {
      caller.onError(GrpcErrors.of(why));
    }
  }

  private boolean finish() {
    if (!ended.compareAndSet(false, true)) {
      return false;
    }
    context.calls().remove(this);
    release();
    return true;
  }

  private void release() {
    Runnable subscription = unsubscribe;
    if (subscription != null) {
      subscription.run();
    }
    ScheduledFuture<?> scheduled = limit;
    if (scheduled != null) {
      scheduled.cancel(false);
    }
  }
}
