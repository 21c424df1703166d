package dev.kagzi.sdk.internal.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

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
class CallWatchTest {
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
  void a_call_that_nobody_answers_is_given_up_and_may_be_sent_again() throws Exception {
    CountDownLatch held = server.hold("StartWorkflows");

    Throwable error = failure(call(100));
    held.countDown();

    assertThat(RpcErrors.code(error)).isEqualTo(Status.Code.CANCELLED);
    assertThat(RpcErrors.isTransient(error)).isTrue();
    assertThat(RpcErrors.toException("start", error)).hasMessage("start: no answer within 100 ms");
    assertThat(call(10_000).get(10, TimeUnit.SECONDS).getResultsCount()).isZero();
  }

  @Test
  void a_call_that_has_time_left_is_not_given_up_with_one_that_has_none() throws Exception {
    CountDownLatch held = server.hold("StartWorkflows");
    CompletableFuture<StartWorkflowsResponse> patient = call(60_000);

    failure(call(100));
    failure(call(100));

    assertThat(patient).isNotDone();
    held.countDown();
    assertThat(patient.get(10, TimeUnit.SECONDS)).isNotNull();
  }

  @Test
  void nobody_looks_once_every_call_is_answered() throws Exception {
    call(60_000).get(10, TimeUnit.SECONDS);

    await().until(() -> connection.timers().getQueue().isEmpty());
    assertThat(connection.timers().getActiveCount()).isZero();
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
      throw new AssertionError("answered (expected: given up)");
    } catch (ExecutionException e) {
      return Objects.requireNonNull(e.getCause());
    }
  }
}
