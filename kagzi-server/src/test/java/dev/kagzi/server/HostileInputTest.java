package dev.kagzi.server;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import com.google.protobuf.Timestamp;
import dev.kagzi.protocol.v1.AdminServiceGrpc;
import dev.kagzi.protocol.v1.AnswerCallbackRequest;
import dev.kagzi.protocol.v1.AttachRequest;
import dev.kagzi.protocol.v1.AwaitWorkflowRequest;
import dev.kagzi.protocol.v1.BackfillScheduleRequest;
import dev.kagzi.protocol.v1.BeginStepRequest;
import dev.kagzi.protocol.v1.CancelWorkflowRequest;
import dev.kagzi.protocol.v1.ClaimRef;
import dev.kagzi.protocol.v1.CompleteStepRequest;
import dev.kagzi.protocol.v1.CompleteWorkflowRequest;
import dev.kagzi.protocol.v1.CreateNamespaceRequest;
import dev.kagzi.protocol.v1.CreateWorkflowScheduleRequest;
import dev.kagzi.protocol.v1.DeregisterRequest;
import dev.kagzi.protocol.v1.DisableNamespaceRequest;
import dev.kagzi.protocol.v1.DrainWorkerRequest;
import dev.kagzi.protocol.v1.ErrorDetail;
import dev.kagzi.protocol.v1.ExplainWorkflowRequest;
import dev.kagzi.protocol.v1.FailStepRequest;
import dev.kagzi.protocol.v1.FailWorkflowRequest;
import dev.kagzi.protocol.v1.GetHistoryRequest;
import dev.kagzi.protocol.v1.GetNamespaceRequest;
import dev.kagzi.protocol.v1.GetPublishedRequest;
import dev.kagzi.protocol.v1.GetStepRequest;
import dev.kagzi.protocol.v1.GetWorkerRequest;
import dev.kagzi.protocol.v1.GetWorkflowByExternalIdRequest;
import dev.kagzi.protocol.v1.GetWorkflowRequest;
import dev.kagzi.protocol.v1.GetWorkflowScheduleRequest;
import dev.kagzi.protocol.v1.HealthCheckRequest;
import dev.kagzi.protocol.v1.HeartbeatRequest;
import dev.kagzi.protocol.v1.ListNamespacesRequest;
import dev.kagzi.protocol.v1.ListScheduleRunsRequest;
import dev.kagzi.protocol.v1.ListSignalsRequest;
import dev.kagzi.protocol.v1.ListStepsRequest;
import dev.kagzi.protocol.v1.ListWorkersRequest;
import dev.kagzi.protocol.v1.ListWorkflowSchedulesRequest;
import dev.kagzi.protocol.v1.ListWorkflowsRequest;
import dev.kagzi.protocol.v1.NamespaceServiceGrpc;
import dev.kagzi.protocol.v1.PageRequest;
import dev.kagzi.protocol.v1.PollTaskRequest;
import dev.kagzi.protocol.v1.PollTasksRequest;
import dev.kagzi.protocol.v1.PreviewScheduleRequest;
import dev.kagzi.protocol.v1.RegisterRequest;
import dev.kagzi.protocol.v1.ReportItem;
import dev.kagzi.protocol.v1.ReportRequest;
import dev.kagzi.protocol.v1.RetryPolicy;
import dev.kagzi.protocol.v1.SignalOrStartWorkflowRequest;
import dev.kagzi.protocol.v1.SignalWorkflowRequest;
import dev.kagzi.protocol.v1.SleepRequest;
import dev.kagzi.protocol.v1.StartWorkflowsRequest;
import dev.kagzi.protocol.v1.TriggerWorkflowScheduleRequest;
import dev.kagzi.protocol.v1.TypeVersion;
import dev.kagzi.protocol.v1.UpdateNamespaceRequest;
import dev.kagzi.protocol.v1.UpdateWorkflowScheduleRequest;
import dev.kagzi.protocol.v1.WatchWorkflowsRequest;
import dev.kagzi.protocol.v1.WorkerServiceGrpc;
import dev.kagzi.protocol.v1.WorkflowScheduleServiceGrpc;
import dev.kagzi.protocol.v1.WorkflowServiceGrpc;
import dev.kagzi.protocol.v1.WorkflowTypeConcurrency;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Takes a valid request of every call and puts invalid values into each field in turn. No request
 * may cause an internal error.
 */
class HostileInputTest {
  private static final String UNKNOWN_ID = UUID.randomUUID().toString();
  private static final List<String> TEXTS =
      List.of(
          "",
          "a\u0000b",
          "\u0001",
          "\n",
          "\uFFFF",
          "x".repeat(1 << 20),
          "ä".repeat(201),
          "no-id",
          UNKNOWN_ID,
          UNKNOWN_ID + "/s@1.1",
          UNKNOWN_ID + "/s@99999999999.1",
          "next:AAAA",
          "prev:",
          "../../etc/passwd",
          "'; DROP TABLE kagzi.workflow_runs; --");
  private static final List<Long> LONGS =
      List.of(0L, -1L, 1L, Long.MAX_VALUE, Long.MIN_VALUE, 253_402_300_800L, 1L << 33);
  private static final List<Integer> INTS = List.of(0, -1, 1, Integer.MAX_VALUE, Integer.MIN_VALUE);
  private static final List<Double> DOUBLES =
      List.of(0.0, -1.0, Double.NaN, Double.MAX_VALUE, Double.MIN_VALUE, Double.POSITIVE_INFINITY);

  private static final Set<String> WAITING =
      Set.of(
          "WorkflowService/AwaitWorkflow",
          "WorkflowService/GetPublished",
          "WorkflowService/WatchWorkflows",
          "WorkerService/PollTask",
          "WorkerService/PollTasks",
          "WorkerService/Attach");

  private static TestServer server;
  private static String workerId = UNKNOWN_ID;

  @BeforeAll
  static void startServer() {
    server = TestServer.start();
  }

  @AfterAll
  static void stopServer() {
    server.close();
  }

  static Stream<String> calls() {
    return sound(UNKNOWN_ID).keySet().stream();
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("calls")
  void invalid_values_in_any_field_never_cause_an_internal_error(String call) throws Exception {
    MethodDescriptor<?, ?> method = method(call);
    // A run that is being executed, so that reports on it reach the database.
    server.startRun("live", "t");
    String run = new BatchWorker(server, "live", "t").poll(1).get(0).getRunId();
    workerId = new BatchWorker(server, "q", "t").id;

    for (Message hostile : hostile(requireNonNull(sound(run).get(call)))) {
      Status status = call(method, hostile, WAITING.contains(call) ? 50 : 10_000);
      assertThat(status.getCode())
          .as("%s answers %s to %s", call, status, shown(hostile))
          .isNotIn(Status.Code.UNKNOWN, Status.Code.INTERNAL);
      if (!WAITING.contains(call)) {
        assertThat(status.getCode()).isNotEqualTo(Status.Code.DEADLINE_EXCEEDED);
      }
    }
  }

  /** Returns one valid request for each call, about this run. */
  private static Map<String, Message> sound(String run) {
    String worker = UUID.randomUUID().toString();
    String step = run + "/s@1.1";
    ErrorDetail error =
        ErrorDetail.newBuilder().setMessage("m").setSubject("s").putMetadata("k", "v").build();
    RetryPolicy policy = RetryPolicy.newBuilder().setJitter(0.1).addNonRetryableErrors("e").build();
    PageRequest page = PageRequest.newBuilder().setPageSize(2).build();
    Timestamp now = Timestamp.newBuilder().setSeconds(1_700_000_000).build();
    ReportItem.Builder item = ReportItem.newBuilder().setRunId(run).setEpoch(1);
    Map<String, Message> calls = new LinkedHashMap<>();
    calls.put(
        "WorkflowService/StartWorkflow",
        TestServer.start("q", "t")
            .setExternalId("e")
            .setVersion("1")
            .setRetryPolicy(policy)
            .build());
    calls.put(
        "WorkflowService/StartWorkflows",
        StartWorkflowsRequest.newBuilder()
            .addStarts(TestServer.start("q", "t").setRetryPolicy(policy))
            .build());
    calls.put("WorkflowService/GetWorkflow", GetWorkflowRequest.newBuilder().setRunId(run).build());
    calls.put(
        "WorkflowService/ExplainWorkflow",
        ExplainWorkflowRequest.newBuilder().setRunId(run).build());
    calls.put(
        "WorkflowService/GetWorkflowByExternalId",
        GetWorkflowByExternalIdRequest.newBuilder().setExternalId("e").build());
    calls.put(
        "WorkflowService/ListWorkflows",
        ListWorkflowsRequest.newBuilder()
            .setPage(page)
            .setCreatedAfter(now)
            .setCreatedBefore(now)
            .build());
    calls.put(
        "WorkflowService/SignalWorkflow",
        SignalWorkflowRequest.newBuilder()
            .setRunId(run)
            .setName("approval")
            .setPayload(TestServer.payload("1"))
            .setSignalId("s")
            .build());
    calls.put(
        "WorkflowService/AnswerCallback",
        AnswerCallbackRequest.newBuilder()
            .setRunId(run)
            .setStepKey("payment")
            .setPayload(TestServer.payload("1"))
            .build());
    calls.put(
        "WorkflowService/SignalOrStartWorkflow",
        SignalOrStartWorkflowRequest.newBuilder()
            .setStart(TestServer.start("hostile", "order").setExternalId("signalled"))
            .setName("approval")
            .setPayload(TestServer.payload("1"))
            .setSignalId("s")
            .build());
    calls.put(
        "WorkflowService/GetPublished",
        GetPublishedRequest.newBuilder().setRunId(run).setName("progress").build());
    calls.put("WorkflowService/ListSignals", ListSignalsRequest.newBuilder().setRunId(run).build());
    calls.put(
        "WorkflowService/CancelWorkflow", CancelWorkflowRequest.newBuilder().setRunId(run).build());
    calls.put(
        "WorkflowService/AwaitWorkflow", AwaitWorkflowRequest.newBuilder().setRunId(run).build());
    calls.put(
        "WorkflowService/WatchWorkflows",
        WatchWorkflowsRequest.newBuilder().addWatchRunIds(run).addForgetRunIds(run).build());
    calls.put(
        "WorkerService/Register",
        RegisterRequest.newBuilder()
            .setTaskQueue("q")
            .addWorkflowTypes("t")
            .addServed(TypeVersion.newBuilder().setWorkflowType("t"))
            .addWorkflowTypeConcurrency(
                WorkflowTypeConcurrency.newBuilder().setWorkflowType("t").setMaxConcurrent(1))
            .putLabels("k", "v")
            .build());
    calls.put(
        "WorkerService/Heartbeat",
        HeartbeatRequest.newBuilder()
            .setWorkerId(workerId)
            .addClaims(ClaimRef.newBuilder().setRunId(run).setEpoch(1))
            .build());
    calls.put(
        "WorkerService/Deregister", DeregisterRequest.newBuilder().setWorkerId(worker).build());
    calls.put(
        "WorkerService/PollTask",
        PollTaskRequest.newBuilder()
            .setWorkerId(workerId)
            .setTaskQueue("q")
            .addWorkflowTypes("none")
            .build());
    calls.put(
        "WorkerService/PollTasks",
        PollTasksRequest.newBuilder()
            .setWorkerId(workerId)
            .setTaskQueue("q")
            .addTypes(TypeVersion.newBuilder().setWorkflowType("none"))
            .setMaxTasks(1)
            .setWaitMs(1)
            .build());
    calls.put(
        "WorkerService/BeginStep",
        BeginStepRequest.newBuilder()
            .setRunId(run)
            .setStepName("s")
            .setInput(TestServer.payload("1"))
            .setRetryPolicy(policy)
            .build());
    calls.put(
        "WorkerService/CompleteStep",
        CompleteStepRequest.newBuilder()
            .setRunId(run)
            .setStepId(step)
            .setOutput(TestServer.payload("1"))
            .build());
    calls.put(
        "WorkerService/FailStep",
        FailStepRequest.newBuilder().setRunId(run).setStepId(step).setError(error).build());
    calls.put(
        "WorkerService/CompleteWorkflow",
        CompleteWorkflowRequest.newBuilder()
            .setRunId(run)
            .setOutput(TestServer.payload("1"))
            .build());
    calls.put(
        "WorkerService/FailWorkflow",
        FailWorkflowRequest.newBuilder().setRunId(run).setError(error).build());
    calls.put(
        "WorkerService/Sleep",
        SleepRequest.newBuilder()
            .setRunId(run)
            .setStepId(step)
            .setDuration(com.google.protobuf.Duration.newBuilder().setSeconds(1))
            .build());
    calls.put(
        "WorkerService/Report",
        ReportRequest.newBuilder()
            .addItems(
                item.clone()
                    .setStepDone(
                        ReportItem.StepDone.newBuilder()
                            .setStepKey("s")
                            .setAttempt(1)
                            .setOutput(TestServer.payload("1"))))
            .addItems(
                item.clone()
                    .setStepFailed(
                        ReportItem.StepFailed.newBuilder()
                            .setStepKey("s")
                            .setAttempt(1)
                            .setError(error)
                            .setRetryPolicy(policy)))
            .addItems(
                item.clone()
                    .setSleep(ReportItem.SleepStarted.newBuilder().setStepKey("s").setUntil(now)))
            .addItems(
                item.clone()
                    .setSleep(
                        ReportItem.SleepStarted.newBuilder().setStepKey("s").setDurationMs(1)))
            .addItems(
                item.clone()
                    .setReceive(
                        ReportItem.ReceiveStarted.newBuilder()
                            .setStepKey("r")
                            .setSignalName("approval")
                            .setTimeoutMs(1)))
            .addItems(
                item.clone()
                    .setValuesPublished(
                        ReportItem.ValuesPublished.newBuilder()
                            .addValues(
                                ReportItem.ValuesPublished.NewValue.newBuilder()
                                    .setName("progress")
                                    .setScope("race[a]/")
                                    .setSequence(1)
                                    .setOrder(1)
                                    .setValue(TestServer.payload("1")))))
            .addItems(
                item.clone()
                    .setCallback(ReportItem.CallbackStarted.newBuilder().setStepKey("payment")))
            .addItems(
                item.clone()
                    .setReceivesStopped(
                        ReportItem.ReceivesStopped.newBuilder().addScopes("race[a]/")))
            .addItems(
                item.clone()
                    .setContinueAsNew(
                        ReportItem.ContinueAsNew.newBuilder()
                            .setInput(TestServer.payload("1"))
                            .setVersion("v")))
            .addItems(
                item.clone()
                    .setCancelSeen(
                        ReportItem.CancelSeen.newBuilder().setStepKey("c").setScope("race[a]/")))
            .addItems(
                item.clone().setReleased(ReportItem.Released.newBuilder().setBlockedBy(error)))
            .build());
    calls.put("WorkerService/Attach", AttachRequest.newBuilder().setWorkerId(workerId).build());
    calls.put(
        "WorkerService/GetHistory",
        GetHistoryRequest.newBuilder().setRunId(run).setEpoch(1).build());
    calls.put("AdminService/ListWorkers", ListWorkersRequest.newBuilder().setPage(page).build());
    calls.put("AdminService/GetWorker", GetWorkerRequest.newBuilder().setWorkerId(worker).build());
    calls.put("AdminService/GetStep", GetStepRequest.newBuilder().setStepId(step).build());
    calls.put(
        "AdminService/ListSteps",
        ListStepsRequest.newBuilder().setRunId(run).setPage(page).build());
    calls.put("AdminService/HealthCheck", HealthCheckRequest.newBuilder().build());
    calls.put(
        "AdminService/DrainWorker", DrainWorkerRequest.newBuilder().setWorkerId(worker).build());
    calls.put(
        "NamespaceService/CreateNamespace",
        CreateNamespaceRequest.newBuilder().setNamespace("n").build());
    calls.put(
        "NamespaceService/GetNamespace",
        GetNamespaceRequest.newBuilder().setNamespace("n").build());
    calls.put(
        "NamespaceService/ListNamespaces",
        ListNamespacesRequest.newBuilder().setPage(page).build());
    calls.put(
        "NamespaceService/UpdateNamespace",
        UpdateNamespaceRequest.newBuilder().setNamespace("n").build());
    calls.put(
        "WorkflowScheduleService/CreateWorkflowSchedule",
        CreateWorkflowScheduleRequest.newBuilder()
            .setTaskQueue("q")
            .setWorkflowType("t")
            .setCronExpr("@yearly")
            .setTimeZone("UTC")
            .setInput(TestServer.payload("1"))
            .setRetryPolicy(policy)
            .build());
    calls.put(
        "WorkflowScheduleService/GetWorkflowSchedule",
        GetWorkflowScheduleRequest.newBuilder().setScheduleId(run).build());
    calls.put(
        "WorkflowScheduleService/ListWorkflowSchedules",
        ListWorkflowSchedulesRequest.newBuilder().setPage(page).build());
    calls.put(
        "WorkflowScheduleService/UpdateWorkflowSchedule",
        UpdateWorkflowScheduleRequest.newBuilder()
            .setScheduleId(schedule())
            .setInput(TestServer.payload("1"))
            .setNextFireAt(now)
            .setRetryPolicy(policy)
            .setEnabled(false)
            .build());
    calls.put(
        "WorkflowScheduleService/TriggerWorkflowSchedule",
        TriggerWorkflowScheduleRequest.newBuilder().setScheduleId(run).build());
    calls.put(
        "WorkflowScheduleService/ListScheduleRuns",
        ListScheduleRunsRequest.newBuilder().setScheduleId(run).setPage(page).build());
    calls.put(
        "WorkflowScheduleService/PreviewSchedule",
        PreviewScheduleRequest.newBuilder().setCronExpr("@daily").setAfter(now).build());
    calls.put(
        "WorkflowScheduleService/BackfillSchedule",
        BackfillScheduleRequest.newBuilder()
            .setScheduleId(schedule())
            .setFrom(now)
            .setTo(now)
            .build());
    // Last: one of its variants disables the namespace that the others use.
    calls.put(
        "NamespaceService/DisableNamespace",
        DisableNamespaceRequest.newBuilder().setNamespace("gone").build());
    return calls;
  }

  /** A schedule that never fires. */
  private static String schedule() {
    return WorkflowScheduleServiceGrpc.newBlockingStub(server.sharedChannel())
        .createWorkflowSchedule(
            CreateWorkflowScheduleRequest.newBuilder()
                .setTaskQueue("q")
                .setWorkflowType("t")
                .setCronExpr("@yearly")
                .setEnabled(false)
                .build())
        .getSchedule()
        .getScheduleId();
  }

  /** Returns copies of the message, each with one field replaced, at every depth. */
  private static List<Message> hostile(Message sound) {
    List<Message> all = new ArrayList<>();
    for (FieldDescriptor field : sound.getDescriptorForType().getFields()) {
      if (field.isMapField()) {
        continue;
      }
      if (field.getJavaType() == FieldDescriptor.JavaType.MESSAGE) {
        nested(sound, field, all);
      } else {
        for (Object value : values(field)) {
          Message.Builder changed = sound.toBuilder();
          changed.setField(field, field.isRepeated() ? List.of(value) : value);
          all.add(changed.build());
        }
      }
    }
    return all;
  }

  private static void nested(Message sound, FieldDescriptor field, List<Message> all) {
    if (!field.isRepeated()) {
      if (sound.hasField(field)) {
        all.add(sound.toBuilder().clearField(field).build());
        for (Message inner : hostile((Message) sound.getField(field))) {
          all.add(sound.toBuilder().setField(field, inner).build());
        }
      }
      return;
    }
    for (int i = 0; i < sound.getRepeatedFieldCount(field); i++) {
      for (Message inner : hostile((Message) sound.getRepeatedField(field, i))) {
        all.add(sound.toBuilder().setRepeatedField(field, i, inner).build());
      }
    }
  }

  private static List<?> values(FieldDescriptor field) {
    return switch (field.getJavaType()) {
      case STRING -> TEXTS;
      case LONG -> LONGS;
      case INT -> INTS;
      case DOUBLE, FLOAT -> DOUBLES;
      case BOOLEAN -> List.of(true, false);
      case BYTE_STRING -> List.of(ByteString.EMPTY, ByteString.copyFrom(new byte[3 << 20]));
      case ENUM -> List.of(field.getEnumType().findValueByNumberCreatingIfUnknown(99));
      case MESSAGE -> throw new AssertionError(field);
    };
  }

  private static MethodDescriptor<?, ?> method(String name) {
    return Stream.of(
            WorkflowServiceGrpc.getServiceDescriptor(),
            WorkerServiceGrpc.getServiceDescriptor(),
            WorkflowScheduleServiceGrpc.getServiceDescriptor(),
            AdminServiceGrpc.getServiceDescriptor(),
            NamespaceServiceGrpc.getServiceDescriptor())
        .flatMap(service -> service.getMethods().stream())
        .filter(method -> method.getFullMethodName().equals("kagzi.v1." + name))
        .findFirst()
        .orElseThrow();
  }

  @SuppressWarnings("unchecked") // The message was built for the method.
  private static <Q, A> Status call(MethodDescriptor<Q, A> method, Message message, long waitMs)
      throws Exception {
    CompletableFuture<Status> end = new CompletableFuture<>();
    ClientCall<Q, A> call =
        server
            .sharedChannel()
            .newCall(method, CallOptions.DEFAULT.withDeadlineAfter(waitMs, TimeUnit.MILLISECONDS));
    call.start(
        new ClientCall.Listener<A>() {
          @Override
          public void onClose(Status status, Metadata trailers) {
            end.complete(status);
          }
        },
        new Metadata());
    call.request(100);
    call.sendMessage((Q) message);
    call.halfClose();
    return end.get(20, TimeUnit.SECONDS);
  }

  private static String shown(Message message) {
    String text = message.toString();
    return text.length() <= 500 ? text : text.substring(0, 500) + "…";
  }
}
