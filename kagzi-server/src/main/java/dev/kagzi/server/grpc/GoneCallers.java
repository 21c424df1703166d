package dev.kagzi.server.grpc;

import io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import java.util.concurrent.RejectedExecutionException;

/**
 * Drops responses to callers that are gone: the call is cancelled, or the server has stopped and
 * closed the connection. Otherwise gRPC would queue the response for a closed stream, or, if the
 * event loop has ended, throw in the responding thread. Thread-safe.
 */
final class GoneCallers implements ServerInterceptor {
  private volatile boolean stopped;

  /** Treats every caller as gone from now on. Call before the event loops end. */
  void stop() {
    stopped = true;
  }

  @Override
  public <Q, A> ServerCall.Listener<Q> interceptCall(
      ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
    return next.startCall(new Guarded<>(call), headers);
  }

  private final class Guarded<Q, A> extends SimpleForwardingServerCall<Q, A> {
    Guarded(ServerCall<Q, A> call) {
      super(call);
    }

    @Override
    public void sendHeaders(Metadata headers) {
      send(() -> super.sendHeaders(headers));
    }

    @Override
    public void sendMessage(A message) {
      send(() -> super.sendMessage(message));
    }

    // Do not send the status either. After a dropped message, gRPC would log an internal error: a
    // unary call that closes without a response.
    @Override
    public void close(Status status, Metadata trailers) {
      send(() -> super.close(status, trailers));
    }

    private void send(Runnable write) {
      if (stopped || isCancelled()) {
        return;
      }
      try {
        write.run();
      } catch (RejectedExecutionException loopEnded) {
        // The connection has ended with its event loop.
      }
    }
  }
}
