package dev.kagzi.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import com.google.protobuf.TextFormat;
import dev.kagzi.protocol.v1.AdminServiceGrpc;
import dev.kagzi.protocol.v1.CreateNamespaceRequest;
import dev.kagzi.protocol.v1.CreateWorkflowScheduleRequest;
import dev.kagzi.protocol.v1.GetWorkerRequest;
import dev.kagzi.protocol.v1.GetWorkflowScheduleRequest;
import dev.kagzi.protocol.v1.ListStepsRequest;
import dev.kagzi.protocol.v1.NamespaceServiceGrpc;
import dev.kagzi.protocol.v1.Step;
import dev.kagzi.protocol.v1.Task;
import dev.kagzi.protocol.v1.Worker;
import dev.kagzi.protocol.v1.WorkerServiceGrpc;
import dev.kagzi.protocol.v1.WorkerStatus;
import dev.kagzi.protocol.v1.Workflow;
import dev.kagzi.protocol.v1.WorkflowSchedule;
import dev.kagzi.protocol.v1.WorkflowScheduleServiceGrpc;
import dev.kagzi.protocol.v1.WorkflowServiceGrpc;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.PrototypeMarshaller;
import io.grpc.Status;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Every call, with ids that belong to another namespace than the one in the request. */
class IsolationTest {
  /**
   * A new run cannot take an existing run id: that error reveals that the id exists, and no more.
   */
  private static final Set<String> STARTS = Set.of("StartWorkflow", "StartWorkflows");

  /** Ids of another namespace that a caller knows. */
  private record Ids(String run, String worker, String step, String externalId, String schedule) {
    static Ids unknown() {
      String run = UUID.randomUUID().toString();
      return new Ids(run, UUID.randomUUID().toString(), run + "/step@1.1", "nobody", run);
    }
  }

  @Test
  void every_call_treats_ids_of_another_namespace_as_unknown() throws Exception {
    try (TestServer server = TestServer.start();
        BatchWorker worker = new BatchWorker(server, "q", "t")) {
      worker.attach();
      server
          .namespaces()
          .createNamespace(CreateNamespaceRequest.newBuilder().setNamespace("other").build());
      server.workflows().startWorkflow(TestServer.start("q", "t").setExternalId("mine").build());
      Task task = worker.poll(1).get(0);
      worker.report(BatchWorker.stepDone(task, "step", TestServer.payload("1")));
      String run = task.getRunId();
      WorkflowSchedule schedule =
          schedules(server)
              .createWorkflowSchedule(
                  CreateWorkflowScheduleRequest.newBuilder()
                      .setTaskQueue("q")
                      .setWorkflowType("t")
                      .setCronExpr("@yearly")
                      .build())
              .getSchedule();
      Ids foreign = new Ids(run, worker.id, run + "/step@1.1", "mine", schedule.getScheduleId());
      Workflow before = server.run(run);
      List<Step> steps = steps(server, run);

      for (MethodDescriptor<?, ?> method : methods()) {
        if (!STARTS.contains(String.valueOf(method.getBareMethodName()))) {
          assertThat(outcome(server, method, foreign))
              .as(method.getFullMethodName())
              .isEqualTo(outcome(server, method, Ids.unknown()));
        }
      }

      assertThat(server.run(run)).isEqualTo(before);
      assertThat(
              schedules(server)
                  .getWorkflowSchedule(
                      GetWorkflowScheduleRequest.newBuilder()
                          .setScheduleId(schedule.getScheduleId())
                          .build())
                  .getSchedule())
          .isEqualTo(schedule);
      assertThat(steps(server, run)).isEqualTo(steps);
      assertThat(worker(server, worker).getStatus()).isEqualTo(WorkerStatus.WORKER_STATUS_ONLINE);
      worker.report(BatchWorker.done(task));
    }
  }

  private static WorkflowScheduleServiceGrpc.WorkflowScheduleServiceBlockingStub schedules(
      TestServer server) {
    return WorkflowScheduleServiceGrpc.newBlockingStub(server.sharedChannel());
  }

  private static List<Step> steps(TestServer server, String run) {
    return server
        .admin()
        .listSteps(ListStepsRequest.newBuilder().setRunId(run).build())
        .getStepsList();
  }

  private static Worker worker(TestServer server, BatchWorker worker) {
    return server
        .admin()
        .getWorker(GetWorkerRequest.newBuilder().setWorkerId(worker.id).build())
        .getWorker();
  }

  // Namespace calls come last: one of them disables the namespace.
  private static List<MethodDescriptor<?, ?>> methods() {
    return Stream.of(
            WorkflowServiceGrpc.getServiceDescriptor(),
            WorkerServiceGrpc.getServiceDescriptor(),
            WorkflowScheduleServiceGrpc.getServiceDescriptor(),
            AdminServiceGrpc.getServiceDescriptor(),
            NamespaceServiceGrpc.getServiceDescriptor())
        .<MethodDescriptor<?, ?>>flatMap(service -> service.getMethods().stream())
        .toList();
  }

  /** Returns the status and the response of the call, without ids and numbers. */
  private static <Q, A> String outcome(TestServer server, MethodDescriptor<Q, A> method, Ids ids)
      throws Exception {
    PrototypeMarshaller<Q> requests = (PrototypeMarshaller<Q>) method.getRequestMarshaller();
    Message.Builder request = ((Message) prototype(requests)).newBuilderForType();
    fill(request, ids);
    List<String> said = new ArrayList<>();
    CompletableFuture<Status> end = new CompletableFuture<>();
    ClientCall<Q, A> call =
        server
            .sharedChannel()
            .newCall(method, CallOptions.DEFAULT.withDeadlineAfter(10, TimeUnit.SECONDS));
    call.start(
        new ClientCall.Listener<A>() {
          @Override
          public void onMessage(A answer) {
            said.add(TextFormat.printer().printToString((Message) answer));
          }

          @Override
          public void onClose(Status status, Metadata trailers) {
            end.complete(status);
          }
        },
        new Metadata());
    call.request(100);
    call.sendMessage(method.parseRequest(request.build().toByteString().newInput()));
    call.halfClose();
    Status status = end.get(20, TimeUnit.SECONDS);
    assertThat(status.getCode())
        .as(method.getFullMethodName())
        .isNotIn(Status.Code.DEADLINE_EXCEEDED, Status.Code.INTERNAL, Status.Code.UNKNOWN);
    return (status.getCode() + " " + status.getDescription() + " " + said)
        .replaceAll("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "id")
        .replace(ids.externalId, "name")
        .replaceAll("(latency|silent)_ms: [0-9]+", "")
        .replaceAll("[0-9]+", "0")
        .replaceAll("\\s+", " ");
  }

  private static <Q> Q prototype(PrototypeMarshaller<Q> requests) {
    @Nullable Q prototype = requests.getMessagePrototype();
    if (prototype == null) {
      throw new IllegalStateException("prototype: none (expected: a message)");
    }
    return prototype;
  }

  private static void fill(Message.Builder request, Ids ids) {
    Descriptor type = request.getDescriptorForType();
    for (FieldDescriptor field : type.getFields()) {
      if (field.isMapField() || Set.of("page", "payload").contains(field.getName())) {
        continue;
      }
      Object value = value(request, field, ids);
      if (value != null && field.isRepeated()) {
        request.addRepeatedField(field, value);
      } else if (value != null) {
        request.setField(field, value);
      }
    }
  }

  private static @Nullable Object value(Message.Builder in, FieldDescriptor field, Ids ids) {
    return switch (field.getJavaType()) {
      case STRING ->
          switch (field.getName()) {
            case "namespace" -> "other";
            case "run_id", "run_ids", "watch", "parent_run_id" -> ids.run;
            case "schedule_id" -> ids.schedule;
            case "worker_id" -> ids.worker;
            case "step_id" -> ids.step;
            case "external_id" -> ids.externalId;
            case "task_queue" -> "q";
            case "workflow_type", "workflow_types" -> "t";
            case "step_key", "step_name" -> "step";
            default -> null;
          };
      case INT ->
          Set.of("epoch", "attempt", "max_tasks", "active_count").contains(field.getName())
              ? 1
              : null;
      case LONG -> field.getName().equals("wait_ms") ? 50L : null;
      case MESSAGE -> message(in, field, ids);
      default -> null;
    };
  }

  /** For the report's oneof: a completed run. */
  private static @Nullable Message message(Message.Builder in, FieldDescriptor field, Ids ids) {
    boolean choice =
        field.getRealContainingOneof() != null && !field.getName().equals("workflow_done");
    if (choice
        || !field.getMessageType().getFullName().startsWith("kagzi.v1.")
        || Set.of("Payload", "ErrorDetail", "RetryPolicy", "PageRequest")
            .contains(field.getMessageType().getName())) {
      return null;
    }
    Message.Builder inner = in.newBuilderForField(field);
    fill(inner, ids);
    return inner.build();
  }
}
