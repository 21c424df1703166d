package dev.kagzi.server.grpc;

import dev.kagzi.engine.transition.Caller;
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
 * Knows who makes a worker's call: the header {@code kagzi-worker-id}, if it is sent, and the
 * workers that use the same connection. The handler reads it from the call's context, on the thread
 * that called it.
 */
final class CallerContext implements ServerInterceptor {
  private static final Metadata.Key<String> WORKER_ID =
      Metadata.Key.of("kagzi-worker-id", Metadata.ASCII_STRING_MARSHALLER);
  private static final Attributes.Key<ConnectionWorkers> CONNECTION =
      Attributes.Key.create("kagzi-connection-workers");
  private static final Context.Key<ConnectionWorkers> WORKERS =
      Context.key("kagzi-connection-workers");
  private static final Context.Key<String> NAMED = Context.key("kagzi-worker-id");

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
    // A stream's context would be set anew for each of its messages: streams name their claims.
    if (workers == null
        || !WorkerServiceGrpc.SERVICE_NAME.equals(call.getMethodDescriptor().getServiceName())
        || !call.getMethodDescriptor().getType().clientSendsOneMessage()) {
      return next.startCall(call, headers);
    }
    Context context = Context.current().withValue(WORKERS, workers);
    String named = headers.get(WORKER_ID);
    if (named != null) {
      context = context.withValue(NAMED, named);
    }
    return Contexts.interceptCall(context, call, headers, next);
  }

  /** The workers of the present call's connection. */
  static ConnectionWorkers workers() {
    ConnectionWorkers workers = WORKERS.get();
    return workers == null ? new ConnectionWorkers() : workers;
  }

  /**
   * Who makes the present call; refuses a header that is no worker's id. An epoch says more than
   * the header: a worker that has registered again still holds its claims.
   */
  static Caller caller(@Nullable Integer epoch) {
    String named = epoch == null ? NAMED.get() : null;
    WorkerId worker = named == null ? null : Arguments.workerId("kagzi-worker-id", named);
    return new Caller(epoch, worker, workers().all());
  }
}
