package dev.kagzi.engine.transition;

import static dev.kagzi.engine.TestEngine.await;
import static dev.kagzi.engine.TestEngine.stepDone;
import static dev.kagzi.engine.TestEngine.stepFailed;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.engine.EngineConfig;
import dev.kagzi.engine.Stored;
import dev.kagzi.engine.TestDatabase;
import dev.kagzi.engine.TestEngine;
import dev.kagzi.engine.TestReports;
import dev.kagzi.engine.config.DispatchConfig;
import dev.kagzi.engine.dispatch.Task;
import dev.kagzi.engine.query.RunView;
import dev.kagzi.engine.retry.CrashPolicy;
import dev.kagzi.engine.run.Report;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.StepKind;
import dev.kagzi.engine.value.WorkerId;
import dev.kagzi.engine.worker.WorkerHeartbeat;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A run that crashes its workers fails after a limited number of crashes. */
class CrashTest {
  @RegisterExtension static final TestDatabase database = new TestDatabase();

  private final Stored stored = new Stored(database);
  private TestEngine engine;

  @BeforeEach
  void open(TestInfo test) {
    engine = start(test.getTestMethod().orElseThrow().getName(), new CrashPolicy(20, 100, 3));
  }

  private static TestEngine start(String queue, CrashPolicy crashes) {
    EngineConfig config = EngineConfig.defaults();
    return TestEngine.start(
        database.config(),
        queue,
        config
            .withRules(config.rules().withCrashes(crashes))
            .withDispatch(DispatchConfig.defaults().withFallbackInterval(Duration.ofMillis(100))));
  }

  @AfterEach
  void close() {
    engine.close();
  }

  /** A worker claims the run and its registration is marked as gone. */
  private void crashWorker() {
    WorkerId worker = engine.register();
    Task task = engine.claimOne(worker);
    await(
        engine
            .engine()
            .workers()
            .heartbeat(new WorkerHeartbeat(worker, List.of(task.claim()), null, 0, 0, null, 0, 0)));
    database.execute(
        "UPDATE kagzi.workers SET last_heartbeat_at = now() - interval '1 hour' WHERE worker_id = '"
            + worker
            + "'");
    engine.engine().workers().recovery().releaseStale();
  }

  private void awaitFailed(RunId run) {
    Awaitility.await()
        .atMost(Duration.ofSeconds(20))
        .untilAsserted(() -> assertThat(engine.run(run).status()).isEqualTo(RunStatus.FAILED));
  }

  @Test
  void a_run_whose_workers_crash_fails_over_the_limit_with_that_reason() {
    RunId run = engine.start();

    for (int i = 0; i < 4; i++) {
      crashWorker();
    }

    awaitFailed(run);
    RunView end = engine.run(run);
    assertThat(engine.error(run))
        .contains("taken over 4 times in a row")
        .endsWith("while it executed the run");
    assertThat(end.crashes()).as("the row and the error have the same count").isEqualTo(4);
    assertThat(end.attempts()).isEqualTo(1);
  }

  @Test
  void the_failure_of_a_run_whose_workers_crash_names_the_last_step() {
    RunId run = engine.start();
    WorkerId first = engine.register();
    Claim claim = engine.claimOne(first).claim();
    engine.report(stepDone(claim, "a", "1"));
    engine.report(stepDone(claim, "b", "1"));
    await(engine.engine().workers().deregister(TestEngine.NAMESPACE, first, false));

    for (int i = 0; i < 4; i++) {
      crashWorker();
    }

    awaitFailed(run);
    assertThat(engine.error(run)).endsWith("while it executed the run, after step b");
  }

  @Test
  void the_last_step_of_a_run_whose_workers_crash_may_be_a_sleep_that_is_over() {
    RunId run = engine.start();
    WorkerId first = engine.register();
    Claim claim = engine.claimOne(first).claim();
    Instant past = Instant.parse("2001-02-03T04:05:06Z");
    engine.report(
        List.of(stepDone(claim, "a", "1"), new Report.Sleep(claim, "nap", null, past, true)));
    await(engine.engine().workers().deregister(TestEngine.NAMESPACE, first, false));

    for (int i = 0; i < 4; i++) {
      crashWorker();
    }

    awaitFailed(run);
    assertThat(engine.error(run)).endsWith("while it executed the run, after step nap");
  }

  /** The time before the new execution does not count. */
  @Test
  void a_step_that_is_executed_again_after_a_crash_has_a_new_start_time() {
    RunId run = engine.start();
    WorkerId worker = engine.register();
    Claim first = engine.claimOne(worker).claim();
    for (String step : List.of("plain", "failing", "other")) {
      engine.report(TestReports.started(first, step, 1, StepKind.FUNCTION, null, 3_600_000));
    }
    engine.report(new Report.Released(first, 0, null));
    Claim second = engine.claimOne(worker).claim();

    engine.report(stepDone(second, "plain", "1"));
    engine.report(
        List.of(stepDone(second, "other", "1"), stepDone(second, "at-the-same-time", "1")));
    // Last, because a delay of more than a second ends the claim.
    engine.report(stepFailed(second, "failing", 1, null));

    assertThat(
            stored.text(
                "SELECT string_agg(step_id, ',' ORDER BY step_id) AS value FROM kagzi.step_runs"
                    + " WHERE run_id = '"
                    + run
                    + "' AND finished_at - started_at < interval '1 minute'"))
        .isEqualTo("at-the-same-time,failing,other,plain");
  }

  @Test
  void a_run_whose_leases_expire_fails_over_the_limit_too() {
    RunId run = engine.start();
    WorkerId worker = engine.register();
    for (int i = 0; i < 3; i++) {
      engine.claimOne(worker);
      stored.expireLease(run);
    }

    engine.claimOne(worker);
    stored.expireLease(run);
    engine.poll(worker, 1);

    awaitFailed(run);
    assertThat(engine.error(run)).contains("taken over 4 times");
  }

  @Test
  void a_run_whose_leases_expire_is_delayed_from_the_second_time_on() {
    CrashPolicy policy = new CrashPolicy(1_000_000, 10_000_000, 3);
    try (TestEngine patient = start("patient", policy)) {
      RunId run = patient.start();
      WorkerId worker = patient.register();
      patient.claimOne(worker);
      stored.expireLease(run);
      patient.claimOne(worker);
      stored.expireLease(run);
      patient.poll(worker, 1);

      Awaitility.await()
          .atMost(Duration.ofSeconds(20))
          .until(() -> patient.run(run).status() == RunStatus.PENDING);
      assertThat(stored.dueMs(run)).isBetween(700_000.0, 1_250_000.0);
      assertThat(patient.run(run).crashes()).isEqualTo(2);
    }
  }

  @Test
  void a_recorded_step_resets_the_crash_count() {
    RunId run = engine.start();
    crashWorker();
    crashWorker();
    WorkerId worker = engine.register();
    Task task = engine.claimOne(worker);
    assertThat(engine.run(run).crashes()).isEqualTo(2);

    engine.report(stepDone(task.claim(), "a", "1"));

    assertThat(engine.run(run).crashes()).isZero();
  }

  @Test
  void a_release_is_not_a_crash() {
    RunId run = engine.start();
    WorkerId worker = engine.register();

    for (int i = 0; i < 6; i++) {
      Task task = engine.claimOne(worker);
      engine.report(new Report.Released(task.claim(), 0, null));
    }

    assertThat(engine.run(run).status()).isEqualTo(RunStatus.PENDING);
    assertThat(engine.run(run).crashes()).isZero();
  }

  @Test
  void a_sleep_that_continues_does_not_reset_the_crash_count() {
    RunId run = engine.start();
    WorkerId first = engine.register();
    engine.report(new Report.Sleep(engine.claimOne(first).claim(), "nap", 3_600_000L, null, true));
    await(engine.engine().workers().deregister(TestEngine.NAMESPACE, first, false));
    crashWorker();
    Task task = engine.claimOne(engine.register());
    int crashes = engine.run(run).crashes();

    engine.report(new Report.Sleep(task.claim(), "nap", 3_600_000L, null, true));

    assertThat(crashes).isPositive();
    assertThat(engine.run(run).crashes()).isEqualTo(crashes);
  }
}
