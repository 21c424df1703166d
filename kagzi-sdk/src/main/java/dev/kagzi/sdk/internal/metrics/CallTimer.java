package dev.kagzi.sdk.internal.metrics;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.ForwardingClientCallListener.SimpleForwardingClientCallListener;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;

/** Measures every call to the server, from its start to its end. Thread-safe. */
final class CallTimer implements ClientInterceptor {
  private final ClientMetrics metrics;

  CallTimer(ClientMetrics metrics) {
    this.metrics = metrics;
  }

  @Override
  public <Q, A> ClientCall<Q, A> interceptCall(
      MethodDescriptor<Q, A> method, CallOptions options, Channel next) {
    return new SimpleForwardingClientCall<>(next.newCall(method, options)) {
      @Override
      public void start(Listener<A> listener, Metadata headers) {
        super.start(new Measured<>(listener, method.getFullMethodName()), headers);
      }
    };
  }

  private final class Measured<A> extends SimpleForwardingClientCallListener<A> {
    private final String method;
    private final long beganNanos = System.nanoTime();

    Measured(ClientCall.Listener<A> listener, String method) {
      super(listener);
      this.method = method;
    }

    @Override
    public void onClose(Status status, Metadata trailers) {
      try {
        metrics.callEnded(method, status.getCode(), System.nanoTime() - beganNanos);
      } finally {
        // Without this call, the caller would wait for ever.
        super.onClose(status, trailers);
      }
    }
  }
}
