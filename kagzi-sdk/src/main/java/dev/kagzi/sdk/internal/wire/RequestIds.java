package dev.kagzi.sdk.internal.wire;

import com.fasterxml.uuid.Generators;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.MethodDescriptor;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Chooses the ids by which a server recognizes a call that is sent again. A request is given its id
 * before it is sent for the first time, so that all repetitions have the same.
 */
public final class RequestIds {
  private static final String REQUEST_ID = "request_id";

  /** Requests whose effect has an id of its own. */
  private static final Map<String, String> OWN_IDS =
      Map.of(
          "StartWorkflowRequest", "run_id",
          "RetryWorkflowRequest", "new_run_id",
          "TriggerWorkflowScheduleRequest", "run_id",
          "CreateWorkflowScheduleRequest", "schedule_id");

  private RequestIds() {}

  /** Returns the request with an id, if it is of a kind that has one and has none yet. */
  @SuppressWarnings("unchecked") // a builder makes messages of its own type
  public static <Q> Q withId(Q request) {
    if (!(request instanceof Message message)) {
      return request;
    }
    Message filled = fill(message, message.getDescriptorForType().findFieldByName(REQUEST_ID));
    String own = OWN_IDS.get(message.getDescriptorForType().getName());
    if (own != null) {
      filled = fill(filled, message.getDescriptorForType().findFieldByName(own));
    }
    return (Q) filled;
  }

  private static Message fill(Message message, @Nullable FieldDescriptor field) {
    if (field == null || !"".equals(message.getField(field))) {
      return message;
    }
    String id = Generators.timeBasedEpochGenerator().generate().toString();
    return message.toBuilder().setField(field, id).build();
  }

  /** For clients that send each call once. */
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
