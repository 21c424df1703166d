package dev.kagzi.server;

import static dev.kagzi.server.CallErrors.refused;
import static dev.kagzi.server.TestServer.payload;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kagzi.engine.EngineConfig;
import dev.kagzi.engine.config.WorkerConfig;
import dev.kagzi.postgres.EmbeddedPostgres;
import dev.kagzi.postgres.SharedPostgres;
import dev.kagzi.protocol.v1.BeginStepRequest;
import dev.kagzi.protocol.v1.CompleteStepRequest;
import dev.kagzi.protocol.v1.CompleteWorkflowRequest;
import dev.kagzi.protocol.v1.DeregisterRequest;
import dev.kagzi.protocol.v1.ErrorDetail;
import dev.kagzi.protocol.v1.FailStepRequest;
import dev.kagzi.protocol.v1.FailWorkflowRequest;
import dev.kagzi.protocol.v1.ForceOfflineWorkerRequest;
import dev.kagzi.protocol.v1.ListStepsRequest;
import dev.kagzi.protocol.v1.RetryPolicy;
import dev.kagzi.protocol.v1.SleepRequest;
import dev.kagzi.protocol.v1.StepKind;
import dev.kagzi.protocol.v1.WorkerServiceGrpc.WorkerServiceBlockingStub;
import dev.kagzi.protocol.v1.WorkflowStatus;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.stub.MetadataUtils;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Who may report on a run without an epoch: every call, by the worker that holds the run and by the
 * one that lost it, over each connection, with and without the header.
 */
class SimpleClientFenceTest {
  private static final Metadata.Key<String> WORKER_ID =
      Metadata.Key.of("kagzi-worker-id", Metadata.ASCII_STRING_MARSHALLER);
  private static final AtomicInteger QUEUES = new AtomicInteger();

  private static TestServer server;
  private static TestServer second;

  @BeforeAll
  static void startServers() {
    // Nobody sends heartbeats here; a slow machine must not take the workers offline.
    Duration never = Duration.ofHours(1);
    EngineConfig engine =
        EngineConfig.defaults()
            .withWorkers(new WorkerConfig(Duration.ofSeconds(3), never, never, never));
    server = TestServer.start(TestServer.createDatabase(), config -> config.engine(engine));
    second = TestServer.start(server.database(), config -> config.engine(engine));
  }

  @AfterAll
  static void stopServers() {
    second.close();
    server.close();
  }

  /** Every call about a run; {@code ofStep} if its request contains a step id. */
  enum Call {
    BEGIN_STEP(false) {
      @Override
      void make(WorkerServiceBlockingStub stub, Held run) {
        stub.beginStep(
            BeginStepRequest.newBuilder().setRunId(run.runId).setStepName("next").build());
      }
    },
    COMPLETE_STEP(true) {
      @Override
      void make(WorkerServiceBlockingStub stub, Held run) {
        stub.completeStep(
            CompleteStepRequest.newBuilder()
                .setRunId(run.runId)
                .setStepId(run.step)
                .setOutput(payload("1"))
                .build());
      }
    },
    FAIL_STEP(true) {
      @Override
      void make(WorkerServiceBlockingStub stub, Held run) {
        stub.failStep(
            FailStepRequest.newBuilder()
                .setRunId(run.runId)
                .setStepId(run.step)
                .setError(ErrorDetail.newBuilder().setMessage("no"))
                .build());
      }
    },
    SLEEP(true) {
      @Override
      void make(WorkerServiceBlockingStub stub, Held run) {
        stub.sleep(
            SleepRequest.newBuilder()
                .setRunId(run.runId)
                .setStepId(run.nap)
                .setDuration(com.google.protobuf.Duration.newBuilder().setSeconds(3_600))
                .build());
      }
    },
    COMPLETE_WORKFLOW(false) {
      @Override
      void make(WorkerServiceBlockingStub stub, Held run) {
        stub.completeWorkflow(
            CompleteWorkflowRequest.newBuilder()
                .setRunId(run.runId)
                .setOutput(payload("\"out\""))
                .build());
      }
    },
    FAIL_WORKFLOW(false) {
      @Override
      void make(WorkerServiceBlockingStub stub, Held run) {
        stub.failWorkflow(
            FailWorkflowRequest.newBuilder()
                .setRunId(run.runId)
                .setError(ErrorDetail.newBuilder().setMessage("no"))
                .build());
      }
    };

    private final boolean ofStep;

    Call(boolean ofStep) {
      this.ofStep = ofStep;
    }

    abstract void make(WorkerServiceBlockingStub stub, Held run);
  }

  /** How the first worker loses its run to the second. */
  enum Loss {
    LEASE_EXPIRED,
    FORCED_OFFLINE,
    DEREGISTERED
  }

  /** The connection that a call uses. */
  enum Way {
    OWN_CONNECTION,
    NEW_CONNECTION,
    OTHER_SERVER
  }

  /** What a worker knows of its run. */
  record Held(String runId, String step, String nap) {}

  record Case(Call call, Loss loss, boolean holder, Way way, boolean header) {
    /** The rule, as the protocol documents it. */
    boolean isAccepted() {
      if (call.ofStep || header || way == Way.OWN_CONNECTION) {
        return holder;
      }
      // Nothing distinguishes the two workers. Unless the run was taken over while RUNNING, the
      // current claim is the only one since it was PENDING.
      return loss != Loss.LEASE_EXPIRED;
    }
  }

  static List<Case> cases() {
    List<Case> all = new ArrayList<>();
    for (Call call : Call.values()) {
      for (Loss loss : Loss.values()) {
        for (Way way : Way.values()) {
          for (boolean holder : new boolean[] {true, false}) {
            all.add(new Case(call, loss, holder, way, false));
            all.add(new Case(call, loss, holder, way, true));
          }
        }
      }
    }
    return all;
  }

  @ParameterizedTest
  @MethodSource("cases")
  void only_the_holder_of_a_run_reports_on_it(Case one) throws SQLException {
    String queue = "fence-" + QUEUES.incrementAndGet();
    ManagedChannel fresh = one.way == Way.OTHER_SERVER ? second.channel() : server.channel();
    try (BareWorker loser = new BareWorker(server, queue, "h", 1, "order");
        BareWorker holder = new BareWorker(server, queue, "h", 2, "order")) {
      String runId = server.startRun(queue, "order");
      Held lost = take(loser, runId);
      lose(loser, runId, one.loss);
      Held held = take(holder, runId);
      BareWorker caller = one.holder ? holder : loser;
      WorkerServiceBlockingStub stub =
          named(
              one.way == Way.OWN_CONNECTION ? caller.stub() : BareWorker.stub(fresh),
              one.header ? caller.id() : null);
      Held own = one.holder ? held : lost;
      String before = everythingOf(runId);

      if (one.isAccepted()) {
        one.call.make(stub, own);
        assertThat(everythingOf(runId)).isNotEqualTo(before);
      } else {
        ErrorDetail why = refused(Status.Code.FAILED_PRECONDITION, () -> one.call.make(stub, own));
        assertThat(why.getMetadataMap()).containsEntry("code", "CLAIM_LOST");
        assertThat(why.getMessage()).contains(holder.id());
        assertThat(everythingOf(runId)).isEqualTo(before);
        // The holder still has the run, and the refused report changed nothing.
        assertThat(holder.complete(runId, payload("\"right\"")))
            .isEqualTo(WorkflowStatus.WORKFLOW_STATUS_COMPLETED);
        assertThat(server.run(runId).getOutput()).isEqualTo(payload("\"right\""));
      }
    } finally {
      fresh.shutdownNow();
    }
  }

  @ParameterizedTest
  @EnumSource(Call.class)
  void a_header_that_names_another_worker_is_refused_on_the_holders_connection(Call call) {
    String queue = "named-" + QUEUES.incrementAndGet();
    try (BareWorker other = new BareWorker(server, queue, "h", 1, "other");
        BareWorker holder = new BareWorker(server, queue, "h", 2, "order")) {
      String runId = server.startRun(queue, "order");
      Held held = take(holder, runId);

      refused(
          Status.Code.FAILED_PRECONDITION, () -> call.make(named(holder.stub(), other.id()), held));
      refused(
          Status.Code.INVALID_ARGUMENT, () -> call.make(named(holder.stub(), "no-worker"), held));
      call.make(named(other.stub(), holder.id()), held);
    }
  }

  @ParameterizedTest
  @EnumSource(Call.class)
  void a_run_that_nobody_else_has_held_is_reported_on_over_any_connection(Call call) {
    String queue = "proxy-" + QUEUES.incrementAndGet();
    ManagedChannel fresh = second.channel();
    try (BareWorker holder = new BareWorker(server, queue, "h", 1, "order")) {
      Held held = take(holder, server.startRun(queue, "order"));

      call.make(BareWorker.stub(fresh), held);
    } finally {
      fresh.shutdownNow();
    }
  }

  /** The run waits for its next worker; until it is claimed, the previous worker may end it. */
  @ParameterizedTest
  @MethodSource("lateCases")
  void a_worker_that_was_taken_for_dead_may_still_end_its_run_and_nothing_else(Late one) {
    String queue = "late-" + QUEUES.incrementAndGet();
    ManagedChannel fresh = one.way == Way.OTHER_SERVER ? second.channel() : server.channel();
    try (BareWorker worker = new BareWorker(server, queue, "h", 1, "order")) {
      String runId = server.startRun(queue, "order");
      Held run = take(worker, runId);
      forceOffline(worker);
      await()
          .atMost(Duration.ofSeconds(20))
          .until(
              () -> server.run(runId).getStatus(), WorkflowStatus.WORKFLOW_STATUS_PENDING::equals);
      WorkerServiceBlockingStub stub =
          named(
              one.way == Way.OWN_CONNECTION ? worker.stub() : BareWorker.stub(fresh),
              one.header ? worker.id() : null);
      String before = everythingOf(runId);

      if (one.isAccepted()) {
        one.call.make(stub, run);
        String after = everythingOf(runId);
        assertThat(after).isNotEqualTo(before);
        one.call.make(stub, run);
        assertThat(everythingOf(runId)).isEqualTo(after);
        assertThat(server.run(runId).getStatus())
            .isEqualTo(
                one.call == Call.COMPLETE_WORKFLOW
                    ? WorkflowStatus.WORKFLOW_STATUS_COMPLETED
                    : WorkflowStatus.WORKFLOW_STATUS_FAILED);
      } else {
        ErrorDetail why = refused(Status.Code.FAILED_PRECONDITION, () -> one.call.make(stub, run));
        assertThat(why.getMetadataMap()).containsEntry("code", "CLAIM_LOST");
        assertThat(everythingOf(runId)).isEqualTo(before);
      }
    } finally {
      fresh.shutdownNow();
    }
  }

  record Late(Call call, Way way, boolean header) {
    boolean isAccepted() {
      return call == Call.COMPLETE_WORKFLOW || call == Call.FAIL_WORKFLOW;
    }
  }

  static List<Late> lateCases() {
    List<Late> all = new ArrayList<>();
    for (Call call : Call.values()) {
      for (Way way : Way.values()) {
        all.add(new Late(call, way, false));
        all.add(new Late(call, way, true));
      }
    }
    return all;
  }

  @Test
  void a_result_that_is_not_stored_is_not_acknowledged() {
    try (BareWorker worker = new BareWorker(server, "ends", "h", 1, "order")) {
      String completed = take(worker, server.startRun("ends", "order")).runId;
      assertThat(worker.complete(completed, payload("1")))
          .isEqualTo(WorkflowStatus.WORKFLOW_STATUS_COMPLETED);
      assertThat(worker.complete(completed, payload("1")))
          .isEqualTo(WorkflowStatus.WORKFLOW_STATUS_COMPLETED);
      refused(Status.Code.FAILED_PRECONDITION, () -> worker.complete(completed, payload("2")));
      refused(Status.Code.FAILED_PRECONDITION, () -> fail(worker, completed, "no"));

      String failed = take(worker, server.startRun("ends", "order")).runId;
      assertThat(fail(worker, failed, "no")).isEqualTo(WorkflowStatus.WORKFLOW_STATUS_FAILED);
      assertThat(fail(worker, failed, "no")).isEqualTo(WorkflowStatus.WORKFLOW_STATUS_FAILED);
      refused(Status.Code.FAILED_PRECONDITION, () -> fail(worker, failed, "other"));
      refused(Status.Code.FAILED_PRECONDITION, () -> worker.complete(failed, payload("1")));
    }
  }

  private static WorkflowStatus fail(BareWorker worker, String runId, String why) {
    return worker
        .stub()
        .failWorkflow(
            FailWorkflowRequest.newBuilder()
                .setRunId(runId)
                .setError(ErrorDetail.newBuilder().setMessage(why))
                .build())
        .getStatus();
  }

  @Test
  void only_open_steps_that_begin_step_returned_are_ended() {
    try (BareWorker worker = new BareWorker(server, "ids", "h", 1, "order")) {
      Held run = take(worker, server.startRun("ids", "order"));
      String invented = run.step.replace("/step@", "/invented@");
      String later = run.step.replace("@1.", "@2.");
      String before = everythingOf(run.runId);

      for (String id : List.of(invented, later, run.nap)) {
        Held wrong = new Held(run.runId, id, invented);
        refused(Status.Code.INVALID_ARGUMENT, () -> Call.COMPLETE_STEP.make(worker.stub(), wrong));
        refused(Status.Code.INVALID_ARGUMENT, () -> Call.FAIL_STEP.make(worker.stub(), wrong));
        refused(Status.Code.INVALID_ARGUMENT, () -> Call.SLEEP.make(worker.stub(), wrong));
      }
      Held noSleep = new Held(run.runId, run.step, run.step);
      refused(Status.Code.INVALID_ARGUMENT, () -> Call.SLEEP.make(worker.stub(), noSleep));
      assertThat(everythingOf(run.runId)).isEqualTo(before);

      Call.COMPLETE_STEP.make(worker.stub(), run);
      Call.COMPLETE_STEP.make(worker.stub(), run);
      ErrorDetail ended =
          refused(Status.Code.FAILED_PRECONDITION, () -> Call.FAIL_STEP.make(worker.stub(), run));
      assertThat(ended.getMetadataMap()).containsEntry("code", "STEP_ENDED");

      String once = begin(worker, run.runId, "once", StepKind.STEP_KIND_FUNCTION);
      Held final1 = new Held(run.runId, once, run.nap);
      Call.FAIL_STEP.make(worker.stub(), final1);
      Call.FAIL_STEP.make(worker.stub(), final1);
      ErrorDetail failed =
          refused(
              Status.Code.FAILED_PRECONDITION,
              () -> Call.COMPLETE_STEP.make(worker.stub(), final1));
      assertThat(failed.getMetadataMap()).containsEntry("code", "STEP_ENDED");
    }
  }

  private static Held take(BareWorker worker, String runId) {
    assertThat(worker.poll().getRunId()).isEqualTo(runId);
    return new Held(
        runId,
        begin(worker, runId, "step", StepKind.STEP_KIND_FUNCTION),
        begin(worker, runId, "nap", StepKind.STEP_KIND_SLEEP));
  }

  private static String begin(BareWorker worker, String runId, String step, StepKind kind) {
    return worker
        .begin(runId, step, kind, RetryPolicy.newBuilder().setMaximumAttempts(1).build())
        .getStepId();
  }

  private static void lose(BareWorker worker, String runId, Loss how) throws SQLException {
    switch (how) {
      case LEASE_EXPIRED ->
          execute(
              "UPDATE kagzi.workflow_runs SET available_at = kagzi.clock() WHERE run_id = '"
                  + runId
                  + "'");
      case FORCED_OFFLINE -> forceOffline(worker);
      case DEREGISTERED -> {
        var unused =
            worker
                .stub()
                .deregister(DeregisterRequest.newBuilder().setWorkerId(worker.id()).build());
      }
    }
  }

  private static void forceOffline(BareWorker worker) {
    var unused =
        server
            .admin()
            .forceOfflineWorker(
                ForceOfflineWorkerRequest.newBuilder().setWorkerId(worker.id()).build());
  }

  private static void execute(String sql) throws SQLException {
    EmbeddedPostgres postgres = SharedPostgres.server();
    try (Connection connection =
            DriverManager.getConnection(
                postgres.jdbcUrl(server.database()), postgres.user(), postgres.password());
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private static WorkerServiceBlockingStub named(
      WorkerServiceBlockingStub stub, @Nullable String worker) {
    if (worker == null) {
      return stub;
    }
    Metadata headers = new Metadata();
    headers.put(WORKER_ID, worker);
    return stub.withInterceptors(MetadataUtils.newAttachHeadersInterceptor(headers));
  }

  /** Returns the run and its steps as clients see them. */
  private static String everythingOf(String runId) {
    return server.run(runId)
        + ""
        + server
            .admin()
            .listSteps(ListStepsRequest.newBuilder().setRunId(runId).build())
            .getStepsList();
  }
}
