package dev.kagzi.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.common.util.concurrent.ListenableFuture;
import dev.kagzi.protocol.v1.AttachRequest;
import dev.kagzi.protocol.v1.AttachResponse;
import dev.kagzi.protocol.v1.AwaitWorkflowRequest;
import dev.kagzi.protocol.v1.PollTaskRequest;
import dev.kagzi.protocol.v1.WatchWorkflowsRequest;
import dev.kagzi.protocol.v1.WatchWorkflowsResponse;
import dev.kagzi.protocol.v1.WorkerServiceGrpc;
import dev.kagzi.protocol.v1.WorkflowServiceGrpc;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class CloseTest {

  @Test
  void a_stopping_server_ends_waiting_calls_at_once_as_unavailable() throws Exception {
    TestServer server = TestServer.start();
    BareWorker worker = new BareWorker(server, "close", "h", 1, "order");
    String runId = server.startRun("nobody", "order");
    WorkerServiceGrpc.WorkerServiceFutureStub workers =
        WorkerServiceGrpc.newFutureStub(server.sharedChannel());
    ListenableFuture<?> poll =
        workers.pollTask(
            PollTaskRequest.newBuilder()
                .setWorkerId(worker.id())
                .setTaskQueue("close")
                .addWorkflowTypes("order")
                .build());
    ListenableFuture<?> awaited =
        WorkflowServiceGrpc.newFutureStub(server.sharedChannel())
            .awaitWorkflow(AwaitWorkflowRequest.newBuilder().setRunId(runId).build());
    EndOf<AttachResponse> attach = new EndOf<>();
    WorkerServiceGrpc.newStub(server.sharedChannel())
        .attach(AttachRequest.newBuilder().setWorkerId(worker.id()).build(), attach);
    EndOf<WatchWorkflowsResponse> watch = new EndOf<>();
    StreamObserver<WatchWorkflowsRequest> requests =
        WorkflowServiceGrpc.newStub(server.sharedChannel()).watchWorkflows(watch);
    requests.onNext(WatchWorkflowsRequest.newBuilder().addWatchRunIds(runId).build());
    await().atMost(Duration.ofSeconds(5)).until(() -> server.server().openCalls() == 4);

    long before = System.nanoTime();
    server.server().close();
    Duration took = Duration.ofNanos(System.nanoTime() - before);

    assertThat(took).isLessThan(Duration.ofSeconds(4));
    assertThat(endOf(poll)).isEqualTo(Status.Code.UNAVAILABLE);
    assertThat(endOf(awaited)).isEqualTo(Status.Code.UNAVAILABLE);
    assertThat(endOf(attach.end)).isEqualTo(Status.Code.UNAVAILABLE);
    assertThat(endOf(watch.end)).isEqualTo(Status.Code.UNAVAILABLE);
    worker.close();
    server.close();
  }

  /** Otherwise a process would go on for as long as the thread, after its server was closed. */
  @Test
  void a_closed_server_leaves_no_thread_that_keeps_the_jvm_alive() {
    Set<Thread> before = Set.copyOf(Thread.getAllStackTraces().keySet());
    TestServer server = TestServer.start();
    server.startRun("nobody", "order");

    server.close();

    await()
        .pollInSameThread()
        .atMost(Duration.ofSeconds(2))
        .untilAsserted(
            () ->
                assertThat(Thread.getAllStackTraces().keySet())
                    .filteredOn(thread -> !thread.isDaemon() && !before.contains(thread))
                    .isEmpty());
  }

  private static Status.Code endOf(Future<?> call) throws Exception {
    try {
      return Status.OK.withDescription(String.valueOf(call.get(5, TimeUnit.SECONDS))).getCode();
    } catch (ExecutionException e) {
      return Status.fromThrowable(e).getCode();
    }
  }

  private static final class EndOf<M> implements StreamObserver<M> {
    final CompletableFuture<@Nullable Void> end = new CompletableFuture<>();

    @Override
    public void onNext(M message) {}

    @Override
    public void onError(Throwable problem) {
      end.completeExceptionally(problem);
    }

    @Override
    public void onCompleted() {
      end.complete(null);
    }
  }
}
