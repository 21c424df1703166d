package dev.kagzi.sdk.internal.wire;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.ForwardingClientCallListener.SimpleForwardingClientCallListener;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Ends calls that no server answers in time; they fail as CANCELLED. A deadline of gRPC's own would
 * be exact to the millisecond and set a timer on both sides for every call, which the shortest runs
 * feel; here one look a second serves all calls, and none is made while no call is under way.
 * Thread-safe.
 */
final class CallWatch implements ClientInterceptor {
  static final CallOptions.Key<Long> ANSWER_MS = CallOptions.Key.create("kagzi-answer-ms");

  /** Runs a task after a delay in milliseconds. */
  interface Timer {
    void after(long delayMs, Runnable task);
  }

  private static final long LOOK_MS = 1_000;

  private final Timer timer;
  private final Set<Watched<?, ?>> underWay = ConcurrentHashMap.newKeySet();
  private final AtomicBoolean looks = new AtomicBoolean();

  CallWatch(Timer timer) {
    this.timer = timer;
  }

  @Override
  public <Q, A> ClientCall<Q, A> interceptCall(
      MethodDescriptor<Q, A> method, CallOptions options, Channel next) {
    ClientCall<Q, A> call = next.newCall(method, options);
    Long answerMs = options.getOption(ANSWER_MS);
    return answerMs == null ? call : new Watched<>(call, answerMs);
  }

  private final class Watched<Q, A> extends SimpleForwardingClientCall<Q, A> {
    private final long answerMs;
    private final long startNanos = System.nanoTime();

    Watched(ClientCall<Q, A> call, long answerMs) {
      super(call);
      this.answerMs = answerMs;
    }

    @Override
    public void start(Listener<A> listener, Metadata headers) {
      underWay.add(this);
      lookLater();
      super.start(
          new SimpleForwardingClientCallListener<A>(listener) {
            @Override
            public void onClose(Status status, Metadata trailers) {
              underWay.remove(Watched.this);
              super.onClose(status, trailers);
            }
          },
          headers);
    }

    @Override
    public void cancel(@Nullable String message, @Nullable Throwable cause) {
      underWay.remove(this);
      super.cancel(message, cause);
    }

    void endIfOverdue(long nowNanos) {
      if (nowNanos - startNanos >= answerMs * 1_000_000) {
        cancel("no answer within " + answerMs + " ms", null);
      }
    }
  }

  private void lookLater() {
    if (!looks.get() && looks.compareAndSet(false, true)) {
      timer.after(LOOK_MS, this::look);
    }
  }

  private void look() {
    long now = System.nanoTime();
    underWay.forEach(call -> call.endIfOverdue(now));
    looks.set(false);
    // A call that came before the flag fell did not ask for the next look.
    if (!underWay.isEmpty()) {
      lookLater();
    }
  }
}
