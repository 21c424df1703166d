package dev.kagzi.engine.transition;

import static dev.kagzi.engine.TestEngine.NAMESPACE;
import static dev.kagzi.engine.TestEngine.TYPE;
import static dev.kagzi.engine.TestEngine.await;
import static dev.kagzi.engine.TestEngine.done;
import static dev.kagzi.engine.TestEngine.payload;
import static dev.kagzi.engine.TestEngine.sleep;
import static dev.kagzi.engine.TestEngine.stepDone;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kagzi.engine.EngineConfig;
import dev.kagzi.engine.Holds;
import dev.kagzi.engine.Stored;
import dev.kagzi.engine.TestClock;
import dev.kagzi.engine.TestDatabase;
import dev.kagzi.engine.TestEngine;
import dev.kagzi.engine.TestOptions;
import dev.kagzi.engine.TestReports;
import dev.kagzi.engine.dispatch.Poll;
import dev.kagzi.engine.dispatch.Task;
import dev.kagzi.engine.query.RunView;
import dev.kagzi.engine.retry.RetryPolicy;
import dev.kagzi.engine.run.Caller;
import dev.kagzi.engine.run.CancelResult;
import dev.kagzi.engine.run.Report;
import dev.kagzi.engine.run.ReportResult;
import dev.kagzi.engine.run.StartOptions;
import dev.kagzi.engine.run.StartRequest;
import dev.kagzi.engine.value.RecordedStep;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.StepKind;
import dev.kagzi.engine.value.WorkerId;
import dev.kagzi.engine.worker.WorkerHeartbeat;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Deadlines and timeouts of runs and steps. */
class TimeoutTest {
  @RegisterExtension static final TestDatabase database = new TestDatabase();

  private static final RetryPolicy ONCE = new RetryPolicy(1, 10, 1.0, 10, 0, List.of());
  private static final RetryPolicy TWICE = new RetryPolicy(2, 10, 1.0, 10, 0, List.of());

  private final Stored stored = new Stored(database);
  private final TestClock clock = new TestClock(database);
  private String queue;
  private TestEngine engine;
  private WorkerId worker;

  @BeforeEach
  void open(TestInfo test) {
    queue = test.getTestMethod().orElseThrow().getName();
    EngineConfig config = EngineConfig.defaults();
    engine =
        TestEngine.start(
            database.config(), queue, config.withRules(config.rules().withStepGraceMs(100)));
    worker = engine.register();
  }

  @AfterEach
  void close() {
    clock.reset();
    engine.close();
  }

  private RunId start(StartOptions options) {
    return start(options, null);
  }

  private RunId start(StartOptions options, @Nullable RetryPolicy policy) {
    return await(
            engine
                .engine()
                .runs()
                .start(
                    new StartRequest(
                        NAMESPACE, "", queue, TYPE, "", payload("1"), policy, null, options)))
        .runId();
  }

  private void awaitStatus(RunId run, RunStatus status) {
    Awaitility.await()
        .atMost(Duration.ofSeconds(20))
        .untilAsserted(() -> assertThat(engine.run(run).status()).isEqualTo(status));
  }

  private static Report started(Task task, String step, int attempt, long timeoutMs) {
    return TestReports.started(
        task.claim(), step, attempt, StepKind.FUNCTION, null, 0, timeoutMs, ONCE);
  }

  @Test
  void a_pending_run_whose_deadline_has_passed_is_not_claimed_and_times_out() {
    RunId run = start(new TestOptions().withExecutionTimeoutMs(50).build());

    awaitStatus(run, RunStatus.TIMED_OUT);

    RunView end = engine.run(run);
    assertThat(engine.error(run))
        .matches("run did not end within its time of 50 ms, by 20[0-9T:.-]+Z");
    assertThat(end.finishedAt()).isNotNull();
    assertThat(end.epoch()).isZero();
  }

  /** After the deadline and before the chore ends the run, no worker can claim it. */
  @Test
  void a_run_that_is_overdue_and_not_yet_ended_is_not_claimed() {
    RunId run = start(new TestOptions().withExecutionTimeoutMs(5_000).build());
    clock.ahead(Duration.ofSeconds(6));

    engine.poll(worker, 1);

    awaitStatus(run, RunStatus.TIMED_OUT);
    assertThat(engine.run(run).epoch()).isZero();
  }

  /** A run may be resumed after a server has found it overdue and before that server writes. */
  @Test
  void a_run_whose_deadline_was_renewed_is_not_ended_by_an_earlier_expiry() throws Exception {
    Holds holds = new Holds(database.config());
    engine.close();
    engine = TestEngine.start(database.config(), queue, EngineConfig.defaults(), holds);
    RunId run;
    try (Holds.Hold expiry = holds.statement("status, epoch, ended_epoch, locked_by")) {
      run = start(new TestOptions().withExecutionTimeoutMs(1).build());
      expiry.awaitReached();
      database.execute(
          "UPDATE kagzi.workflow_runs SET deadline_at = kagzi.clock() + interval '1 hour'"
              + " WHERE run_id = '"
              + run
              + "'");
    }

    // The same lane writes it, so it is decided after the expiry.
    assertThat(await(engine.engine().runs().terminate(NAMESPACE, run, "enough")))
        .isEqualTo(new CancelResult(true, RunStatus.FAILED));
  }

  @Test
  void a_worker_has_a_grace_period_to_report_a_step_timeout_itself() {
    EngineConfig config = EngineConfig.defaults();
    engine.close();
    engine =
        TestEngine.start(
            database.config(), queue, config.withRules(config.rules().withStepGraceMs(3_600_000)));
    worker = engine.register();
    RunId run = start(StartOptions.NONE);
    Task task = engine.claimOne(worker);
    engine.report(started(task, "slow", 1, 1));

    // Each of them makes the server search for overdue steps.
    awaitStatus(start(new TestOptions().withExecutionTimeoutMs(1).build()), RunStatus.TIMED_OUT);
    awaitStatus(start(new TestOptions().withExecutionTimeoutMs(1).build()), RunStatus.TIMED_OUT);

    assertThat(engine.run(run).status()).isEqualTo(RunStatus.RUNNING);
    assertThat(engine.report(TestEngine.stepFailed(task.claim(), "slow", 1, ONCE)))
        .isEqualTo(new ReportResult.FinalFailure());
  }

  @Test
  void a_running_run_times_out_and_its_claim_is_lost() {
    Poll poll = engine.poll(worker, 1);
    RunId run = start(new TestOptions().withExecutionTimeoutMs(500).build());
    Task task = await(poll.tasks()).get(0);
    assertThat(task.deadlineInMs()).isBetween(1L, 500L);
    engine.report(TestReports.started(task.claim(), "slow", 1, StepKind.FUNCTION, null, 300));

    awaitStatus(run, RunStatus.TIMED_OUT);

    assertThat(engine.report(stepDone(task.claim(), "slow", "1")))
        .isEqualTo(new ReportResult.ClaimLost(RunStatus.TIMED_OUT));
    assertThat(engine.report(done(task.claim(), "1")))
        .isEqualTo(new ReportResult.ClaimLost(RunStatus.TIMED_OUT));
    assertThat(
            stored.count(
                "SELECT count(*) AS value FROM kagzi.step_runs WHERE status = 'RUNNING'"
                    + " AND run_id = '"
                    + run
                    + "'"))
        .isZero();
  }

  @Test
  void a_sleeping_run_times_out_before_it_wakes() {
    RunId run = start(new TestOptions().withExecutionTimeoutMs(1_000).build());
    engine.report(sleep(engine.claimOne(worker).claim(), "nap", 3_600_000));

    awaitStatus(run, RunStatus.TIMED_OUT);
  }

  @Test
  void of_deadline_and_timeout_the_earlier_counts() {
    RunId run =
        start(
            new TestOptions()
                .withDeadline(Instant.now().plusSeconds(3_600))
                .withExecutionTimeoutMs(7_200_000)
                .build());

    RunView view = engine.run(run);

    assertThat(view.deadlineAt())
        .isBetween(Instant.now().plusSeconds(3_500), Instant.now().plusSeconds(3_700));
    assertThat(view.setup().executionTimeoutMs()).as("as requested").isEqualTo(7_200_000);
  }

  @Test
  void a_deadline_alone_is_not_an_execution_timeout_of_the_run_nor_of_its_retry() {
    Instant deadline = Instant.now().plusSeconds(3_600);
    RunId run = start(new TestOptions().withDeadline(deadline).build());
    await(engine.engine().runs().cancel(TestEngine.NAMESPACE, run));

    RunId retry =
        await(engine.engine().runs().retry(TestEngine.NAMESPACE, run, null, null)).runId();

    assertThat(engine.run(run).setup().executionTimeoutMs()).isNull();
    assertThat(engine.run(run).deadlineAt())
        .isBetween(deadline.minusSeconds(1), deadline.plusSeconds(1));
    assertThat(engine.run(retry).setup().executionTimeoutMs()).isNull();
    assertThat(engine.run(retry).deadlineAt())
        .as("as much time as the start gave, counted from the retry")
        .isBetween(deadline.minusSeconds(1), Instant.now().plusSeconds(3_601));
  }

  @Test
  void a_run_with_a_deadline_gets_the_same_time_again_when_it_is_resumed() {
    RunId run = start(new TestOptions().withDeadline(Instant.now().plusSeconds(3_600)).build());
    await(engine.engine().runs().terminate(TestEngine.NAMESPACE, run, "test"));
    database.execute(
        "UPDATE kagzi.workflow_runs SET deadline_at = now() - interval '1 hour' WHERE run_id = '"
            + run
            + "'");

    await(engine.engine().runs().resume(TestEngine.NAMESPACE, run, null, true));

    assertThat(engine.run(run).deadlineAt())
        .isBetween(Instant.now().plusSeconds(3_500), Instant.now().plusSeconds(3_700));
  }

  @Test
  void a_claim_contains_the_remaining_time() {
    start(new TestOptions().withExecutionTimeoutMs(3_600_000).withStepTimeoutMs(7_000).build());

    Task task = engine.claimOne(worker);

    assertThat(task.deadlineInMs()).isBetween(3_500_000L, 3_600_000L);
    assertThat(task.stepTimeoutMs()).isEqualTo(7_000);
  }

  @Test
  void a_step_without_a_timeout_has_the_servers_timeout() {
    engine.start();

    assertThat(engine.claimOne(worker).stepTimeoutMs()).isEqualTo(600_000);
  }

  @Test
  void a_worker_that_hangs_in_a_step_loses_the_run_to_another_worker() {
    start(StartOptions.NONE);
    Task hung = engine.claimOne(worker);
    engine.report(
        TestReports.started(hung.claim(), "slow", 1, StepKind.FUNCTION, null, 0, 50, TWICE));

    Task next = engine.claimOne(engine.register());

    assertThat(next.claim().runId()).isEqualTo(hung.claim().runId());
    assertThat(next.steps())
        .singleElement()
        .satisfies(
            step -> {
              assertThat(step.attempt()).isEqualTo(1);
              assertThat(step.result()).isInstanceOf(RecordedStep.Result.Retry.class);
            });
    assertThat(engine.report(stepDone(hung.claim(), "slow", "late")))
        .isInstanceOf(ReportResult.ClaimLost.class);
    assertThat(engine.report(stepDone(next.claim(), "slow", 2, "1")))
        .isInstanceOf(ReportResult.Accepted.class);
  }

  @Test
  void a_step_that_hangs_in_its_last_attempt_fails_finally_and_the_code_receives_it() {
    start(StartOptions.NONE);
    Task hung = engine.claimOne(worker);
    engine.report(started(hung, "slow", 1, 50));

    Task next = engine.claimOne(engine.register());

    assertThat(next.steps())
        .singleElement()
        .satisfies(
            step -> assertThat(step.result()).isInstanceOf(RecordedStep.Result.FinalFailure.class));
  }

  @Test
  void a_simple_clients_step_has_a_timeout_too() {
    RunId run = start(new TestOptions().withStepTimeoutMs(50).build());
    Task hung = engine.claimOne(worker);
    await(
        engine
            .engine()
            .reports()
            .begin(NAMESPACE, run, "slow", StepKind.FUNCTION, null, ONCE, 0, Caller.UNKNOWN));

    Task next = engine.claimOne(engine.register());

    assertThat(next.claim().epoch()).isGreaterThan(hung.claim().epoch());
  }

  @Test
  void an_open_step_of_a_lost_claim_has_no_timeout_until_it_is_reported_again() {
    RunId run = start(StartOptions.NONE);
    Task gone = engine.claimOne(worker);
    engine.report(started(gone, "slow", 1, 50));
    engine.report(new Report.Released(gone.claim(), 3_600_000, null));

    Awaitility.await()
        .atMost(Duration.ofSeconds(20))
        .untilAsserted(
            () ->
                assertThat(
                        stored.count(
                            "SELECT count(*) AS value FROM kagzi.step_runs"
                                + " WHERE timeout_at IS NOT NULL AND run_id = '"
                                + run
                                + "'"))
                    .isZero());

    assertThat(engine.run(run).status()).isEqualTo(RunStatus.PENDING);
    assertThat(
            stored.count(
                "SELECT count(*) AS value FROM kagzi.step_runs WHERE status = 'RUNNING'"
                    + " AND run_id = '"
                    + run
                    + "'"))
        .isEqualTo(1);
  }

  @Test
  void a_run_with_its_own_lease_duration_is_renewed_by_it() {
    RunId run = start(new TestOptions().withHeartbeatTimeoutMs(600_000).build());
    Task task = engine.claimOne(worker);

    await(
        engine
            .engine()
            .workers()
            .heartbeat(new WorkerHeartbeat(worker, List.of(task.claim()), null, 0, 0, null, 0, 0)));

    assertThat(stored.dueMs(run)).isBetween(500_000.0, 600_000.0);
  }

  @Test
  void a_crashed_worker_loses_runs_with_their_own_lease_duration_too() {
    RunId run = start(new TestOptions().withHeartbeatTimeoutMs(600_000).build());
    Task task = engine.claimOne(worker);
    await(
        engine
            .engine()
            .workers()
            .heartbeat(new WorkerHeartbeat(worker, List.of(task.claim()), null, 0, 0, null, 0, 0)));

    await(engine.engine().workers().deregister(null, worker, false));

    assertThat(engine.claimOne(engine.register()).claim().runId()).isEqualTo(run);
  }

  @Test
  void a_lease_shorter_than_three_heartbeats_is_refused() {
    assertThatThrownBy(() -> start(new TestOptions().withHeartbeatTimeoutMs(8_999).build()))
        .hasMessageContaining("heartbeat_timeout_ms")
        .hasMessageContaining("9000");
  }

  @Test
  void a_handler_queue_without_a_handler_is_refused() {
    assertThatThrownBy(() -> start(new TestOptions().withOnFailure("", "repairs").build()))
        .hasMessageContaining("on_failure_task_queue");
  }
}
