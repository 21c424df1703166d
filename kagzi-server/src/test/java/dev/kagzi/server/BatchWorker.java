package dev.kagzi.server;

import dev.kagzi.protocol.v1.AttachRequest;
import dev.kagzi.protocol.v1.AttachResponse;
import dev.kagzi.protocol.v1.HeartbeatRequest;
import dev.kagzi.protocol.v1.PollTasksRequest;
import dev.kagzi.protocol.v1.RegisterRequest;
import dev.kagzi.protocol.v1.ReportItem;
import dev.kagzi.protocol.v1.ReportRequest;
import dev.kagzi.protocol.v1.ReportResult;
import dev.kagzi.protocol.v1.Task;
import dev.kagzi.protocol.v1.TypeVersion;
import dev.kagzi.protocol.v1.WorkerServiceGrpc;
import io.grpc.Context;
import io.grpc.stub.StreamObserver;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/** A worker of bare stubs that polls and reports in batches. */
final class BatchWorker implements AutoCloseable {
  private final TestServer server;
  private final String queue;
  private final String type;
  private final Context.CancellableContext attached = Context.ROOT.withCancellation();
  final BlockingQueue<AttachResponse> events = new LinkedBlockingQueue<>();
  final String id;

  BatchWorker(TestServer server, String queue, String type) {
    this.server = server;
    this.queue = queue;
    this.type = type;
    this.id =
        server
            .workers()
            .register(
                RegisterRequest.newBuilder()
                    .setTaskQueue(queue)
                    .addWorkflowTypes(type)
                    .addServed(TypeVersion.newBuilder().setWorkflowType(type))
                    .setHostname("host")
                    .setPid(1)
                    .setInstanceId(UUID.randomUUID().toString())
                    .build())
            .getWorkerId();
  }

  void attach() {
    attached.run(
        () ->
            WorkerServiceGrpc.newStub(server.sharedChannel())
                .attach(
                    AttachRequest.newBuilder().setWorkerId(id).build(),
                    new StreamObserver<>() {
                      @Override
                      public void onNext(AttachResponse event) {
                        events.add(event);
                      }

                      @Override
                      public void onError(Throwable problem) {}

                      @Override
                      public void onCompleted() {}
                    }));
  }

  /** Sends a heartbeat that keeps all its claims. */
  boolean heartbeat() {
    return server
        .workers()
        .heartbeat(HeartbeatRequest.newBuilder().setWorkerId(id).build())
        .getAccepted();
  }

  PollTasksRequest pollRequest(int tasksMax) {
    return PollTasksRequest.newBuilder()
        .setWorkerId(id)
        .setTaskQueue(queue)
        .addTypes(TypeVersion.newBuilder().setWorkflowType(type))
        .setMaxTasks(tasksMax)
        .build();
  }

  List<Task> poll(int tasksMax) {
    return server.workers().pollTasks(pollRequest(tasksMax)).getTasksList();
  }

  List<ReportResult> report(ReportItem.Builder... items) {
    ReportRequest.Builder request = ReportRequest.newBuilder().setWorkerId(id);
    for (ReportItem.Builder item : items) {
      request.addItems(item);
    }
    return server.workers().report(request.build()).getResultsList();
  }

  static ReportItem.Builder item(Task task) {
    return ReportItem.newBuilder().setRunId(task.getRunId()).setEpoch(task.getEpoch());
  }

  static ReportItem.Builder stepDone(Task task, String key, dev.kagzi.protocol.v1.Payload output) {
    return item(task)
        .setStepDone(
            ReportItem.StepDone.newBuilder().setStepKey(key).setAttempt(1).setOutput(output));
  }

  static ReportItem.Builder done(Task task) {
    return item(task)
        .setWorkflowDone(ReportItem.WorkflowDone.newBuilder().setOutput(TestServer.payload("1")));
  }

  @Override
  public void close() {
    attached.cancel(null);
  }
}
