package dev.kagzi.sdk.internal.wire;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ForwardingClientCall;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.ForwardingClientCallListener.SimpleForwardingClientCallListener;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Ends a call if an interceptor of the application throws. Otherwise the exception would reach a
 * timer, which would then not run again, or the caller would wait for an answer for ever.
 *
 * <p>{@link #OUTER} surrounds the application's interceptors, and catches what they throw while a
 * call is made. {@link #INNER} is behind them, and catches what their listeners throw: without it,
 * a listener that throws in {@code onClose} would hide the end of the call.
 */
final class InterceptorGuard {
  private static final CallOptions.Key<GuardedCall<?, ?>> GUARDED =
      CallOptions.Key.create("kagzi-guarded-call");

  static final ClientInterceptor OUTER =
      new ClientInterceptor() {
        @Override
        public <Q, A> ClientCall<Q, A> interceptCall(
            MethodDescriptor<Q, A> method, CallOptions options, Channel next) {
          return new GuardedCall<>(method, options, next);
        }
      };

  static final ClientInterceptor INNER =
      new ClientInterceptor() {
        @Override
        public <Q, A> ClientCall<Q, A> interceptCall(
            MethodDescriptor<Q, A> method, CallOptions options, Channel next) {
          ClientCall<Q, A> call = next.newCall(method, options);
          GuardedCall<?, ?> guarded = options.getOption(GUARDED);
          return guarded == null ? call : new InnerCall<>(call, guarded);
        }
      };

  private InterceptorGuard() {}

  private static Status status(Throwable thrown) {
    Status status = Status.fromThrowable(thrown);
    // Without the message of the exception: reading it calls code of the application.
    return status.getDescription() == null
        ? status.withDescription("a gRPC interceptor threw " + thrown.getClass().getName())
        : status;
  }

  private static Metadata trailers(Throwable thrown) {
    Metadata trailers = Status.trailersFromThrowable(thrown);
    return trailers == null ? new Metadata() : trailers;
  }

  private static final class GuardedCall<Q, A> extends ForwardingClientCall<Q, A> {
    private final ClientCall<Q, A> call;
    private volatile @Nullable EndedOnce<A> listener;

    GuardedCall(MethodDescriptor<Q, A> method, CallOptions options, Channel next) {
      this.call = create(method, options.withOption(GUARDED, this), next);
    }

    private static <Q, A> ClientCall<Q, A> create(
        MethodDescriptor<Q, A> method, CallOptions options, Channel next) {
      try {
        return next.newCall(method, options);
      } catch (Throwable e) {
        return new FailedCall<>(e);
      }
    }

    @Override
    protected ClientCall<Q, A> delegate() {
      return call;
    }

    @Override
    public void start(Listener<A> responses, Metadata headers) {
      EndedOnce<A> once = new EndedOnce<>(responses);
      listener = once;
      guard(() -> call.start(once, headers));
    }

    @Override
    public void request(int messages) {
      guard(() -> call.request(messages));
    }

    @Override
    public void sendMessage(Q message) {
      guard(() -> call.sendMessage(message));
    }

    @Override
    public void halfClose() {
      guard(call::halfClose);
    }

    @Override
    public void cancel(@Nullable String message, @Nullable Throwable cause) {
      guard(() -> call.cancel(message, cause));
    }

    private void guard(Runnable code) {
      try {
        code.run();
      } catch (Throwable e) {
        boolean unused = end(e);
      }
    }

    /** Ends the call with this exception; returns false if it has ended. */
    boolean end(Throwable thrown) {
      EndedOnce<A> started = listener;
      if (started == null || !started.tryEnd()) {
        return false;
      }
      // The listener ignores the end that the cancel causes, and an exception of the cancel.
      cancel("a gRPC interceptor threw an exception", thrown);
      started.afterEnd(status(thrown), trailers(thrown));
      return true;
    }
  }

  /** Passes on one end of a call, and nothing after it. */
  private static final class EndedOnce<A> extends SimpleForwardingClientCallListener<A> {
    private final AtomicBoolean ended = new AtomicBoolean();

    EndedOnce(ClientCall.Listener<A> responses) {
      super(responses);
    }

    boolean tryEnd() {
      return ended.compareAndSet(false, true);
    }

    void afterEnd(Status status, Metadata trailers) {
      super.onClose(status, trailers);
    }

    @Override
    public void onHeaders(Metadata headers) {
      if (!ended.get()) {
        super.onHeaders(headers);
      }
    }

    @Override
    public void onMessage(A message) {
      if (!ended.get()) {
        super.onMessage(message);
      }
    }

    @Override
    public void onReady() {
      if (!ended.get()) {
        super.onReady();
      }
    }

    @Override
    public void onClose(Status status, Metadata trailers) {
      if (tryEnd()) {
        super.onClose(status, trailers);
      }
    }
  }

  private static final class InnerCall<Q, A> extends SimpleForwardingClientCall<Q, A> {
    private final GuardedCall<?, ?> guarded;

    InnerCall(ClientCall<Q, A> call, GuardedCall<?, ?> guarded) {
      super(call);
      this.guarded = guarded;
    }

    @Override
    public void start(Listener<A> responses, Metadata headers) {
      super.start(new InnerListener<>(responses, guarded), headers);
    }
  }

  private static final class InnerListener<A> extends SimpleForwardingClientCallListener<A> {
    private final GuardedCall<?, ?> guarded;

    InnerListener(ClientCall.Listener<A> responses, GuardedCall<?, ?> guarded) {
      super(responses);
      this.guarded = guarded;
    }

    @Override
    public void onHeaders(Metadata headers) {
      guard(() -> super.onHeaders(headers));
    }

    @Override
    public void onMessage(A message) {
      guard(() -> super.onMessage(message));
    }

    @Override
    public void onReady() {
      guard(super::onReady);
    }

    @Override
    public void onClose(Status status, Metadata trailers) {
      guard(() -> super.onClose(status, trailers));
    }

    private void guard(Runnable code) {
      try {
        code.run();
      } catch (Throwable e) {
        if (!guarded.end(e)) {
          throw e;
        }
      }
    }
  }

  /** A call that an interceptor did not create. */
  private static final class FailedCall<Q, A> extends ClientCall<Q, A> {
    private final Throwable thrown;

    FailedCall(Throwable thrown) {
      this.thrown = thrown;
    }

    @Override
    public void start(Listener<A> responses, Metadata headers) {
      responses.onClose(status(thrown), trailers(thrown));
    }

    @Override
    public void request(int messages) {}

    @Override
    public void cancel(@Nullable String message, @Nullable Throwable cause) {}

    @Override
    public void halfClose() {}

    @Override
    public void sendMessage(Q message) {}
  }
}
