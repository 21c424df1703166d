package dev.kagzi.sdk.internal.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.protocol.v1.StartWorkflowRequest;
import dev.kagzi.protocol.v1.StartWorkflowResponse;
import dev.kagzi.sdk.fake.FakeServer;
import dev.kagzi.sdk.internal.wire.Channels;
import dev.kagzi.sdk.internal.wire.Connection;
import dev.kagzi.sdk.internal.wire.Credentials;
import io.grpc.Context;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class StartBatcherTest {
  private final FakeServer server = new FakeServer();
  private final Connection connection =
      new Connection(
          Channels.open(List.of(server.address()), Credentials.NONE, UnaryOperator.identity()),
          server.address(),
          "default",
          Duration.ofSeconds(10));
  private final StartBatcher starts = new StartBatcher(connection);
  private final CountDownLatch timers = new CountDownLatch(1);

  @AfterEach
  void close() {
    timers.countDown();
    starts.close();
    connection.close();
    server.close();
  }

  @Test
  void a_start_made_within_a_cancelled_grpc_context_is_still_sent() throws Exception {
    // A cancelled call would be sent again by a timer, outside of the context.
    holdTimers();
    String runId = UUID.randomUUID().toString();
    StartWorkflowRequest request = StartWorkflowRequest.newBuilder().setRunId(runId).build();
    Context.CancellableContext handler = Context.ROOT.withCancellation();
    handler.cancel(null);

    CompletableFuture<StartWorkflowResponse> started = handler.call(() -> starts.start(request));

    assertThat(started.get(10, TimeUnit.SECONDS).getRunId()).isEqualTo(runId);
    assertThat(server.workflows.starts).hasSize(1);
  }

  private void holdTimers() throws InterruptedException {
    CountDownLatch held = new CountDownLatch(1);
    connection
        .timers()
        .execute(
            () -> {
              held.countDown();
              awaitLatch(timers);
            });
    assertThat(held.await(10, TimeUnit.SECONDS)).isTrue();
  }

  private static void awaitLatch(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
