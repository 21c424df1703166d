package dev.kagzi.server.grpc;

import dev.kagzi.protocol.v1.AdminServiceGrpc;
import dev.kagzi.protocol.v1.WorkflowScheduleServiceGrpc;
import dev.kagzi.protocol.v1.WorkflowServiceGrpc;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Answers UNIMPLEMENTED to the calls that the protocol has and this server does not yet. They are
 * named here, all of them, so that none is missed by oversight.
 */
final class NotYet implements ServerInterceptor {
  private static final Set<String> METHODS =
      Stream.concat(
              WorkflowScheduleServiceGrpc.getServiceDescriptor().getMethods().stream(),
              Stream.of(
                  WorkflowServiceGrpc.getRetryWorkflowMethod(),
                  WorkflowServiceGrpc.getTerminateWorkflowMethod(),
                  AdminServiceGrpc.getGetStatsMethod(),
                  AdminServiceGrpc.getGetQueueDepthMethod(),
                  AdminServiceGrpc.getListWorkflowTypesMethod()))
          .map(MethodDescriptor::getFullMethodName)
          .collect(Collectors.toUnmodifiableSet());

  @Override
  public <Q, A> ServerCall.Listener<Q> interceptCall(
      ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
    MethodDescriptor<Q, A> method = call.getMethodDescriptor();
    if (!METHODS.contains(method.getFullMethodName())) {
      return next.startCall(call, headers);
    }
    StatusRuntimeException refusal =
        Errors.of(Errors.unimplemented("call", String.valueOf(method.getBareMethodName())));
    Metadata trailers = refusal.getTrailers();
    Status status = refusal.getStatus();
    call.close(status, trailers == null ? new Metadata() : trailers);
    return new ServerCall.Listener<>() {};
  }
}
