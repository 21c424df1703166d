package dev.kagzi.server.grpc;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import dev.kagzi.protocol.v1.GetWorkflowRequest;
import dev.kagzi.protocol.v1.GetWorkflowResponse;
import dev.kagzi.protocol.v1.WorkflowServiceGrpc;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.Status;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class GoneCallersTest {

  /** A unary call that records what reaches the transport. */
  private static final class Call extends ServerCall<GetWorkflowRequest, GetWorkflowResponse> {
    final List<String> sent = new ArrayList<>();
    boolean cancelled;
    boolean loopEnded;

    private void send(String what) {
      if (loopEnded) {
        throw new RejectedExecutionException("event executor terminated");
      }
      sent.add(what);
    }

    @Override
    public void request(int numMessages) {}

    @Override
    public void sendHeaders(Metadata headers) {
      send("headers");
    }

    @Override
    public void sendMessage(GetWorkflowResponse message) {
      send("message");
    }

    @Override
    public void close(Status status, Metadata trailers) {
      send(status.getCode().name());
    }

    @Override
    public boolean isCancelled() {
      return cancelled;
    }

    @Override
    public MethodDescriptor<GetWorkflowRequest, GetWorkflowResponse> getMethodDescriptor() {
      return WorkflowServiceGrpc.getGetWorkflowMethod();
    }
  }

  private final GoneCallers gone = new GoneCallers();
  private final Call call = new Call();

  /** Returns the observer of a handler that responds later. */
  private StreamObserver<GetWorkflowResponse> begin() {
    AtomicReference<StreamObserver<GetWorkflowResponse>> caller = new AtomicReference<>();
    ServerCall.Listener<GetWorkflowRequest> listener =
        gone.interceptCall(
            call,
            new Metadata(),
            ServerCalls.asyncUnaryCall(
                (GetWorkflowRequest request, StreamObserver<GetWorkflowResponse> observer) -> {
                  UnaryResponses.ignoreCancel(observer);
                  caller.set(observer);
                }));
    listener.onMessage(GetWorkflowRequest.getDefaultInstance());
    listener.onHalfClose();
    return requireNonNull(caller.get());
  }

  private static void answer(StreamObserver<GetWorkflowResponse> caller) {
    UnaryResponses.send(caller, GetWorkflowResponse::getDefaultInstance);
  }

  @Test
  void a_waiting_caller_gets_its_response() {
    answer(begin());

    assertThat(call.sent).containsExactly("headers", "message", "OK");
  }

  @Test
  void nothing_is_written_for_a_caller_that_has_cancelled() {
    StreamObserver<GetWorkflowResponse> caller = begin();
    call.cancelled = true;

    answer(caller);

    assertThat(call.sent).isEmpty();
  }

  @Test
  void nothing_is_written_once_the_server_has_stopped() {
    StreamObserver<GetWorkflowResponse> caller = begin();
    gone.stop();

    answer(caller);

    assertThat(call.sent).isEmpty();
  }

  @Test
  void an_answer_after_the_end_of_the_event_loops_does_not_fail_its_thread() {
    StreamObserver<GetWorkflowResponse> caller = begin();
    call.loopEnded = true;

    assertThatCode(() -> answer(caller)).doesNotThrowAnyException();
  }

  @Test
  void a_refusal_after_the_end_of_the_event_loops_does_not_fail_its_thread() {
    StreamObserver<GetWorkflowResponse> caller = begin();
    call.loopEnded = true;

    assertThatCode(() -> caller.onError(GrpcErrors.of(GrpcErrors.stopping())))
        .doesNotThrowAnyException();
  }
}
