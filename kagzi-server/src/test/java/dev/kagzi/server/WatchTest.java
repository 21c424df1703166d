package dev.kagzi.server;

import static dev.kagzi.server.TestServer.payload;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import dev.kagzi.protocol.v1.CancelWorkflowRequest;
import dev.kagzi.protocol.v1.Payload;
import dev.kagzi.protocol.v1.WatchWorkflowsRequest;
import dev.kagzi.protocol.v1.WatchWorkflowsResponse;
import dev.kagzi.protocol.v1.WorkflowEnd;
import dev.kagzi.protocol.v1.WorkflowServiceGrpc;
import dev.kagzi.protocol.v1.WorkflowStatus;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class WatchTest {
  private static TestServer server;

  @BeforeAll
  static void startServer() {
    server = TestServer.start();
  }

  @AfterAll
  static void stopServer() {
    server.close();
  }

  @Test
  void completions_of_many_runs_come_over_one_stream_each_once() throws Exception {
    List<String> runs = startRuns("watch", 50);
    Watcher watcher = new Watcher(100);

    watcher.watch(runs);
    watcher.watch(runs.subList(0, 10));
    finishAll("watch", runs, payload("7"));

    assertThat(watcher.take(50))
        .allSatisfy(
            end -> {
              assertThat(end.getStatus()).isEqualTo(WorkflowStatus.WORKFLOW_STATUS_COMPLETED);
              assertThat(end.getOutput()).isEqualTo(payload("7"));
            })
        .extracting(WorkflowEnd::getRunId)
        .containsExactlyInAnyOrderElementsOf(runs);
    watcher.complete();
    watcher.awaitEnd();
    assertThat(watcher.ends).isEmpty();
  }

  @Test
  void the_stream_ends_when_the_last_watched_run_is_answered() throws Exception {
    List<String> runs = startRuns("last", 2);
    Watcher watcher = new Watcher(100);

    watcher.watch(runs);
    watcher.complete();
    runs.forEach(WatchTest::cancel);

    assertThat(watcher.take(2))
        .extracting(WorkflowEnd::getStatus)
        .containsOnly(WorkflowStatus.WORKFLOW_STATUS_CANCELLED);
    watcher.awaitEnd();
  }

  @Test
  void unknown_runs_are_answered_as_not_found_and_the_stream_goes_on() throws Exception {
    String missing = UUID.randomUUID().toString();
    String real = startRuns("real", 1).get(0);
    Watcher watcher = new Watcher(100);

    watcher.watch(List.of(missing, "rubbish", real));
    List<WorkflowEnd> unknown = watcher.take(2);
    cancel(real);

    assertThat(unknown).allMatch(WorkflowEnd::getNotFound);
    assertThat(unknown)
        .extracting(WorkflowEnd::getRunId)
        .containsExactlyInAnyOrder(missing, "rubbish");
    assertThat(watcher.take(1).get(0).getRunId()).isEqualTo(real);
  }

  @Test
  void a_run_that_is_no_longer_watched_is_not_answered() throws Exception {
    List<String> runs = startRuns("forget", 2);
    Watcher watcher = new Watcher(100);

    watcher.watch(runs);
    watcher.requests.onNext(
        WatchWorkflowsRequest.newBuilder().addForgetRunIds(runs.get(0)).build());
    watcher.complete();
    runs.forEach(WatchTest::cancel);

    assertThat(watcher.take(1).get(0).getRunId()).isEqualTo(runs.get(1));
    watcher.awaitEnd();
    assertThat(watcher.ends).isEmpty();
  }

  @Test
  void a_slow_reader_gets_every_completion_however_large_and_then_the_end() throws Exception {
    List<String> runs = startRuns("large", 16);
    Watcher watcher = new Watcher(0);
    Payload large = Payload.newBuilder().setData(ByteString.copyFrom(new byte[1 << 20])).build();

    watcher.watch(runs);
    watcher.complete();
    finishAll("large", runs, large);
    watcher.requests.request(1_000);

    assertThat(watcher.take(16))
        .allSatisfy(end -> assertThat(end.getOutput().getData().size()).isEqualTo(1 << 20))
        .extracting(WorkflowEnd::getRunId)
        .containsExactlyInAnyOrderElementsOf(runs);
    watcher.awaitEnd();
  }

  private static List<String> startRuns(String queue, int count) {
    List<String> runs = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      runs.add(server.startRun(queue, "order"));
    }
    return runs;
  }

  private static void finishAll(String queue, List<String> runs, Payload output) {
    try (BareWorker worker = new BareWorker(server, queue, "h", 1, "order")) {
      for (int i = 0; i < runs.size(); i++) {
        worker.complete(worker.poll().getRunId(), output);
      }
    }
  }

  private static void cancel(String runId) {
    server.workflows().cancelWorkflow(CancelWorkflowRequest.newBuilder().setRunId(runId).build());
  }

  private static final class Watcher
      implements ClientResponseObserver<WatchWorkflowsRequest, WatchWorkflowsResponse> {
    final BlockingQueue<WorkflowEnd> ends = new LinkedBlockingQueue<>();
    final ClientCallStreamObserver<WatchWorkflowsRequest> requests;
    private final CompletableFuture<@Nullable Void> end = new CompletableFuture<>();
    private final int window;

    Watcher(int window) {
      this.window = window;
      this.requests =
          (ClientCallStreamObserver<WatchWorkflowsRequest>)
              WorkflowServiceGrpc.newStub(server.sharedChannel()).watchWorkflows(this);
      if (window > 0) {
        requests.request(window);
      }
    }

    @Override
    public void beforeStart(ClientCallStreamObserver<WatchWorkflowsRequest> stream) {
      stream.disableAutoRequestWithInitial(0);
    }

    void watch(List<String> runs) {
      requests.onNext(WatchWorkflowsRequest.newBuilder().addAllWatchRunIds(runs).build());
    }

    void complete() {
      requests.onCompleted();
    }

    List<WorkflowEnd> take(int count) throws InterruptedException {
      List<WorkflowEnd> taken = new ArrayList<>();
      while (taken.size() < count) {
        WorkflowEnd next = ends.poll(10, TimeUnit.SECONDS);
        assertThat(next).as("end %s of %s", taken.size() + 1, count).isNotNull();
        taken.add(next);
      }
      return taken;
    }

    void awaitEnd() throws Exception {
      end.get(5, TimeUnit.SECONDS);
    }

    @Override
    public void onNext(WatchWorkflowsResponse response) {
      ends.addAll(response.getEndsList());
      if (window > 0) {
        requests.request(1);
      }
    }

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
