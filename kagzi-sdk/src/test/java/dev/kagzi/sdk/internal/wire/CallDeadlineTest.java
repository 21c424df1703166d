package dev.kagzi.sdk.internal.wire;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.protocol.v1.StartWorkflowsRequest;
import dev.kagzi.protocol.v1.StartWorkflowsResponse;
import dev.kagzi.sdk.fake.FakeServer;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

@NullMarked
class CallDeadlineTest {
  private final FakeServer server = new FakeServer();
  private final Connection connection =
      new Connection(
          Channels.open(List.of(server.address()), Credentials.NONE, UnaryOperator.identity()),
          server.address(),
          "default",
          Duration.ofSeconds(10));

  @AfterEach
  void close() {
    connection.close();
    server.close();
  }

  @Test
  void a_call_without_an_answer_ends_at_its_deadline_and_may_be_sent_again() throws Exception {
    CountDownLatch held = server.hold("StartWorkflows");

    Throwable error = failure(call(100));
    held.countDown();

    assertThat(RpcErrors.code(error)).isEqualTo(Status.Code.DEADLINE_EXCEEDED);
    assertThat(RpcErrors.isNoAnswer(error)).isTrue();
    assertThat(RpcErrors.isTransient(error)).isTrue();
    assertThat(call(10_000).get(10, TimeUnit.SECONDS).getResultsCount()).isZero();
  }

  @Test
  void a_call_does_not_end_at_the_deadline_of_another() throws Exception {
    CountDownLatch held = server.hold("StartWorkflows");
    CompletableFuture<StartWorkflowsResponse> patient = call(60_000);

    failure(call(100));

    assertThat(patient).isNotDone();
    held.countDown();
    assertThat(patient.get(10, TimeUnit.SECONDS)).isNotNull();
  }

  private CompletableFuture<StartWorkflowsResponse> call(long answerMs) {
    CompletableFuture<StartWorkflowsResponse> answer = new CompletableFuture<>();
    connection
        .workflows(answerMs)
        .startWorkflows(
            StartWorkflowsRequest.getDefaultInstance(),
            new StreamObserver<>() {
              @Override
              public void onNext(StartWorkflowsResponse response) {
                answer.complete(response);
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

  private static Throwable failure(CompletableFuture<?> call) throws Exception {
    try {
      call.get(10, TimeUnit.SECONDS);
      throw new AssertionError("answered (expected: failed)");
    } catch (ExecutionException e) {
      return Objects.requireNonNull(e.getCause());
    }
  }
}
