package dev.kagzi.server.grpc;

import dev.kagzi.engine.value.Refusal;
import io.grpc.ForwardingServerCallListener.SimpleForwardingServerCallListener;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerInterceptors;
import io.grpc.ServerMethodDefinition;
import io.grpc.ServerServiceDefinition;
import io.grpc.ServiceDescriptor;
import io.grpc.StatusRuntimeException;
import java.io.InputStream;
import org.jspecify.annotations.Nullable;

/**
 * Answers bytes that are not a valid message with INVALID_ARGUMENT. Without it gRPC would log a
 * stack trace and answer UNKNOWN. gRPC would do the same with exceptions that handlers throw;
 * {@link GrpcErrors} maps them.
 */
final class UnreadableRequestGuard implements ServerInterceptor {

  /**
   * Returns the service with a marshaller that parses invalid bytes as null, and with a guard that
   * rejects null.
   */
  static ServerServiceDefinition guard(ServerServiceDefinition service) {
    ServiceDescriptor original = service.getServiceDescriptor();
    ServiceDescriptor.Builder descriptor =
        ServiceDescriptor.newBuilder(original.getName())
            .setSchemaDescriptor(original.getSchemaDescriptor());
    service.getMethods().stream()
        .map(method -> lenient(method.getMethodDescriptor()))
        .forEach(descriptor::addMethod);
    ServiceDescriptor lenient = descriptor.build();
    ServerServiceDefinition.Builder guarded = ServerServiceDefinition.builder(lenient);
    for (MethodDescriptor<?, ?> method : lenient.getMethods()) {
      add(guarded, method, service.getMethod(method.getFullMethodName()));
    }
    return ServerInterceptors.intercept(guarded.build(), new UnreadableRequestGuard());
  }

  @SuppressWarnings("unchecked") // Both describe the same method.
  private static <Q, A> void add(
      ServerServiceDefinition.Builder service,
      MethodDescriptor<Q, A> method,
      ServerMethodDefinition<?, ?> original) {
    service.addMethod(method, (ServerCallHandler<Q, A>) original.getServerCallHandler());
  }

  private static <Q, A> MethodDescriptor<Q, A> lenient(MethodDescriptor<Q, A> method) {
    return method.toBuilder()
        .setRequestMarshaller(new Lenient<>(method.getRequestMarshaller()))
        .build();
  }

  @Override
  public <Q, A> ServerCall.Listener<Q> interceptCall(
      ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
    return new Guard<>(call, next.startCall(call, headers));
  }

  private record Lenient<Q>(MethodDescriptor.Marshaller<Q> exact)
      implements MethodDescriptor.Marshaller<Q> {

    @Override
    public InputStream stream(Q message) {
      return exact.stream(message);
    }

    @Override
    @SuppressWarnings("NullAway") // The guard rejects the null.
    public Q parse(InputStream bytes) {
      try {
        return exact.parse(bytes);
      } catch (StatusRuntimeException unreadable) {
        return null;
      }
    }
  }

  private static final class Guard<Q> extends SimpleForwardingServerCallListener<Q> {
    private final ServerCall<Q, ?> call;
    private boolean refused;

    Guard(ServerCall<Q, ?> call, ServerCall.Listener<Q> handler) {
      super(handler);
      this.call = call;
    }

    @Override
    public void onMessage(@Nullable Q message) {
      if (refused) {
        return;
      }
      if (message != null) {
        super.onMessage(message);
        return;
      }
      refused = true;
      GrpcErrors.close(call, Refusal.invalid("request", "bytes", "a message of the protocol"));
      // The handler sees a cancelled call and releases its resources.
      super.onCancel();
    }

    @Override
    public void onHalfClose() {
      if (refused) {
        return;
      }
      try {
        super.onHalfClose();
      } catch (RuntimeException e) {
        // The handler threw before it could respond itself.
        refused = true;
        GrpcErrors.close(call, e);
        super.onCancel();
      }
    }

    @Override
    public void onComplete() {
      if (!refused) {
        super.onComplete();
      }
    }

    @Override
    public void onCancel() {
      if (!refused) {
        super.onCancel();
      }
    }

    @Override
    public void onReady() {
      if (!refused) {
        super.onReady();
      }
    }
  }
}
