package dev.kagzi.sdk.internal.wire;

import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import dev.kagzi.protocol.v1.CreateWorkflowScheduleRequest;
import dev.kagzi.protocol.v1.RetryWorkflowRequest;
import dev.kagzi.protocol.v1.SignalOrStartWorkflowRequest;
import dev.kagzi.protocol.v1.SignalWorkflowRequest;
import dev.kagzi.protocol.v1.StartWorkflowRequest;
import dev.kagzi.protocol.v1.TriggerWorkflowScheduleRequest;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.MethodDescriptor;

/**
 * Sets the request ids by which a server recognizes a retried call. A request gets its id before it
 * is first sent, so all its retries have the same id.
 */
public final class RequestIds {
  private static final String REQUEST_ID = "request_id";

  private RequestIds() {}

  /**
   * Returns the request with a request id, and with an id for what it creates or sends, where these
   * fields exist and are not set.
   */
  @SuppressWarnings("unchecked") // a builder makes messages of its own type
  public static <Q> Q withId(Q request) {
    if (!(request instanceof Message message)) {
      return request;
    }
    FieldDescriptor field = message.getDescriptorForType().findFieldByName(REQUEST_ID);
    Message filled =
        field == null || !"".equals(message.getField(field))
            ? message
            : message.toBuilder().setField(field, RunIds.next()).build();
    return (Q) withOwnId(filled);
  }

  private static Message withOwnId(Message message) {
    return switch (message) {
      case StartWorkflowRequest start when start.getRunId().isEmpty() ->
          start.toBuilder().setRunId(RunIds.ofStart(start.getNamespace(), start)).build();
      case RetryWorkflowRequest retry when retry.getNewRunId().isEmpty() ->
          retry.toBuilder().setNewRunId(RunIds.nextBeside(retry.getRunId())).build();
      case TriggerWorkflowScheduleRequest trigger when trigger.getRunId().isEmpty() ->
          trigger.toBuilder().setRunId(RunIds.nextBeside(trigger.getScheduleId())).build();
      case CreateWorkflowScheduleRequest create when create.getScheduleId().isEmpty() ->
          create.toBuilder()
              .setScheduleId(RunIds.next(create.getNamespace(), create.getName()))
              .build();
      case SignalWorkflowRequest signal when signal.getSignalId().isEmpty() ->
          signal.toBuilder().setSignalId(RunIds.next()).build();
      case SignalOrStartWorkflowRequest call -> withOwnIds(call);
      default -> message;
    };
  }

  private static Message withOwnIds(SignalOrStartWorkflowRequest call) {
    SignalOrStartWorkflowRequest.Builder filled = call.toBuilder();
    if (call.getSignalId().isEmpty()) {
      filled.setSignalId(RunIds.next());
    }
    StartWorkflowRequest start = call.getStart();
    if (start.getRunId().isEmpty()) {
      filled.getStartBuilder().setRunId(RunIds.ofStart(start.getNamespace(), start));
    }
    return filled.build();
  }

  /**
   * Returns an interceptor that sets request ids. Only for clients that do not retry calls
   * themselves, because each call through it gets a new id; others call {@link #withId} once before
   * the first attempt.
   */
  public static ClientInterceptor interceptor() {
    return new ClientInterceptor() {
      @Override
      public <Q, A> ClientCall<Q, A> interceptCall(
          MethodDescriptor<Q, A> method, CallOptions options, Channel next) {
        return new SimpleForwardingClientCall<>(next.newCall(method, options)) {
          @Override
          public void sendMessage(Q message) {
            super.sendMessage(withId(message));
          }
        };
      }
    };
  }
}
