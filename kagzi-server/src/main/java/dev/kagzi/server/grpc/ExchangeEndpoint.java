package dev.kagzi.server.grpc;

import dev.kagzi.protocol.v1.ExchangeRequest;
import dev.kagzi.protocol.v1.ExchangeResponse;
import dev.kagzi.protocol.v1.ExchangeServiceGrpc.ExchangeServiceImplBase;
import io.grpc.MethodDescriptor;
import io.grpc.ServerMethodDefinition;
import io.grpc.ServerServiceDefinition;
import io.grpc.stub.StreamObserver;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Takes calls that come over a shared stream, and gives them to the services as they are. */
final class ExchangeEndpoint extends ExchangeServiceImplBase {
  private final EdgeRoom room;
  private final Map<String, ServerMethodDefinition<?, ?>> methods = new HashMap<>();

  /**
   * @param services what can be called, guarded as for calls of their own
   */
  ExchangeEndpoint(EdgeRoom room, List<ServerServiceDefinition> services) {
    this.room = room;
    for (ServerServiceDefinition service : services) {
      for (ServerMethodDefinition<?, ?> method : service.getMethods()) {
        MethodDescriptor<?, ?> descriptor = method.getMethodDescriptor();
        if (descriptor.getType() == MethodDescriptor.MethodType.UNARY) {
          methods.put(descriptor.getFullMethodName(), method);
        }
      }
    }
  }

  @Override
  public StreamObserver<ExchangeRequest> exchange(StreamObserver<ExchangeResponse> caller) {
    return ExchangeStream.open(room, methods, Calls.stream(caller));
  }
}
