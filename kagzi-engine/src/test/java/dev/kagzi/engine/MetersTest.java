package dev.kagzi.engine;

import static dev.kagzi.engine.TestEngine.NAMESPACE;
import static dev.kagzi.engine.TestEngine.TYPE;
import static dev.kagzi.engine.TestEngine.await;
import static dev.kagzi.engine.TestEngine.done;
import static dev.kagzi.engine.TestEngine.failed;
import static dev.kagzi.engine.TestEngine.payload;
import static dev.kagzi.engine.TestEngine.stepDone;
import static dev.kagzi.engine.TestEngine.stepFailed;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.engine.config.JournalConfig;
import dev.kagzi.engine.config.WorkerConfig;
import dev.kagzi.engine.dispatch.Poll;
import dev.kagzi.engine.dispatch.Task;
import dev.kagzi.engine.internal.run.TakeReason;
import dev.kagzi.engine.metrics.StatementMetrics;
import dev.kagzi.engine.retry.RetryPolicy;
import dev.kagzi.engine.run.Report;
import dev.kagzi.engine.run.SignalRequest;
import dev.kagzi.engine.run.StartOptions;
import dev.kagzi.engine.run.StartRequest;
import dev.kagzi.engine.value.CallbackAnswer;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.StepKind;
import dev.kagzi.engine.value.TypeVersion;
import dev.kagzi.engine.value.WorkerId;
import dev.kagzi.engine.worker.WorkerHeartbeat;
import dev.kagzi.engine.worker.WorkerRegistration;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What an engine measures, by what happens to its runs. */
@SuppressWarnings("NullAway.Init")
class MetersTest {
  @RegisterExtension static final TestDatabase database = new TestDatabase();

  private static final Duration NEVER = Duration.ofHours(1);

  private TestEngine engine;
  private String queue;
  private MeterRegistry registry;

  @BeforeEach
  void open(TestInfo test) {
    queue = test.getTestMethod().orElseThrow().getName();
    // The workers of these tests send no heartbeats by themselves.
    engine =
        TestEngine.start(
            database.config(),
            queue,
            EngineConfig.defaults()
                .withWorkers(
                    new WorkerConfig(Duration.ofSeconds(3), Duration.ofSeconds(60), NEVER, NEVER)));
    registry = engine.engine().metrics().registry();
  }

  @AfterEach
  void close() {
    engine.close();
  }

  private double ofType(String name, String... tags) {
    return registry
        .get(name)
        .tags("namespace", NAMESPACE, "type", TYPE)
        .tags(tags)
        .counter()
        .count();
  }

  private Tags ofQueue(String... tags) {
    return Tags.of("namespace", NAMESPACE, "queue", queue).and(tags);
  }

  private double gauge(String name, String... tags) {
    return registry.get(name).tags(ofQueue(tags)).gauge().value();
  }

  private Task claim() {
    WorkerId worker = engine.register();
    engine.start();
    return engine.claimOne(worker);
  }

  private static RetryPolicy twice() {
    return new RetryPolicy(2, 0, 1, 0, 0, List.of());
  }

  @Test
  void starts_and_ends_are_counted_by_status_whichever_statement_writes_them() {
    engine.report(done(claim().claim(), "1"));
    Task two = claim();
    engine.report(List.of(stepDone(two.claim(), "pay", "1"), done(two.claim(), "1")));
    engine.report(failed(claim().claim(), "boom"));
    RunId cancelled = engine.start();
    await(engine.engine().runs().cancel(NAMESPACE, cancelled));

    assertThat(ofType("kagzi.runs.started")).isEqualTo(4);
    assertThat(ofType("kagzi.runs.ended", "status", "completed")).isEqualTo(2);
    assertThat(ofType("kagzi.runs.ended", "status", "failed")).isEqualTo(1);
    assertThat(ofType("kagzi.runs.ended", "status", "cancelled")).isEqualTo(1);
    assertThat(ofType("kagzi.runs.ended", "status", "timed_out")).isZero();
  }

  @Test
  void a_start_that_finds_an_existing_run_is_not_counted() {
    engine.start("same");
    engine.start("same");

    assertThat(ofType("kagzi.runs.started")).isEqualTo(1);
  }

  @Test
  void retries_of_runs_and_of_steps_are_counted_apart() {
    WorkerId worker = engine.register();
    engine.start(twice());
    Task task = engine.claimOne(worker);

    engine.report(stepFailed(task.claim(), "pay", 1, twice()));
    engine.report(failed(engine.claimOne(worker).claim(), "boom"));

    assertThat(ofType("kagzi.step.retries")).isEqualTo(1);
    assertThat(ofType("kagzi.run.retries")).isEqualTo(1);
    assertThat(ofType("kagzi.runs.ended", "status", "failed")).isZero();
  }

  @Test
  void signals_are_counted_when_they_are_stored_and_when_they_are_received() {
    Claim claim = claim().claim();
    send(claim, "a");
    send(claim, "b");
    send(claim, "b");
    CallbackAnswer paid = new CallbackAnswer.Completed(payload("1"));
    engine.report(
        new Report.StepDone(claim, "pay", 1, StepKind.CALLBACK, null, payload("1"), 0, ""));
    await(engine.engine().runs().answerCallback(NAMESPACE, claim.runId(), "pay", paid));

    engine.report(new Report.Receive(claim, "go", "go", null, false));
    engine.report(new Report.Receive(claim, "await:pay", "callback:pay", null, false));

    assertThat(ofType("kagzi.signals.sent")).isEqualTo(2);
    assertThat(ofType("kagzi.signals.received")).isEqualTo(1);
  }

  private void send(Claim claim, String id) {
    SignalRequest signal = new SignalRequest("go", payload("1"), id);
    await(engine.engine().runs().signal(NAMESPACE, claim.runId(), signal));
  }

  @Test
  void a_claim_that_is_taken_is_counted_by_reason_and_a_crash_also_by_type() {
    Task crashed = claim();
    Task untaken = claim();

    engine.engine().workers().recovery().take(List.of(crashed.claim()), TakeReason.WORKER_STALE);
    engine.engine().workers().recovery().take(List.of(untaken.claim()), TakeReason.TASK_NOT_TAKEN);

    Awaitility.await()
        .untilAsserted(
            () -> {
              assertThat(lost("worker_stale")).isEqualTo(1);
              assertThat(lost("task_not_taken")).isEqualTo(1);
            });
    assertThat(ofType("kagzi.run.crashes")).isEqualTo(1);
  }

  private double lost(String reason) {
    var counter = registry.find("kagzi.claims.lost").tag("reason", reason).counter();
    return counter == null ? 0 : counter.count();
  }

  @Test
  void a_run_whose_lease_ended_is_counted_as_lost_and_as_a_crash() {
    Task task = claim();
    database.execute(
        "UPDATE kagzi.workflow_runs SET available_at = kagzi.clock() WHERE run_id = '%s'"
            .formatted(task.claim().runId()));

    Task again = engine.claimOne(engine.register());

    assertThat(again.claim().runId()).isEqualTo(task.claim().runId());
    assertThat(lost("lease_ended")).isEqualTo(1);
    assertThat(ofType("kagzi.run.crashes")).isEqualTo(1);
  }

  @Test
  void claims_are_counted_by_how_the_run_reached_its_worker() {
    engine.start();
    WorkerId worker = engine.register();
    engine.report(done(engine.claimOne(worker).claim(), "1"));
    double byQuery = claims("query");
    engine.settle(worker);
    double directly = claims("direct");

    Poll poll = engine.poll(worker, 1);
    engine.start();
    await(poll.tasks());

    assertThat(byQuery).isEqualTo(1);
    assertThat(claims("direct")).isEqualTo(directly + 1);
  }

  private double claims(String how) {
    return registry.get("kagzi.claims").tags(ofQueue("how", how)).counter().count();
  }

  @Test
  void dispatch_latency_is_measured_from_the_due_time() {
    RunId run = engine.start();
    database.execute(
        "UPDATE kagzi.workflow_runs SET available_at = kagzi.clock() - interval '10 s'"
            + " WHERE run_id = '%s'".formatted(run));

    engine.claimOne(engine.register());

    Timer latency = registry.get("kagzi.dispatch.latency").tags(ofQueue()).timer();
    assertThat(latency.count()).isEqualTo(1);
    assertThat(latency.totalTime(TimeUnit.SECONDS)).isBetween(10.0, 15.0);
  }

  @Test
  void the_journal_measures_its_batches_and_commits() {
    long batches = engine.engine().metrics().journalBatches();
    double writes = batchWrites();

    engine.start();
    engine.start();

    assertThat(batchWrites()).isEqualTo(writes + 2);
    assertThat(registry.get("kagzi.journal.batch.writes").tag("journal", "runs").summary().count())
        .isEqualTo(batches + 2);
    assertThat(registry.get("kagzi.journal.commit").tag("journal", "runs").timer().count())
        .isEqualTo(batches + 2);
    assertThat(registry.get("kagzi.journal.queue.bytes").tag("journal", "runs").gauge().value())
        .isZero();
    assertThat(registry.get("kagzi.journal.queue.writes").tag("journal", "runs").gauge().value())
        .isZero();
  }

  private double batchWrites() {
    return registry
        .get("kagzi.journal.batch.writes")
        .tag("journal", "runs")
        .summary()
        .totalAmount();
  }

  @Test
  void a_full_journal_counts_the_writes_that_it_rejects_and_shows_what_waits() throws Exception {
    JournalConfig d = JournalConfig.defaults();
    JournalConfig tiny =
        new JournalConfig(
            1, 1, d.batchBytesMax(), d.batchWritesMax(), Duration.ZERO, d.databasePatience());
    Holds holds = new Holds(database.config());
    try (TestEngine small =
            TestEngine.start(database.config(), queue, TestConfigs.withJournal(tiny), holds);
        Holds.Hold hold = holds.statement("INSERT INTO kagzi.workflow_runs")) {
      CompletableFuture<?> held = small.engine().runs().start(small.request("", null));
      hold.awaitReached();
      CompletableFuture<?> waiting = small.engine().runs().start(small.request("", null));
      CompletableFuture<?> rejected = small.engine().runs().start(small.request("", null));

      assertThat(rejected)
          .failsWithin(Duration.ofSeconds(10))
          .withThrowableThat()
          .withCauseInstanceOf(Refusal.class);

      MeterRegistry meters = small.engine().metrics().registry();
      assertThat(
              meters
                  .get("kagzi.journal.rejected.writes")
                  .tags("journal", "runs", "reason", "full")
                  .counter()
                  .count())
          .isEqualTo(1);
      assertThat(meters.get("kagzi.journal.queue.writes").tag("journal", "runs").gauge().value())
          .isEqualTo(1);
      assertThat(meters.get("kagzi.journal.queue.bytes").tag("journal", "runs").gauge().value())
          .isPositive();
      hold.release();
      await(CompletableFuture.allOf(held, waiting));
    }
  }

  @Test
  void queues_show_their_open_runs_and_since_when_the_oldest_is_due() {
    RunId old = engine.start();
    engine.start();
    claim();
    database.execute(
        "UPDATE kagzi.workflow_runs SET available_at = kagzi.clock() - interval '1 hour'"
            + " WHERE run_id = '%s'".formatted(old));

    engine.engine().clusterMetrics().refresh();

    assertThat(gauge("kagzi.queue.runs", "status", "running")).isEqualTo(1);
    assertThat(gauge("kagzi.queue.runs", "status", "pending")).isEqualTo(2);
    assertThat(gauge("kagzi.queue.runs", "status", "sleeping")).isZero();
    assertThat(gauge("kagzi.queue.oldest.due.seconds")).isBetween(3_600.0, 3_700.0);
  }

  @Test
  void nothing_is_due_in_a_disabled_namespace() {
    RunId run = engine.start();
    database.execute(
        "UPDATE kagzi.workflow_runs SET available_at = kagzi.clock() - interval '1 hour'"
            + " WHERE run_id = '%s'".formatted(run));
    engine.engine().namespaces().setEnabled(NAMESPACE, false, null);
    try {
      engine.engine().clusterMetrics().refresh();

      assertThat(gauge("kagzi.queue.runs", "status", "pending")).isEqualTo(1);
      assertThat(gauge("kagzi.queue.oldest.due.seconds")).isZero();
    } finally {
      engine.engine().namespaces().setEnabled(NAMESPACE, true, null);
    }
  }

  /**
   * Free slots are counted for each worker: a worker above its limit does not reduce the free slots
   * of another.
   */
  @Test
  void queues_show_their_workers_and_slots() {
    WorkerId draining = register(10);
    WorkerId overfull = register(5);
    WorkerId free = register(5);
    register(100);
    await(engine.engine().workers().drain(null, draining));
    heartbeat(draining, 4);
    heartbeat(overfull, 7);
    heartbeat(free, 1);

    engine.engine().clusterMetrics().refresh();

    assertThat(gauge("kagzi.queue.workers", "status", "online")).isEqualTo(3);
    assertThat(gauge("kagzi.queue.workers", "status", "draining")).isEqualTo(1);
    assertThat(gauge("kagzi.queue.slots", "state", "used")).isEqualTo(12);
    // The last worker has not reported how many runs it executes.
    assertThat(gauge("kagzi.queue.slots", "state", "free")).isEqualTo(4);
  }

  private void heartbeat(WorkerId worker, int active) {
    await(
        engine
            .engine()
            .workers()
            .heartbeat(new WorkerHeartbeat(worker, null, active, 0, 0, null, 0, 0)));
  }

  private WorkerId register(int slots) {
    return await(
        engine
            .engine()
            .workers()
            .register(
                new WorkerRegistration(
                    engine.queue(),
                    List.of(new TypeVersion(TYPE, "")),
                    false,
                    "host",
                    1,
                    "",
                    Map.of(),
                    slots,
                    Map.of(),
                    ""),
                null));
  }

  @Test
  void a_queue_whose_runs_ended_shows_zero() {
    Task task = claim();
    engine.engine().clusterMetrics().refresh();
    engine.report(done(task.claim(), "1"));
    double before = gauge("kagzi.queue.runs", "status", "running");

    Awaitility.await()
        .atMost(Duration.ofSeconds(20))
        .pollInterval(Duration.ofSeconds(1))
        .untilAsserted(
            () -> {
              engine.engine().clusterMetrics().refresh();
              assertThat(gauge("kagzi.queue.runs", "status", "running")).isZero();
            });
    assertThat(before).isEqualTo(1);
  }

  @Test
  void the_database_is_asked_at_most_every_ten_seconds_however_often_metrics_are_read() {
    engine.engine().clusterMetrics().refresh();
    StatementMetrics statements = engine.engine().metrics().statements();
    long reads = statements.statementsBySession().getOrDefault("read", 0L);

    for (int i = 0; i < 100; i++) {
      engine.engine().clusterMetrics().refresh();
    }

    assertThat(statements.statementsBySession().getOrDefault("read", 0L) - reads).isLessThan(5);
  }

  @Test
  void starts_with_types_beyond_the_limit_are_counted_as_other() {
    for (int i = 0; i < 101; i++) {
      await(
          engine
              .engine()
              .runs()
              .start(
                  new StartRequest(
                      NAMESPACE,
                      "",
                      queue,
                      "t" + i,
                      "",
                      TestEngine.payload("1"),
                      null,
                      null,
                      StartOptions.NONE)));
    }

    assertThat(registry.get("kagzi.runs.started").tag("type", "t99").counter().count()).isOne();
    assertThat(registry.get("kagzi.runs.started").tag("type", "other").counter().count()).isOne();
  }
}
