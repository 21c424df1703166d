package dev.kagzi.server;

import dev.kagzi.protocol.v1.AttachRequest;
import dev.kagzi.protocol.v1.AwaitWorkflowRequest;
import dev.kagzi.protocol.v1.ListWorkflowsRequest;
import dev.kagzi.protocol.v1.PageRequest;
import dev.kagzi.protocol.v1.PollTasksRequest;
import dev.kagzi.protocol.v1.RegisterRequest;
import dev.kagzi.protocol.v1.TypeVersion;
import dev.kagzi.protocol.v1.WatchWorkflowsRequest;
import dev.kagzi.protocol.v1.WorkerServiceGrpc;
import dev.kagzi.protocol.v1.WorkflowServiceGrpc;
import io.grpc.ManagedChannel;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.StreamObserver;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A worker and client that has calls of every kind open over one connection: waiting polls and
 * awaits, and reads and streams whose responses do not fit into the connection's window. Counts
 * responses and ended calls. Thread-safe.
 */
final class OpenCallsClient {
  private static final int CALLS_OF_A_KIND = 10;
  private static final int UNREADABLE_IDS = 3_000;
  private static final int WAIT_MS = 60_000;

  final AtomicInteger opened = new AtomicInteger();
  final AtomicInteger answers = new AtomicInteger();
  final AtomicInteger ends = new AtomicInteger();

  private final ManagedChannel channel;
  private final String workerId;

  /** Registers a worker for type {@code t} of queue {@code q}. */
  OpenCallsClient(ManagedChannel channel) {
    this.channel = channel;
    this.workerId =
        WorkerServiceGrpc.newBlockingStub(channel)
            .register(RegisterRequest.newBuilder().setTaskQueue("q").addWorkflowTypes("t").build())
            .getWorkerId();
  }

  /** Opens a connection whose window is smaller than most responses. */
  static ManagedChannel channel(int port) {
    return NettyChannelBuilder.forAddress("127.0.0.1", port)
        .usePlaintext()
        .flowControlWindow(64 << 10)
        .build();
  }

  String workerId() {
    return workerId;
  }

  /** Opens polls that wait, and reads whose responses do not fit into the window. */
  void openPollsAndReads() {
    for (int i = 0; i < 2 * CALLS_OF_A_KIND; i++) {
      WorkerServiceGrpc.newStub(channel).pollTasks(poll(), counting());
      WorkflowServiceGrpc.newStub(channel).listWorkflows(list(), counting());
    }
  }

  /** Opens some calls of each kind; awaits and watches are for the given runs. */
  void open(List<String> runs) {
    WorkerServiceGrpc.WorkerServiceStub worker = WorkerServiceGrpc.newStub(channel);
    WorkflowServiceGrpc.WorkflowServiceStub workflows = WorkflowServiceGrpc.newStub(channel);
    worker.attach(AttachRequest.newBuilder().setWorkerId(workerId).build(), counting());
    for (int i = 0; i < CALLS_OF_A_KIND; i++) {
      worker.pollTasks(poll(), counting());
      workflows.listWorkflows(list(), counting());
      watch(workflows.watchWorkflows(counting()), runs);
      for (String run : runs) {
        workflows.awaitWorkflow(
            AwaitWorkflowRequest.newBuilder().setRunId(run).setWaitMs(WAIT_MS).build(), counting());
      }
    }
  }

  private PollTasksRequest poll() {
    return PollTasksRequest.newBuilder()
        .setTaskQueue("q")
        .setWorkerId(workerId)
        .addTypes(TypeVersion.newBuilder().setWorkflowType("t"))
        .setMaxTasks(1)
        .setWaitMs(WAIT_MS)
        .build();
  }

  private static ListWorkflowsRequest list() {
    return ListWorkflowsRequest.newBuilder()
        .setPage(PageRequest.newBuilder().setPageSize(30).setIncludePayloads(true))
        .build();
  }

  /** The server answers an invalid id at once. */
  private static void watch(StreamObserver<WatchWorkflowsRequest> stream, List<String> runs) {
    stream.onNext(
        WatchWorkflowsRequest.newBuilder()
            .addAllWatchRunIds(runs)
            .addAllWatchRunIds(Collections.nCopies(UNREADABLE_IDS, "not the id of any run"))
            .build());
  }

  private <T> StreamObserver<T> counting() {
    opened.incrementAndGet();
    return new StreamObserver<>() {
      @Override
      public void onNext(T answer) {
        answers.incrementAndGet();
      }

      @Override
      public void onError(Throwable why) {
        ends.incrementAndGet();
      }

      @Override
      public void onCompleted() {
        ends.incrementAndGet();
      }
    };
  }
}
