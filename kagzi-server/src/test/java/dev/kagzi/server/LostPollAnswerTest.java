package dev.kagzi.server;

import static dev.kagzi.server.TestServer.payload;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kagzi.engine.EngineConfig;
import dev.kagzi.engine.config.DispatchConfig;
import dev.kagzi.engine.config.WorkerConfig;
import dev.kagzi.protocol.v1.PollTaskRequest;
import dev.kagzi.protocol.v1.PollTaskResponse;
import dev.kagzi.protocol.v1.WorkerServiceGrpc;
import dev.kagzi.protocol.v1.Workflow;
import dev.kagzi.protocol.v1.WorkflowStatus;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The response to a poll does not reach its worker, which is alive and sends heartbeats. */
class LostPollAnswerTest {
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final Duration NEVER = Duration.ofHours(1);

  /** Why a response cannot be sent completely. */
  enum Loss {
    CANCELLED,
    OVER_DEADLINE,
    CONNECTION_BROKEN
  }

  @ParameterizedTest
  @EnumSource(Loss.class)
  void a_poll_response_that_cannot_be_sent_gives_its_run_back_at_once(Loss how) {
    try (TestServer server = server(Duration.ofMinutes(1), Duration.ofMinutes(1));
        BareWorker worker = new BareWorker(server, "unsent", "h", 1, "order")) {
      String runId =
          server
              .workflows()
              .startWorkflow(
                  TestServer.start("unsent", "order")
                      .setInput(payload("\"" + "x".repeat(500_000) + "\""))
                      .build())
              .getRunId();
      // The client takes no message, so the response stays in the server's window.
      ManagedChannel channel =
          NettyChannelBuilder.forAddress("127.0.0.1", server.server().grpcPort())
              .usePlaintext()
              .flowControlWindow(65_535)
              .build();
      ClientCall<PollTaskRequest, PollTaskResponse> call =
          channel.newCall(
              WorkerServiceGrpc.getPollTaskMethod(),
              how == Loss.OVER_DEADLINE
                  ? CallOptions.DEFAULT.withDeadlineAfter(8, TimeUnit.SECONDS)
                  : CallOptions.DEFAULT);
      call.start(new ClientCall.Listener<>() {}, new Metadata());
      call.sendMessage(
          PollTaskRequest.newBuilder()
              .setWorkerId(worker.id())
              .setTaskQueue("unsent")
              .addWorkflowTypes("order")
              .build());
      call.halfClose();
      if (how != Loss.OVER_DEADLINE) {
        await().atMost(LIMIT).until(() -> server.run(runId).getStatus(), this::isRunning);
      }

      switch (how) {
        case CANCELLED -> call.cancel("the worker thinks better of it", null);
        case CONNECTION_BROKEN -> channel.shutdownNow();
        case OVER_DEADLINE -> {}
      }

      await()
          .atMost(LIMIT)
          .until(
              () -> server.run(runId), run -> run.getEpoch() == 1 && !isRunning(run.getStatus()));
      Workflow back = server.run(runId);
      assertThat(back.getStatus()).isEqualTo(WorkflowStatus.WORKFLOW_STATUS_PENDING);
      assertThat(back.getCrashes()).isZero();
      assertThat(worker.poll().getRunId()).isEqualTo(runId);
      assertThat(worker.complete(runId, payload("1")))
          .isEqualTo(WorkflowStatus.WORKFLOW_STATUS_COMPLETED);
      channel.shutdownNow();
    }
  }

  private boolean isRunning(WorkflowStatus status) {
    return status == WorkflowStatus.WORKFLOW_STATUS_RUNNING;
  }

  @Test
  void a_run_that_its_live_worker_does_not_list_goes_to_another() {
    try (TestServer server = server(Duration.ofSeconds(1), Duration.ofSeconds(2));
        BareWorker deaf = new BareWorker(server, "deaf", "h", 1, "order");
        BareWorker other = new BareWorker(server, "deaf", "h", 2, "order")) {
      String runId = server.startRun("deaf", "order");
      // Treated as if this response had been lost.
      assertThat(deaf.poll().getRunId()).isEqualTo(runId);

      CompletableFuture<PollTaskResponse> next = CompletableFuture.supplyAsync(other::poll);
      await()
          .atMost(LIMIT)
          .pollInterval(Duration.ofMillis(200))
          .until(() -> deaf.heartbeat() && next.isDone());

      assertThat(next.join().getRunId()).isEqualTo(runId);
      assertThat(other.complete(runId, payload("1")))
          .isEqualTo(WorkflowStatus.WORKFLOW_STATUS_COMPLETED);
    }
  }

  private static TestServer server(Duration firstLease, Duration lease) {
    return TestServer.start(
        TestServer.createDatabase(),
        config ->
            config.engine(
                EngineConfig.defaults()
                    .withWorkers(new WorkerConfig(Duration.ofSeconds(3), lease, NEVER, NEVER))
                    .withDispatch(DispatchConfig.defaults().withFirstLease(firstLease))));
  }
}
