package dev.kagzi.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.engine.EngineConfig;
import dev.kagzi.engine.config.TransitionRules;
import dev.kagzi.protocol.v1.BeginStepRequest;
import dev.kagzi.protocol.v1.CreateWorkflowScheduleRequest;
import dev.kagzi.protocol.v1.ErrorDetail;
import dev.kagzi.protocol.v1.ReportItem;
import dev.kagzi.protocol.v1.ReportResult;
import dev.kagzi.protocol.v1.RetryPolicy;
import dev.kagzi.protocol.v1.StartWorkflowRequest;
import dev.kagzi.protocol.v1.StartWorkflowsRequest;
import dev.kagzi.protocol.v1.Task;
import dev.kagzi.protocol.v1.UpdateWorkflowScheduleRequest;
import dev.kagzi.protocol.v1.WorkflowSchedule;
import dev.kagzi.protocol.v1.WorkflowScheduleServiceGrpc;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Fields that a retry policy leaves out take the server's retry- options, for every source of
 * policies.
 */
class RetryDefaultsTest {
  private static final RetryPolicy NOTHING = RetryPolicy.getDefaultInstance();

  /** The values of the server's options. */
  private static final RetryPolicy SERVERS =
      RetryPolicy.newBuilder()
          .setMaximumAttempts(7)
          .setInitialIntervalMs(20)
          .setBackoffCoefficient(1.5)
          .setMaximumIntervalMs(9_000)
          .setJitter(0.5)
          .build();

  private static TestServer server;

  @BeforeAll
  static void startServer() {
    TransitionRules rules =
        new TransitionRules(
            new dev.kagzi.engine.retry.RetryPolicy(7, 20, 1.5, 9_000, 0.5, List.of()),
            TransitionRules.DEFAULT.shortWaitMs(),
            TransitionRules.DEFAULT.crashes(),
            TransitionRules.DEFAULT.stepTimeoutMs(),
            TransitionRules.DEFAULT.stepGraceMs());
    server =
        TestServer.start(
            TestServer.createDatabase(),
            config -> config.engine(EngineConfig.defaults().withRules(rules)));
  }

  @AfterAll
  static void stopServer() {
    server.close();
  }

  private static RetryPolicy ofRun(String run) {
    return server.run(run).getRetryPolicy();
  }

  private static String start(RetryPolicy policy) {
    return server
        .workflows()
        .startWorkflow(TestServer.start("runs", "order").setRetryPolicy(policy).build())
        .getRunId();
  }

  @Test
  void a_start_takes_server_defaults_for_unset_fields() {
    RetryPolicy some = RetryPolicy.newBuilder().setMaximumAttempts(2).setJitter(0).build();
    String bulk =
        server
            .workflows()
            .startWorkflows(
                StartWorkflowsRequest.newBuilder()
                    .addStarts(TestServer.start("runs", "order").setRetryPolicy(NOTHING))
                    .build())
            .getResults(0)
            .getStarted()
            .getRunId();

    assertThat(ofRun(start(NOTHING))).isEqualTo(SERVERS);
    assertThat(ofRun(bulk)).isEqualTo(SERVERS);
    assertThat(ofRun(start(some))).isEqualTo(SERVERS.toBuilder().mergeFrom(some).build());
  }

  @Test
  void a_default_never_contradicts_a_policy() {
    RetryPolicy shortest = RetryPolicy.newBuilder().setMaximumIntervalMs(5).build();
    RetryPolicy longest = RetryPolicy.newBuilder().setInitialIntervalMs(60_000).build();

    assertThat(ofRun(start(shortest)))
        .isEqualTo(SERVERS.toBuilder().setInitialIntervalMs(5).setMaximumIntervalMs(5).build());
    assertThat(ofRun(start(longest)))
        .isEqualTo(
            SERVERS.toBuilder().setInitialIntervalMs(60_000).setMaximumIntervalMs(60_000).build());
  }

  @Test
  void a_schedule_takes_server_defaults_when_created_and_updated() {
    var schedules = WorkflowScheduleServiceGrpc.newBlockingStub(server.sharedChannel());
    WorkflowSchedule made =
        schedules
            .createWorkflowSchedule(
                CreateWorkflowScheduleRequest.newBuilder()
                    .setTaskQueue("schedules")
                    .setWorkflowType("order")
                    .setCronExpr("0 9 * * *")
                    .setRetryPolicy(NOTHING)
                    .build())
            .getSchedule();
    WorkflowSchedule changed =
        schedules
            .updateWorkflowSchedule(
                UpdateWorkflowScheduleRequest.newBuilder()
                    .setScheduleId(made.getScheduleId())
                    .setRetryPolicy(RetryPolicy.newBuilder().setMaximumAttempts(3))
                    .build())
            .getSchedule();

    assertThat(made.getRetryPolicy()).isEqualTo(SERVERS);
    assertThat(changed.getRetryPolicy())
        .isEqualTo(SERVERS.toBuilder().setMaximumAttempts(3).build());
  }

  @Test
  void children_and_batched_steps_take_server_defaults() {
    server.startRun("batch", "order");
    try (BatchWorker worker = new BatchWorker(server, "batch", "order")) {
      Task task = worker.poll(1).get(0);

      String child =
          worker
              .report(
                  BatchWorker.item(task)
                      .setChildStarted(
                          ReportItem.ChildStarted.newBuilder()
                              .setStepKey("child")
                              .setAttempt(1)
                              .setStart(
                                  StartWorkflowRequest.newBuilder()
                                      .setWorkflowType("other")
                                      .setRetryPolicy(NOTHING))))
              .get(0)
              .getAccepted()
              .getChildRunId();
      ReportResult failed =
          worker
              .report(
                  BatchWorker.item(task)
                      .setStepFailed(
                          ReportItem.StepFailed.newBuilder()
                              .setStepKey("pay")
                              .setAttempt(1)
                              .setError(ErrorDetail.newBuilder().setMessage("no"))
                              .setRetryPolicy(NOTHING)))
              .get(0);

      assertThat(ofRun(child)).isEqualTo(SERVERS);
      assertThat(failed.getRetryScheduled().getDelayMs())
          .as("20 ms, half of it more or less")
          .isBetween(10L, 30L);
    }
  }

  @Test
  void steps_of_a_simple_worker_take_server_defaults() {
    String run = server.startRun("simple", "order");
    try (BareWorker worker = new BareWorker(server, "simple", "host", 1, "order")) {
      int attempts = 0;
      boolean retried = true;
      while (retried) {
        assertThat(worker.poll().getRunId()).isEqualTo(run);
        String step =
            worker
                .stub()
                .beginStep(
                    BeginStepRequest.newBuilder()
                        .setRunId(run)
                        .setStepName("pay")
                        .setRetryPolicy(NOTHING)
                        .build())
                .getStepId();
        retried = worker.fail(run, step, "no").getScheduledRetry();
        attempts++;
      }

      assertThat(attempts).isEqualTo(7);
    }
  }
}
