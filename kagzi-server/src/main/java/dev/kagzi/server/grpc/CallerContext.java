package dev.kagzi.server.grpc;

import dev.kagzi.engine.run.Caller;
import dev.kagzi.engine.value.WorkerId;
import dev.kagzi.protocol.v1.WorkerServiceGrpc;
import io.grpc.Attributes;
import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.Metadata;
import io.grpc.ServerBuilder;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerTransportFilter;
import org.jspecify.annotations.Nullable;

/**
 * Identifies the worker that makes a call: by the header {@code kagzi-worker-id}, if sent, and by
 * the workers that use the same connection. A handler must read these on the thread that gRPC calls
 * it on, because they are in the gRPC context.
 */
final class CallerContext implements ServerInterceptor {
  private static final Metadata.Key<String> WORKER_ID =
      Metadata.Key.of("kagzi-worker-id", Metadata.ASCII_STRING_MARSHALLER);
  private static final Attributes.Key<ConnectionWorkers> CONNECTION =
      Attributes.Key.create("kagzi-connection-workers");
  private static final Context.Key<ConnectionWorkers> WORKERS =
      Context.key("kagzi-connection-workers");
  private static final Context.Key<String> HEADER_VALUE = Context.key("kagzi-worker-id");

  private CallerContext() {}

  static void add(ServerBuilder<?> server) {
    server.addTransportFilter(
        new ServerTransportFilter() {
          @Override
          public Attributes transportReady(Attributes transport) {
            return transport.toBuilder().set(CONNECTION, new ConnectionWorkers()).build();
          }
        });
    server.intercept(new CallerContext());
  }

  @Override
  public <Q, A> ServerCall.Listener<Q> interceptCall(
      ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
    ConnectionWorkers workers = call.getAttributes().get(CONNECTION);
    // Only calls of workers need a caller. Client streams are skipped: gRPC would attach the
    // context again for each message, and their messages name claims.
    if (workers == null
        || !WorkerServiceGrpc.SERVICE_NAME.equals(call.getMethodDescriptor().getServiceName())
        || !call.getMethodDescriptor().getType().clientSendsOneMessage()) {
      return next.startCall(call, headers);
    }
    Context context = Context.current().withValue(WORKERS, workers);
    String headerValue = headers.get(WORKER_ID);
    if (headerValue != null) {
      context = context.withValue(HEADER_VALUE, headerValue);
    }
    return Contexts.interceptCall(context, call, headers, next);
  }

  static ConnectionWorkers workers() {
    ConnectionWorkers workers = WORKERS.get();
    return workers == null ? new ConnectionWorkers() : workers;
  }

  /**
   * Returns who makes the current call; refuses a header that is not a worker id. An epoch takes
   * precedence over the header: a worker that registered again still holds its claims.
   */
  static Caller caller(@Nullable Integer epoch) {
    String headerValue = epoch == null ? HEADER_VALUE.get() : null;
    WorkerId worker =
        headerValue == null ? null : Arguments.workerId("kagzi-worker-id", headerValue);
    return new Caller(epoch, worker, workers().all());
  }
}
