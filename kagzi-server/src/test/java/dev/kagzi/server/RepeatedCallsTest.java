package dev.kagzi.server;

import static dev.kagzi.server.TestServer.payload;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.Message;
import com.google.protobuf.Timestamp;
import dev.kagzi.engine.EngineConfig;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.Shard;
import dev.kagzi.postgres.CuttingProxy;
import dev.kagzi.postgres.EmbeddedPostgres;
import dev.kagzi.postgres.SharedPostgres;
import dev.kagzi.protocol.v1.AdminServiceGrpc;
import dev.kagzi.protocol.v1.AnswerCallbackRequest;
import dev.kagzi.protocol.v1.BackfillScheduleRequest;
import dev.kagzi.protocol.v1.BeginStepRequest;
import dev.kagzi.protocol.v1.CallbackFailure;
import dev.kagzi.protocol.v1.CancelWorkflowRequest;
import dev.kagzi.protocol.v1.ClaimRef;
import dev.kagzi.protocol.v1.CompleteStepRequest;
import dev.kagzi.protocol.v1.CompleteWorkflowRequest;
import dev.kagzi.protocol.v1.CreateNamespaceRequest;
import dev.kagzi.protocol.v1.CreateWorkflowScheduleRequest;
import dev.kagzi.protocol.v1.DeleteWorkflowScheduleRequest;
import dev.kagzi.protocol.v1.DeregisterRequest;
import dev.kagzi.protocol.v1.DisableNamespaceRequest;
import dev.kagzi.protocol.v1.DrainWorkerRequest;
import dev.kagzi.protocol.v1.EnableNamespaceRequest;
import dev.kagzi.protocol.v1.ErrorDetail;
import dev.kagzi.protocol.v1.FailStepRequest;
import dev.kagzi.protocol.v1.FailWorkflowRequest;
import dev.kagzi.protocol.v1.ForceOfflineWorkerRequest;
import dev.kagzi.protocol.v1.HeartbeatRequest;
import dev.kagzi.protocol.v1.NamespaceServiceGrpc;
import dev.kagzi.protocol.v1.PauseWorkflowScheduleRequest;
import dev.kagzi.protocol.v1.RegisterRequest;
import dev.kagzi.protocol.v1.ReportItem;
import dev.kagzi.protocol.v1.ReportRequest;
import dev.kagzi.protocol.v1.ResumeWorkflowRequest;
import dev.kagzi.protocol.v1.ResumeWorkflowScheduleRequest;
import dev.kagzi.protocol.v1.RetryPolicy;
import dev.kagzi.protocol.v1.RetryWorkflowRequest;
import dev.kagzi.protocol.v1.SetDefaultVersionRequest;
import dev.kagzi.protocol.v1.SignalOrStartWorkflowRequest;
import dev.kagzi.protocol.v1.SignalWorkflowRequest;
import dev.kagzi.protocol.v1.SleepRequest;
import dev.kagzi.protocol.v1.StartWorkflowsRequest;
import dev.kagzi.protocol.v1.StepKind;
import dev.kagzi.protocol.v1.Task;
import dev.kagzi.protocol.v1.TerminateWorkflowRequest;
import dev.kagzi.protocol.v1.TriggerWorkflowScheduleRequest;
import dev.kagzi.protocol.v1.TypeVersion;
import dev.kagzi.protocol.v1.UpdateNamespaceRequest;
import dev.kagzi.protocol.v1.UpdateWorkflowScheduleRequest;
import dev.kagzi.protocol.v1.WorkerServiceGrpc;
import dev.kagzi.protocol.v1.WorkflowScheduleServiceGrpc;
import dev.kagzi.protocol.v1.WorkflowServiceGrpc;
import io.grpc.CallOptions;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * Every call that writes loses PostgreSQL's response to its commit, and its client sends it again.
 * It takes effect once, and both responses are equal.
 */
class RepeatedCallsTest {
  private static final String TYPE = "order";

  /** Journal writes that may run as a single auto-committed statement, with the statement's tag. */
  private static final Map<String, String> ALONE =
      Map.of(
          "WorkflowService/StartWorkflow", "SELECT 1",
          "WorkflowService/StartWorkflows", "SELECT 1",
          "WorkerService/CompleteStep", "UPDATE 1",
          "WorkerService/CompleteWorkflow", "SELECT 1",
          "WorkerService/Report", "SELECT 1");

  /** Calls that write nothing, or that have no response to repeat. */
  private static final Map<String, String> NOT_REPEATED =
      Map.ofEntries(
          Map.entry("WorkflowService/GetWorkflow", "reads"),
          Map.entry("WorkflowService/GetWorkflowByExternalId", "reads"),
          Map.entry("WorkflowService/ExplainWorkflow", "reads"),
          Map.entry("WorkflowService/ListWorkflows", "reads"),
          Map.entry("WorkflowService/ListSignals", "reads"),
          Map.entry("WorkflowService/GetPublished", "reads"),
          Map.entry("WorkflowService/AwaitWorkflow", "reads"),
          Map.entry("WorkflowService/WatchWorkflows", "reads"),
          Map.entry("WorkerService/GetHistory", "reads"),
          Map.entry("WorkerService/Attach", "a stream; a new one takes the place of the old one"),
          Map.entry("WorkerService/PollTask", "hands out other work each time; see below"),
          Map.entry("WorkerService/PollTasks", "hands out other work each time; see below"),
          Map.entry("WorkflowScheduleService/GetWorkflowSchedule", "reads"),
          Map.entry("WorkflowScheduleService/ListWorkflowSchedules", "reads"),
          Map.entry("WorkflowScheduleService/ListScheduleRuns", "reads"),
          Map.entry("WorkflowScheduleService/PreviewSchedule", "computes"),
          Map.entry("NamespaceService/GetNamespace", "reads"),
          Map.entry("NamespaceService/ListNamespaces", "reads"),
          Map.entry("AdminService/ListWorkers", "reads"),
          Map.entry("AdminService/GetWorker", "reads"),
          Map.entry("AdminService/GetStep", "reads"),
          Map.entry("AdminService/ListSteps", "reads"),
          Map.entry("AdminService/HealthCheck", "reads"),
          Map.entry("AdminService/GetServerInfo", "reads"),
          Map.entry("AdminService/GetStats", "reads"),
          Map.entry("AdminService/GetQueueDepth", "reads"),
          Map.entry("AdminService/ListWorkflowTypes", "reads"),
          Map.entry("AdminService/ListWorkerEvents", "reads"),
          Map.entry("AdminService/ListQueues", "reads"),
          Map.entry("AdminService/GetOverview", "reads"),
          Map.entry("AdminService/Diagnose", "reads"),
          Map.entry("AdminService/GetHealth", "reads"));

  private static final AtomicInteger NAMES = new AtomicInteger();

  private static CuttingProxy proxy;
  private static TestServer server;
  private static Connection sql;

  @BeforeAll
  static void open() throws SQLException {
    String database = TestServer.createDatabase();
    EmbeddedPostgres postgres = SharedPostgres.server();
    proxy = new CuttingProxy(postgres.jdbcUrl(database));
    // Otherwise a commit of the coordinator could be cut instead of the call's.
    EngineConfig quiet =
        EngineConfig.defaults()
            .withAutoCreateNamespaces(true)
            .withCoordinatorInterval(Duration.ofMinutes(1));
    server =
        TestServer.start(
            database,
            config -> config.dbUrl(proxy.jdbcUrl("")).localCallbacks("key").engine(quiet));
    sql =
        DriverManager.getConnection(
            postgres.jdbcUrl(database), postgres.user(), postgres.password());
  }

  @AfterAll
  static void close() throws SQLException {
    sql.close();
    server.close();
    proxy.close();
  }

  /** Returns the writing calls, each with a supplier of a request that is valid now. */
  private static Map<String, Supplier<Message>> writes() {
    Map<String, Supplier<Message>> all = new TreeMap<>();
    all.put(
        "WorkflowService/StartWorkflow",
        () -> TestServer.start(name(), TYPE).setRunId(id()).build());
    all.put(
        "WorkflowService/StartWorkflows",
        () ->
            StartWorkflowsRequest.newBuilder()
                .addStarts(TestServer.start(name(), TYPE).setRunId(id()))
                .addStarts(TestServer.start(name(), TYPE).setRunId(id()))
                .build());
    all.put(
        "WorkflowService/CancelWorkflow",
        () -> CancelWorkflowRequest.newBuilder().setRunId(run()).build());
    all.put(
        "WorkflowService/TerminateWorkflow",
        () -> TerminateWorkflowRequest.newBuilder().setRunId(run()).setReason("why").build());
    all.put(
        "WorkflowService/SignalWorkflow",
        () ->
            SignalWorkflowRequest.newBuilder()
                .setRunId(run())
                .setName("approval")
                .setSignalId(id())
                .build());
    all.put(
        "WorkflowService/AnswerCallback",
        () -> {
          Held held = new Held();
          held.worker.report(
              BatchWorker.item(held.task)
                  .setCallback(ReportItem.CallbackStarted.newBuilder().setStepKey("payment")));
          return AnswerCallbackRequest.newBuilder()
              .setRunId(held.task.getRunId())
              .setStepKey("payment")
              .setFailure(CallbackFailure.newBuilder().setMessage("no"))
              .build();
        });
    all.put(
        "WorkflowService/SignalOrStartWorkflow",
        () -> {
          String external = "signalled " + id();
          return SignalOrStartWorkflowRequest.newBuilder()
              .setStart(
                  TestServer.start(name(), TYPE)
                      .setExternalId(external)
                      .setRunId(RunId.next(Shard.of("default", external)).toString()))
              .setName("approval")
              .setSignalId(id())
              .build();
        });
    all.put(
        "WorkflowService/RetryWorkflow",
        () -> RetryWorkflowRequest.newBuilder().setRunId(failedRun()).setNewRunId(id()).build());
    all.put(
        "WorkflowService/ResumeWorkflow",
        () -> ResumeWorkflowRequest.newBuilder().setRunId(failedRun()).setAttempt(1).build());
    addWorkerCalls(all);
    addScheduleCalls(all);
    all.put(
        "NamespaceService/CreateNamespace",
        () ->
            CreateNamespaceRequest.newBuilder()
                .setNamespace(name())
                .setDisplayName("shown")
                .setRequestId(id())
                .build());
    all.put(
        "NamespaceService/UpdateNamespace",
        () ->
            UpdateNamespaceRequest.newBuilder()
                .setNamespace(namespace())
                .setDescription("new")
                .setRequestId(id())
                .build());
    all.put(
        "NamespaceService/EnableNamespace",
        () ->
            EnableNamespaceRequest.newBuilder()
                .setNamespace(namespace())
                .setRequestId(id())
                .build());
    all.put(
        "NamespaceService/DisableNamespace",
        () ->
            DisableNamespaceRequest.newBuilder()
                .setNamespace(namespace())
                .setRequestId(id())
                .build());
    all.put(
        "AdminService/SetDefaultVersion",
        () ->
            SetDefaultVersionRequest.newBuilder()
                .setWorkflowType(name())
                .setVersion("v2")
                .setRequestId(id())
                .build());
    all.put(
        "AdminService/DrainWorker",
        () -> DrainWorkerRequest.newBuilder().setWorkerId(new Held().worker.id).build());
    all.put(
        "AdminService/ForceOfflineWorker",
        () ->
            ForceOfflineWorkerRequest.newBuilder()
                .setWorkerId(new Held().worker.id)
                .setReason("dead")
                .setRequestId(id())
                .build());
    return all;
  }

  private static void addWorkerCalls(Map<String, Supplier<Message>> all) {
    all.put(
        "WorkerService/Register",
        () ->
            RegisterRequest.newBuilder()
                .setTaskQueue(name())
                .addWorkflowTypes(TYPE)
                .addServed(TypeVersion.newBuilder().setWorkflowType(TYPE))
                .setHostname("host")
                .setPid(1)
                .setInstanceId(id())
                .setRequestId(id())
                .build());
    all.put(
        "WorkerService/Heartbeat",
        () -> {
          Held held = new Held();
          return HeartbeatRequest.newBuilder()
              .setWorkerId(held.worker.id)
              .addClaims(
                  ClaimRef.newBuilder()
                      .setRunId(held.task.getRunId())
                      .setEpoch(held.task.getEpoch()))
              .setActiveCount(1)
              .setTotalCompleted(3)
              .setTotalFailed(2)
              .build();
        });
    all.put(
        "WorkerService/Deregister",
        () ->
            DeregisterRequest.newBuilder()
                .setWorkerId(new Held().worker.id)
                .setDrain(true)
                .build());
    all.put(
        "WorkerService/Deregister at once",
        () -> DeregisterRequest.newBuilder().setWorkerId(new Held().worker.id).build());
    all.put(
        "WorkerService/BeginStep",
        () -> {
          Task task = new Held().task;
          return BeginStepRequest.newBuilder()
              .setRunId(task.getRunId())
              .setStepName("charge")
              .setEpoch(task.getEpoch())
              .build();
        });
    all.put(
        "WorkerService/CompleteStep",
        () -> {
          Task task = new Held().task;
          return CompleteStepRequest.newBuilder()
              .setRunId(task.getRunId())
              .setStepId(begun(task, StepKind.STEP_KIND_FUNCTION))
              .setOutput(payload("1"))
              .setEpoch(task.getEpoch())
              .build();
        });
    all.put(
        "WorkerService/FailStep",
        () -> {
          Task task = new Held().task;
          return FailStepRequest.newBuilder()
              .setRunId(task.getRunId())
              .setStepId(begun(task, StepKind.STEP_KIND_FUNCTION))
              .setError(ErrorDetail.newBuilder().setMessage("no"))
              .setEpoch(task.getEpoch())
              .build();
        });
    all.put(
        "WorkerService/Sleep",
        () -> {
          Task task = new Held().task;
          return SleepRequest.newBuilder()
              .setRunId(task.getRunId())
              .setStepId(begun(task, StepKind.STEP_KIND_SLEEP))
              .setDuration(com.google.protobuf.Duration.newBuilder().setSeconds(600))
              .setEpoch(task.getEpoch())
              .build();
        });
    all.put(
        "WorkerService/CompleteWorkflow",
        () -> {
          Task task = new Held().task;
          return CompleteWorkflowRequest.newBuilder()
              .setRunId(task.getRunId())
              .setOutput(payload("1"))
              .setEpoch(task.getEpoch())
              .build();
        });
    all.put(
        "WorkerService/FailWorkflow",
        () -> {
          Task task = new Held().task;
          return FailWorkflowRequest.newBuilder()
              .setRunId(task.getRunId())
              .setError(ErrorDetail.newBuilder().setMessage("no"))
              .setEpoch(task.getEpoch())
              .build();
        });
    all.put(
        "WorkerService/Report",
        () -> {
          Held held = new Held();
          return ReportRequest.newBuilder()
              .setWorkerId(held.worker.id)
              .addItems(BatchWorker.stepDone(held.task, "charge", payload("1")))
              .addItems(BatchWorker.done(held.task))
              .build();
        });
  }

  private static void addScheduleCalls(Map<String, Supplier<Message>> all) {
    all.put(
        "WorkflowScheduleService/CreateWorkflowSchedule",
        () -> {
          String name = name();
          return schedule(name)
              .setRequestId(id())
              .setScheduleId(RunId.next(Shard.of("default", name)).toString())
              .build();
        });
    all.put(
        "WorkflowScheduleService/UpdateWorkflowSchedule",
        () ->
            UpdateWorkflowScheduleRequest.newBuilder()
                .setScheduleId(scheduled())
                .setCronExpr("0 8 * * *")
                .setRequestId(id())
                .build());
    all.put(
        "WorkflowScheduleService/DeleteWorkflowSchedule",
        () ->
            DeleteWorkflowScheduleRequest.newBuilder()
                .setScheduleId(scheduled())
                .setRequestId(id())
                .build());
    all.put(
        "WorkflowScheduleService/TriggerWorkflowSchedule",
        () -> {
          String schedule = scheduled();
          return TriggerWorkflowScheduleRequest.newBuilder()
              .setScheduleId(schedule)
              .setRunId(inShardOf(schedule))
              .build();
        });
    all.put(
        "WorkflowScheduleService/PauseWorkflowSchedule",
        () ->
            PauseWorkflowScheduleRequest.newBuilder()
                .setScheduleId(scheduled())
                .setRequestId(id())
                .build());
    all.put(
        "WorkflowScheduleService/ResumeWorkflowSchedule",
        () ->
            ResumeWorkflowScheduleRequest.newBuilder()
                .setScheduleId(scheduled())
                .setRequestId(id())
                .build());
    all.put(
        "WorkflowScheduleService/BackfillSchedule",
        () ->
            BackfillScheduleRequest.newBuilder()
                .setScheduleId(scheduled())
                .setFrom(seconds("2026-01-01T00:00:00Z"))
                .setTo(seconds("2026-01-04T00:00:00Z"))
                .setRequestId(id())
                .build());
  }

  /** A worker that holds a run. */
  private static final class Held {
    final BatchWorker worker;
    final Task task;

    Held() {
      String queue = name();
      worker = new BatchWorker(server, queue, TYPE);
      server
          .workflows()
          .startWorkflow(
              TestServer.start(queue, TYPE)
                  .setRetryPolicy(
                      RetryPolicy.newBuilder()
                          .setMaximumAttempts(3)
                          .setInitialIntervalMs(600_000)
                          .setMaximumIntervalMs(600_000))
                  .build());
      task = worker.poll(1).get(0);
    }
  }

  private static String id() {
    return UUID.randomUUID().toString();
  }

  private static String inShardOf(String id) {
    return RunId.next(RunId.parse(id).orElseThrow().shard()).toString();
  }

  private static String name() {
    return "name-" + NAMES.incrementAndGet();
  }

  private static String run() {
    return server.startRun(name(), TYPE);
  }

  private static String failedRun() {
    String queue = name();
    String run = server.startRun(queue, TYPE);
    BatchWorker worker = new BatchWorker(server, queue, TYPE);
    Task task = worker.poll(1).get(0);
    worker.report(
        BatchWorker.item(task)
            .setWorkflowFailed(
                ReportItem.WorkflowFailed.newBuilder()
                    .setError(ErrorDetail.newBuilder().setMessage("no"))));
    return run;
  }

  private static String begun(Task task, StepKind kind) {
    return server
        .workers()
        .beginStep(
            BeginStepRequest.newBuilder()
                .setRunId(task.getRunId())
                .setStepName("charge")
                .setKind(kind)
                .setEpoch(task.getEpoch())
                .build())
        .getStepId();
  }

  private static String namespace() {
    String name = name();
    server
        .namespaces()
        .createNamespace(CreateNamespaceRequest.newBuilder().setNamespace(name).build());
    return name;
  }

  private static CreateWorkflowScheduleRequest.Builder schedule(String name) {
    return CreateWorkflowScheduleRequest.newBuilder()
        .setName(name)
        .setTaskQueue(name)
        .setWorkflowType(TYPE)
        .setCronExpr("0 9 * * *");
  }

  private static WorkflowScheduleServiceGrpc.WorkflowScheduleServiceBlockingStub schedules() {
    return WorkflowScheduleServiceGrpc.newBlockingStub(server.sharedChannel())
        .withDeadlineAfter(20, TimeUnit.SECONDS);
  }

  private static String scheduled() {
    return schedules()
        .createWorkflowSchedule(schedule(name()).build())
        .getSchedule()
        .getScheduleId();
  }

  private static Timestamp seconds(String time) {
    return Timestamp.newBuilder().setSeconds(Instant.parse(time).getEpochSecond()).build();
  }

  private static List<MethodDescriptor<?, ?>> methods() {
    return Stream.of(
            WorkflowServiceGrpc.getServiceDescriptor(),
            WorkerServiceGrpc.getServiceDescriptor(),
            WorkflowScheduleServiceGrpc.getServiceDescriptor(),
            NamespaceServiceGrpc.getServiceDescriptor(),
            AdminServiceGrpc.getServiceDescriptor())
        .<MethodDescriptor<?, ?>>flatMap(service -> service.getMethods().stream())
        .toList();
  }

  private static String plainName(MethodDescriptor<?, ?> method) {
    return method.getFullMethodName().substring("kagzi.v1.".length());
  }

  @Test
  void every_call_of_the_protocol_is_here_as_a_write_or_with_a_reason_why_not() {
    Set<String> written = new TreeSet<>();
    writes().keySet().forEach(name -> written.add(methodOf(name)));
    Set<String> known = new TreeSet<>(written);
    known.addAll(NOT_REPEATED.keySet());

    assertThat(methods().stream().map(RepeatedCallsTest::plainName))
        .containsExactlyInAnyOrderElementsOf(known);
    assertThat(written).doesNotContainAnyElementsOf(NOT_REPEATED.keySet());
  }

  @TestFactory
  List<DynamicTest> a_write_takes_effect_once_and_is_answered_the_same_when_it_is_repeated() {
    Map<String, MethodDescriptor<?, ?>> methods = new TreeMap<>();
    methods().forEach(method -> methods.put(plainName(method), method));
    List<DynamicTest> tests = new ArrayList<>();
    writes()
        .forEach(
            (name, requests) -> {
              MethodDescriptor<?, ?> method = Objects.requireNonNull(methods.get(methodOf(name)));
              tests.add(DynamicTest.dynamicTest(name, () -> cutAndRepeat(method, requests)));
            });
    return tests;
  }

  /** Returns the method of an entry; several entries of one method have a suffix. */
  private static String methodOf(String name) {
    return name.split(" ", 2)[0];
  }

  private static void cutAndRepeat(MethodDescriptor<?, ?> method, Supplier<Message> requests)
      throws SQLException {
    Message undisturbed = requests.get();
    Map<String, Long> before = counts();
    Message usualAnswer = call(method, undisturbed);
    Map<String, Long> usual = since(before);

    Message request = requests.get();
    before = counts();
    int cuts = proxy.cuts().size();
    proxy.cutAnswer(commitOf(plainName(method)));
    Message first = call(method, request);
    Awaitility.await().atMost(Duration.ofSeconds(30)).until(() -> proxy.cuts().size() > cuts);
    Map<String, Long> cut = since(before);
    String stored = stored();
    Message second = call(method, request);

    assertThat(cut).as("effect of a call whose commit was cut").isEqualTo(usual);
    assertThat(shape(first))
        .as("answer of a call whose commit was cut")
        .isEqualTo(shape(usualAnswer));
    assertThat(second).as("answer of the repeated call").isEqualTo(first);
    assertThat(stored()).as("what is stored after the repeated call").isEqualTo(stored);
  }

  /** Returns the response without what differs between calls: ids, names and times. */
  private static String shape(Message answer) {
    return answer
        .toString()
        .replaceAll("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "ID")
        .replaceAll("name-\\d+", "NAME")
        .replaceAll("(seconds|nanos): \\d+\\n", "");
  }

  private static Predicate<String> commitOf(String method) {
    String alone = ALONE.getOrDefault(method, "COMMIT");
    return tag -> tag.equals("COMMIT") || tag.equals(alone);
  }

  // The loop over all methods does not know their types.
  @SuppressWarnings("unchecked")
  private static Message call(MethodDescriptor<?, ?> method, Message request) {
    return ClientCalls.blockingUnaryCall(
        server.sharedChannel(),
        (MethodDescriptor<Message, Message>) method,
        CallOptions.DEFAULT.withDeadlineAfter(30, TimeUnit.SECONDS),
        request);
  }

  /** Returns row counts and the sums of counters. */
  private static Map<String, Long> counts() throws SQLException {
    Map<String, Long> counts = new TreeMap<>();
    for (String what :
        List.of(
            "count(*) FROM kagzi.workflow_runs",
            "coalesce(sum(total_runs), 0) FROM kagzi.workflow_runs",
            "coalesce(sum(attempts), 0) FROM kagzi.workflow_runs",
            "count(*) FROM kagzi.workflow_payloads",
            "count(*) FROM kagzi.step_runs",
            "count(*) FROM kagzi.namespaces",
            "count(*) FROM kagzi.workflow_types",
            "count(*) FROM kagzi.workers",
            "coalesce(sum(total_completed + total_failed), 0) FROM kagzi.workers",
            "count(*) FROM kagzi.worker_events")) {
      counts.put(what, Long.valueOf(text("SELECT " + what)));
    }
    return counts;
  }

  private static Map<String, Long> since(Map<String, Long> before) throws SQLException {
    Map<String, Long> now = counts();
    before.forEach((what, count) -> now.merge(what, -count, Long::sum));
    return now;
  }

  /**
   * Returns the stored rows without what changes by itself: leases, dispatched runs, and step
   * timeouts, which count from the last call that began the step.
   */
  private static String stored() throws SQLException {
    StringBuilder all = new StringBuilder();
    for (String rows :
        List.of(
            """
            SELECT concat_ws(' ', run_id, external_id, cron_expr, schedule_id, fire_at, total_runs,
                             missed_runs, attempts, updated_at,
                             CASE WHEN finished_at IS NOT NULL OR cron_expr IS NOT NULL
                                  THEN status END, error) AS line
              FROM kagzi.workflow_runs
            """,
            "SELECT concat_ws(' ', run_id, kind) AS line FROM kagzi.workflow_payloads",
            "SELECT (to_jsonb(t) - 'timeout_at')::text AS line FROM kagzi.step_runs t",
            "SELECT to_jsonb(t)::text AS line FROM kagzi.namespaces t",
            "SELECT to_jsonb(t)::text AS line FROM kagzi.workflow_types t",
            "SELECT (to_jsonb(t) - 'last_heartbeat_at')::text AS line FROM kagzi.workers t",
            "SELECT to_jsonb(t)::text AS line FROM kagzi.worker_events t")) {
      all.append(text("SELECT string_agg(line, E'\\n' ORDER BY line) FROM (" + rows + ") AS lines"))
          .append('\n');
    }
    return all.toString();
  }

  private static String text(String select) throws SQLException {
    try (Statement statement = sql.createStatement();
        ResultSet rows = statement.executeQuery(select)) {
      rows.next();
      return String.valueOf(rows.getString(1));
    }
  }

  @Test
  void the_same_name_with_another_content_is_refused() {
    String schedule = name();
    String namespace = namespace();
    schedules().createWorkflowSchedule(schedule(schedule).build());

    assertTaken(
        () ->
            schedules()
                .createWorkflowSchedule(schedule(schedule).setCronExpr("0 8 * * *").build()));
    assertTaken(
        () ->
            server
                .namespaces()
                .createNamespace(
                    CreateNamespaceRequest.newBuilder()
                        .setNamespace(namespace)
                        .setDisplayName("other")
                        .build()));
  }

  private static void assertTaken(Supplier<?> call) {
    assertThatThrownBy(call::get)
        .isInstanceOfSatisfying(
            StatusRuntimeException.class,
            refused ->
                assertThat(refused.getStatus().getCode()).isEqualTo(Status.Code.ALREADY_EXISTS));
  }

  @Test
  void a_create_with_a_name_of_its_own_and_the_same_content_is_the_same_create() {
    String name = name();
    CreateNamespaceRequest namespace =
        CreateNamespaceRequest.newBuilder().setNamespace(name).setDisplayName("shown").build();

    assertThat(schedules().createWorkflowSchedule(schedule(name).build()))
        .isEqualTo(schedules().createWorkflowSchedule(schedule(name).build()));
    assertThat(server.namespaces().createNamespace(namespace))
        .isEqualTo(server.namespaces().createNamespace(namespace));
  }

  @Test
  void two_creates_without_a_name_and_without_an_id_are_two() {
    CreateWorkflowScheduleRequest unnamed = schedule(name()).clearName().build();
    String schedule = scheduled();
    TriggerWorkflowScheduleRequest trigger =
        TriggerWorkflowScheduleRequest.newBuilder().setScheduleId(schedule).build();
    RegisterRequest worker =
        RegisterRequest.newBuilder().setTaskQueue(name()).addWorkflowTypes(TYPE).build();

    assertThat(schedules().createWorkflowSchedule(unnamed).getSchedule().getScheduleId())
        .isNotEqualTo(schedules().createWorkflowSchedule(unnamed).getSchedule().getScheduleId());
    assertThat(schedules().triggerWorkflowSchedule(trigger))
        .isNotEqualTo(schedules().triggerWorkflowSchedule(trigger));
    assertThat(server.workers().register(worker)).isNotEqualTo(server.workers().register(worker));
    String queue = name();
    assertThat(server.startRun(queue, TYPE)).isNotEqualTo(server.startRun(queue, TYPE));
  }

  @Test
  void a_repeated_call_does_not_undo_what_others_have_done_since() {
    String schedule = scheduled();
    PauseWorkflowScheduleRequest pause =
        PauseWorkflowScheduleRequest.newBuilder()
            .setScheduleId(schedule)
            .setRequestId(id())
            .build();

    boolean paused = schedules().pauseWorkflowSchedule(pause).getSchedule().getEnabled();
    schedules()
        .resumeWorkflowSchedule(
            ResumeWorkflowScheduleRequest.newBuilder().setScheduleId(schedule).build());
    boolean repeated = schedules().pauseWorkflowSchedule(pause).getSchedule().getEnabled();

    assertThat(paused).isFalse();
    assertThat(repeated).isTrue();
  }

  @Test
  void a_request_id_of_another_call_is_refused() {
    String id = id();
    schedules()
        .pauseWorkflowSchedule(
            PauseWorkflowScheduleRequest.newBuilder()
                .setScheduleId(scheduled())
                .setRequestId(id)
                .build());

    assertThatThrownBy(
            () ->
                schedules()
                    .pauseWorkflowSchedule(
                        PauseWorkflowScheduleRequest.newBuilder()
                            .setScheduleId(scheduled())
                            .setRequestId(id)
                            .build()))
        .hasMessageContaining("INVALID_ARGUMENT")
        .hasMessageContaining(id + " was used for PauseWorkflowSchedule");
  }

  @Test
  void a_worker_that_was_silent_for_too_long_before_it_repeats_its_registration_is_new() {
    RegisterRequest request =
        RegisterRequest.newBuilder()
            .setTaskQueue(name())
            .addWorkflowTypes(TYPE)
            .setRequestId(id())
            .build();
    String first = server.workers().register(request).getWorkerId();
    server
        .admin()
        .forceOfflineWorker(ForceOfflineWorkerRequest.newBuilder().setWorkerId(first).build());

    String again = server.workers().register(request).getWorkerId();

    assertThat(again).isNotEqualTo(first);
    assertThat(server.workers().register(request).getWorkerId()).isEqualTo(again);
  }

  @Test
  void a_run_whose_claim_lost_its_response_comes_with_a_later_poll() {
    String queue = name();
    BatchWorker worker = new BatchWorker(server, queue, TYPE);
    String run = server.startRun(queue, TYPE);
    proxy.cutAnswer("COMMIT"::equals);
    List<Task> tasks = new ArrayList<>();

    Awaitility.await()
        .atMost(Duration.ofSeconds(60))
        .ignoreExceptionsInstanceOf(StatusRuntimeException.class)
        .until(() -> tasks.addAll(worker.poll(1)));

    assertThat(tasks).extracting(Task::getRunId).containsExactly(run);
  }
}
