package dev.kagzi.server.grpc;

import dev.kagzi.protocol.v1.WorkflowScheduleServiceGrpc;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.ServerMethodDefinition;
import io.grpc.ServerServiceDefinition;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Answers UNIMPLEMENTED to the calls that the protocol has and this server does not yet. They are
 * named here, all of them, so that none is missed by oversight.
 */
final class NotYet {
  private static final Set<String> METHODS =
      WorkflowScheduleServiceGrpc.getServiceDescriptor().getMethods().stream()
          .map(MethodDescriptor::getFullMethodName)
          .collect(Collectors.toUnmodifiableSet());

  private NotYet() {}

  /** The same service, in which the calls that are to come are refused. */
  static ServerServiceDefinition refuse(ServerServiceDefinition service) {
    ServerServiceDefinition.Builder refusing =
        ServerServiceDefinition.builder(service.getServiceDescriptor());
    for (ServerMethodDefinition<?, ?> method : service.getMethods()) {
      refusing.addMethod(refusing(method));
    }
    return refusing.build();
  }

  private static <Q, A> ServerMethodDefinition<Q, A> refusing(ServerMethodDefinition<Q, A> method) {
    if (!METHODS.contains(method.getMethodDescriptor().getFullMethodName())) {
      return method;
    }
    return method.withServerCallHandler(
        (call, headers) -> {
          String name = String.valueOf(call.getMethodDescriptor().getBareMethodName());
          Errors.close(call, Errors.unimplemented("call", name));
          return new ServerCall.Listener<>() {};
        });
  }
}
