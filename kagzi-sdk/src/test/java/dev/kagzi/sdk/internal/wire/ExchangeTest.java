package dev.kagzi.sdk.internal.wire;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import dev.kagzi.protocol.v1.ExchangeRequest;
import dev.kagzi.protocol.v1.ExchangeResponse;
import dev.kagzi.protocol.v1.ExchangeServiceGrpc.ExchangeServiceImplBase;
import dev.kagzi.protocol.v1.StartWorkflowRequest;
import dev.kagzi.protocol.v1.StartWorkflowResponse;
import dev.kagzi.protocol.v1.WorkflowServiceGrpc;
import dev.kagzi.protocol.v1.WorkflowServiceGrpc.WorkflowServiceImplBase;
import io.grpc.ClientCall;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.inprocess.InProcessChannelBuilder;
import io.grpc.inprocess.InProcessServerBuilder;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

@NullMarked
class ExchangeTest {
  private static final String NAME = "exchange-test";

  private final BlockingQueue<Heard> heard = new LinkedBlockingQueue<>();
  private final BlockingQueue<String> callsOfTheirOwn = new LinkedBlockingQueue<>();
  private Server server = start(true);
  private ManagedChannel channel = InProcessChannelBuilder.forName(NAME).directExecutor().build();
  private Exchange exchange = new Exchange(channel);

  /** A message that came over a stream, and where its answer goes. */
  private record Heard(ExchangeRequest request, StreamObserver<ExchangeResponse> answers) {
    void answer(String runId) {
      answers.onNext(
          ExchangeResponse.newBuilder()
              .setCallId(request.getCallId())
              .setResponse(
                  StartWorkflowResponse.newBuilder().setRunId(runId).build().toByteString())
              .build());
    }
  }

  private final class Shared extends ExchangeServiceImplBase {
    @Override
    public StreamObserver<ExchangeRequest> exchange(StreamObserver<ExchangeResponse> answers) {
      return new StreamObserver<>() {
        @Override
        public void onNext(ExchangeRequest request) {
          heard.add(new Heard(request, answers));
        }

        @Override
        public void onError(Throwable broken) {}

        @Override
        public void onCompleted() {}
      };
    }
  }

  private final class Plain extends WorkflowServiceImplBase {
    @Override
    public void startWorkflow(
        StartWorkflowRequest request, StreamObserver<StartWorkflowResponse> caller) {
      callsOfTheirOwn.add(request.getWorkflowType());
      caller.onNext(StartWorkflowResponse.newBuilder().setRunId("plain").build());
      caller.onCompleted();
    }
  }

  private Server start(boolean shared) {
    try {
      InProcessServerBuilder builder =
          InProcessServerBuilder.forName(NAME).directExecutor().addService(new Plain());
      return (shared ? builder.addService(new Shared()) : builder).build().start();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @BeforeEach
  void nothingHeard() {
    heard.clear();
  }

  @AfterEach
  void close() {
    channel.shutdownNow();
    server.shutdownNow();
  }

  private CompletableFuture<String> call(String type) {
    return call(StartWorkflowRequest.newBuilder().setWorkflowType(type).build());
  }

  private CompletableFuture<String> call(StartWorkflowRequest request) {
    CompletableFuture<String> answer = new CompletableFuture<>();
    WorkflowServiceGrpc.newStub(exchange)
        .startWorkflow(
            request,
            new StreamObserver<>() {
              @Override
              public void onNext(StartWorkflowResponse response) {
                answer.complete(response.getRunId());
              }

              @Override
              public void onError(Throwable error) {
                answer.completeExceptionally(error);
              }

              @Override
              public void onCompleted() {}
            });
    return answer;
  }

  private Heard heard() throws InterruptedException {
    return Objects.requireNonNull(heard.poll(10, TimeUnit.SECONDS), "a message within 10 s");
  }

  private static String of(CompletableFuture<String> answer) throws Exception {
    return answer.get(10, TimeUnit.SECONDS);
  }

  private static StatusRuntimeException failure(CompletableFuture<String> answer) {
    try {
      throw new AssertionError("answered: " + of(answer));
    } catch (ExecutionException e) {
      return (StatusRuntimeException) Objects.requireNonNull(e.getCause());
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void calls_share_a_stream_and_each_gets_its_own_answer() throws Exception {
    CompletableFuture<String> first = call("a");
    CompletableFuture<String> second = call("b");
    Heard a = heard();
    Heard b = heard();

    b.answer("run-b");
    a.answer("run-a");

    assertThat(of(first)).isEqualTo("run-a");
    assertThat(of(second)).isEqualTo("run-b");
    assertThat(a.answers()).isSameAs(b.answers());
    assertThat(a.request().getMethod()).isEqualTo("kagzi.v1.WorkflowService/StartWorkflow");
    assertThat(callsOfTheirOwn).isEmpty();
  }

  @Test
  void a_refusal_comes_with_its_details() throws Exception {
    CompletableFuture<String> call = call("a");
    Heard a = heard();
    a.answers()
        .onNext(
            ExchangeResponse.newBuilder()
                .setCallId(a.request().getCallId())
                .setCode(Status.Code.NOT_FOUND.value())
                .setMessage("not there")
                .setDetails(ByteString.copyFromUtf8("why"))
                .build());

    StatusRuntimeException error = failure(call);

    assertThat(error.getStatus().getCode()).isEqualTo(Status.Code.NOT_FOUND);
    assertThat(error.getStatus().getDescription()).isEqualTo("not there");
    Metadata trailers = Objects.requireNonNull(error.getTrailers());
    assertThat(
            trailers.get(
                Metadata.Key.of("grpc-status-details-bin", Metadata.BINARY_BYTE_MARSHALLER)))
        .asString()
        .isEqualTo("why");
  }

  @Test
  void a_break_fails_the_calls_under_way_and_the_next_call_opens_another_stream() throws Exception {
    CompletableFuture<String> first = call("a");
    CompletableFuture<String> second = call("b");
    Heard broken = heard();
    heard();
    broken.answers().onError(Status.UNAVAILABLE.withDescription("away").asException());

    assertThat(failure(first).getStatus().getDescription()).isEqualTo("away");
    assertThat(failure(second).getStatus().getCode()).isEqualTo(Status.Code.UNAVAILABLE);

    CompletableFuture<String> third = call("c");
    Heard c = heard();
    assertThat(c.answers()).isNotSameAs(broken.answers());
    c.answer("run-c");
    assertThat(of(third)).isEqualTo("run-c");
  }

  @Test
  void a_stream_that_the_server_ends_is_a_break_that_passes() throws Exception {
    CompletableFuture<String> call = call("a");
    heard().answers().onCompleted();

    assertThat(RpcErrors.isTransient(failure(call))).isTrue();
  }

  @Test
  void a_server_that_knows_no_such_stream_is_called_as_usual() throws Exception {
    server.shutdownNow().awaitTermination();
    server = start(false);

    assertThat(of(call("a"))).isEqualTo("plain");
    assertThat(of(call("b"))).isEqualTo("plain");
    assertThat(callsOfTheirOwn).containsExactly("a", "b");
  }

  @Test
  void a_call_that_is_given_up_is_told_to_the_server_and_hears_no_late_answer() throws Exception {
    CompletableFuture<Status> end = new CompletableFuture<>();
    ClientCall<StartWorkflowRequest, StartWorkflowResponse> call =
        exchange.newCall(WorkflowServiceGrpc.getStartWorkflowMethod(), io.grpc.CallOptions.DEFAULT);
    call.start(
        new ClientCall.Listener<>() {
          @Override
          public void onMessage(StartWorkflowResponse late) {
            end.completeExceptionally(new AssertionError("answered"));
          }

          @Override
          public void onClose(Status status, Metadata trailers) {
            end.complete(status);
          }
        },
        new Metadata());
    call.sendMessage(StartWorkflowRequest.getDefaultInstance());
    Heard sent = heard();

    call.cancel("enough", null);

    assertThat(end.get(10, TimeUnit.SECONDS).getCode()).isEqualTo(Status.Code.CANCELLED);
    ExchangeRequest told = heard().request();
    assertThat(told.getCallId()).isEqualTo(sent.request().getCallId());
    assertThat(told.getMethod()).isEmpty();
    sent.answer("late");
    CompletableFuture<String> next = call("b");
    heard().answer("run-b");
    assertThat(of(next)).isEqualTo("run-b");
  }

  @Test
  void what_is_large_goes_by_itself() throws Exception {
    assertThat(of(call("x".repeat(100_000)))).isEqualTo("plain");
    assertThat(heard).isEmpty();
  }

  @Test
  void a_stream_that_cannot_be_opened_fails_its_call() {
    channel.shutdownNow();

    assertThat(failure(call("a")).getStatus().getCode()).isEqualTo(Status.Code.UNAVAILABLE);
  }
}
