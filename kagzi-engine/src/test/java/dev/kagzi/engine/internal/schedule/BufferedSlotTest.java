package dev.kagzi.engine.internal.schedule;

import static dev.kagzi.engine.TestEngine.NAMESPACE;
import static dev.kagzi.engine.TestEngine.TYPE;
import static dev.kagzi.engine.TestEngine.await;
import static dev.kagzi.engine.TestEngine.done;
import static dev.kagzi.engine.TestEngine.failed;
import static dev.kagzi.engine.TestEngine.payload;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.engine.CapturedLog;
import dev.kagzi.engine.EngineConfig;
import dev.kagzi.engine.Holds;
import dev.kagzi.engine.Stored;
import dev.kagzi.engine.TestClock;
import dev.kagzi.engine.TestDatabase;
import dev.kagzi.engine.TestEngine;
import dev.kagzi.engine.TestSchedules;
import dev.kagzi.engine.config.ScheduleConfig;
import dev.kagzi.engine.dispatch.Task;
import dev.kagzi.engine.run.CancelResult;
import dev.kagzi.engine.run.Report;
import dev.kagzi.engine.schedule.Overlap;
import dev.kagzi.engine.schedule.ScheduleSpec;
import dev.kagzi.engine.schedule.ScheduleView;
import dev.kagzi.engine.schedule.SilentEvents;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.WorkerId;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A buffered slot becomes a run in the transaction that ends the earlier run. */
class BufferedSlotTest {
  @RegisterExtension static final TestDatabase database = new TestDatabase();

  /** This text is only in the statement that locks the template when a run ends. */
  private static final String LOCKS_TEMPLATE = "OR t.buffered_at IS NOT NULL)";

  private final Stored stored = new Stored(database);
  private final TestClock clock = new TestClock(database);
  private Holds holds;
  private TestEngine engine;
  private String queue;
  private WorkerId worker;
  private ScheduleFirer firer;
  private int days;

  @BeforeEach
  void open(TestInfo test) {
    database.forgetRuns();
    days = 0;
    queue = test.getTestMethod().orElseThrow().getName();
    holds = new Holds(database.config());
    // The engine does not fire by itself; each test calls the firer.
    engine =
        TestEngine.start(
            database.config(),
            queue,
            EngineConfig.defaults().withCoordinatorInterval(Duration.ofMinutes(1)),
            holds);
    worker = engine.register();
    firer =
        new ScheduleFirer(
            database.open(), ScheduleConfig.defaults(), Duration.ofSeconds(1), new SilentEvents());
  }

  @AfterEach
  void close() {
    firer.close();
    engine.close();
    clock.reset();
  }

  private ScheduleView create(Overlap overlap) {
    return create(overlap, null);
  }

  private ScheduleView create(Overlap overlap, @Nullable Long timeoutMs) {
    return engine
        .engine()
        .schedules()
        .create(
            TestSchedules.creation(
                NAMESPACE,
                new ScheduleSpec(
                    queue,
                    queue,
                    TYPE,
                    "",
                    "0 0 * * *",
                    "UTC",
                    payload("1"),
                    overlap,
                    100,
                    0,
                    null,
                    timeoutMs,
                    null,
                    "",
                    "")));
  }

  /** Makes one more slot due and fires it. */
  private void nextDay() {
    days++;
    clock.ahead(Duration.ofDays(days));
    firer.fireDue(() -> {});
  }

  private ScheduleView view(ScheduleView schedule) {
    return engine.engine().schedules().get(NAMESPACE, schedule.id());
  }

  private List<String> runs(ScheduleView schedule) {
    return database.run(
        session ->
            session
                .query(
                    "SELECT concat(fire_at::date - (SELECT min(fire_at)::date FROM"
                        + " kagzi.workflow_runs WHERE schedule_id IS NOT NULL), ' ', status) AS"
                        + " value FROM kagzi.workflow_runs WHERE schedule_id = ? ORDER BY fire_at")
                .bind(schedule.id().value())
                .list(row -> row.text("value")));
  }

  @Test
  void a_buffered_slot_whose_external_id_is_taken_is_counted_as_missed() {
    ScheduleView schedule = create(Overlap.BUFFER_ONE);
    nextDay();
    Task first = engine.claimOne(worker);
    nextDay();
    Instant slot = view(schedule).waitingSlot();
    database.execute(
        """
        INSERT INTO kagzi.workflow_runs
               (run_id, namespace, external_id, task_queue, workflow_type, origin, status,
                available_at, created_at)
        VALUES ('%s', 'default', 'schedule:%s:%s', 'q', 'foreign', 'CLIENT', 'PENDING',
                kagzi.clock(), kagzi.clock())
        """
            .formatted(RunId.next(), schedule.id(), slot));

    try (CapturedLog log = CapturedLog.of(FireRuns.class)) {
      engine.report(done(first.claim(), "1"));

      assertThat(log.lines())
          .containsExactly(
              "WARN a slot made no run: another run that is active has its external id"
                  + " schedule=%1$s external_id=schedule:%1$s:%2$s".formatted(schedule.id(), slot));
    }
    assertThat(runs(schedule)).containsExactly("0 COMPLETED");
    assertThat(view(schedule).waitingSlot()).isNull();
    assertThat(view(schedule).missedRuns()).isEqualTo(1);
    assertThat(view(schedule).totalRuns()).isEqualTo(1);
  }

  @Test
  void the_first_slot_is_buffered_the_others_are_missed_and_the_end_starts_it() {
    ScheduleView schedule = create(Overlap.BUFFER_ONE);
    nextDay();
    Task first = engine.claimOne(worker);
    nextDay();
    nextDay();
    nextDay();
    assertThat(runs(schedule)).containsExactly("0 RUNNING");
    assertThat(view(schedule).waitingSlot()).isEqualTo(next(schedule).plus(Duration.ofDays(1)));
    assertThat(view(schedule).missedRuns()).isEqualTo(2);

    engine.report(done(first.claim(), "1"));

    assertThat(runs(schedule)).hasSize(2).startsWith("0 COMPLETED");
    assertThat(view(schedule).waitingSlot()).isNull();
    assertThat(view(schedule).totalRuns()).isEqualTo(2);
    Task second = engine.claimOne(worker);
    assertThat(second.input()).isEqualTo(payload("1"));
    engine.report(done(second.claim(), "1"));
    assertThat(runs(schedule)).containsExactly("0 COMPLETED", "1 COMPLETED");
    assertThat(view(schedule).completedRuns()).isEqualTo(2);
  }

  @Test
  void a_chain_is_one_run_of_its_schedule() {
    ScheduleView schedule = create(Overlap.BUFFER_ONE);
    nextDay();
    Task first = engine.claimOne(worker);
    nextDay();

    engine.report(new Report.ContinueAsNew(first.claim(), payload("2"), null, false, ""));
    nextDay();

    assertThat(view(schedule).waitingSlot()).isNotNull();
    assertThat(view(schedule).missedRuns()).isEqualTo(1);
    assertThat(view(schedule).totalRuns()).isEqualTo(1);
    assertThat(view(schedule).completedRuns()).isZero();
    Task second = engine.claimOne(worker);
    assertThat(second.input()).isEqualTo(payload("2"));
    engine.report(done(second.claim(), "1"));
    assertThat(view(schedule).waitingSlot()).isNull();
    assertThat(view(schedule).totalRuns()).isEqualTo(2);
    engine.report(done(engine.claimOne(worker).claim(), "1"));
    assertThat(view(schedule).completedRuns()).isEqualTo(2);
  }

  @Test
  void a_slot_is_skipped_while_a_run_of_the_chain_is_open() {
    ScheduleView schedule = create(Overlap.SKIP);
    nextDay();
    engine.report(
        new Report.ContinueAsNew(engine.claimOne(worker).claim(), payload("2"), null, false, ""));

    nextDay();

    assertThat(view(schedule).totalRuns()).isEqualTo(1);
    assertThat(view(schedule).missedRuns()).isEqualTo(1);
    engine.report(done(engine.claimOne(worker).claim(), "1"));
    nextDay();
    assertThat(view(schedule).totalRuns()).isEqualTo(2);
  }

  private static Instant next(ScheduleView schedule) {
    Instant next = schedule.nextFireAt();
    if (next == null) {
      throw new AssertionError(schedule);
    }
    return next;
  }

  @Test
  void a_failure_a_cancel_and_a_termination_start_it_too() {
    ScheduleView schedule = create(Overlap.BUFFER_ONE);
    nextDay();
    nextDay();
    engine.report(failed(engine.claimOne(worker).claim(), "boom"));
    assertThat(runs(schedule)).containsExactly("0 FAILED", "1 PENDING");

    nextDay();
    await(engine.engine().runs().cancel(NAMESPACE, open()));
    assertThat(runs(schedule)).containsExactly("0 FAILED", "1 CANCELLED", "2 PENDING");

    nextDay();
    await(engine.engine().runs().terminate(NAMESPACE, open(), "enough"));
    assertThat(runs(schedule)).containsExactly("0 FAILED", "1 CANCELLED", "2 FAILED", "3 PENDING");
    assertThat(view(schedule).failedRuns()).isEqualTo(2);
    assertThat(view(schedule).completedRuns()).isZero();
  }

  private RunId open() {
    return RunId.parse(
            stored.text(
                "SELECT run_id::text AS value FROM kagzi.workflow_runs WHERE schedule_id IS NOT"
                    + " NULL AND available_at IS NOT NULL"))
        .orElseThrow();
  }

  @Test
  void a_timeout_starts_it_too() {
    ScheduleView schedule = create(Overlap.BUFFER_ONE, 7_200_000L);
    engine.close();
    engine = TestEngine.start(database.config(), queue);
    nextDay();
    nextDay();

    Awaitility.await()
        .atMost(Duration.ofSeconds(15))
        .untilAsserted(() -> assertThat(runs(schedule)).hasSize(2).startsWith("0 TIMED_OUT"));
    assertThat(view(schedule).failedRuns()).isEqualTo(1);
  }

  @Test
  void a_slot_that_is_buffered_while_the_run_ends_is_started_by_that_end() throws Exception {
    ScheduleView schedule = create(Overlap.BUFFER_ONE);
    nextDay();
    Task first = engine.claimOne(worker);
    try (Holds.Hold hold = holds.statement(LOCKS_TEMPLATE)) {
      CompletableFuture<?> end =
          CompletableFuture.supplyAsync(() -> engine.report(done(first.claim(), "1")));
      hold.awaitReached();

      // The end is written but not committed: the firer sees the run as open.
      nextDay();
      assertThat(view(schedule).waitingSlot()).isNotNull();
      hold.release();
      await(end);
    }

    assertThat(runs(schedule)).containsExactly("0 COMPLETED", "1 PENDING");
    assertThat(view(schedule).waitingSlot()).isNull();
  }

  @Test
  void a_slot_that_is_due_while_an_end_commits_fires_after_it() throws Exception {
    ScheduleView schedule = create(Overlap.BUFFER_ONE);
    nextDay();
    Task first = engine.claimOne(worker);
    try (Holds.Hold hold = holds.commitAfter(LOCKS_TEMPLATE)) {
      CompletableFuture<?> end =
          CompletableFuture.supplyAsync(() -> engine.report(done(first.claim(), "1")));
      hold.awaitReached();

      nextDay();
      assertThat(view(schedule).waitingSlot()).isNull();
      assertThat(runs(schedule)).hasSize(1);
      hold.release();
      await(end);
    }
    firer.fireDue(() -> {});

    assertThat(runs(schedule)).containsExactly("0 COMPLETED", "1 PENDING");
  }

  @Test
  void of_two_runs_that_end_at_once_the_second_starts_it() throws Exception {
    ScheduleView schedule = create(Overlap.BUFFER_ONE);
    nextDay();
    Task first = engine.claimOne(worker);
    RunId asked = engine.engine().scheduleStarts().trigger(NAMESPACE, schedule.id(), null);
    nextDay();
    try (Holds.Hold hold = holds.commitAfter(LOCKS_TEMPLATE)) {
      CompletableFuture<?> end =
          CompletableFuture.supplyAsync(() -> engine.report(done(first.claim(), "1")));
      hold.awaitReached();
      // Another lane or server: it waits for the template's lock.
      try (TestEngine other = TestEngine.start(database.config(), queue)) {
        CompletableFuture<CancelResult> cancel = other.engine().runs().cancel(NAMESPACE, asked);
        Awaitility.await().until(stored::somebodyWaitsForALock);
        hold.release();
        await(end);
        assertThat(await(cancel).cancelled()).isTrue();
      }
    }

    assertThat(runs(schedule)).containsExactly("0 COMPLETED", "1 PENDING", " CANCELLED");
    assertThat(view(schedule).waitingSlot()).isNull();
  }

  @Test
  void a_slot_whose_run_was_ended_by_an_older_server_is_started_later() {
    ScheduleView schedule = create(Overlap.BUFFER_ONE);
    nextDay();
    nextDay();
    // As an older server without schedule support would.
    database.execute(
        "UPDATE kagzi.workflow_runs SET status = 'COMPLETED', available_at = NULL, finished_at ="
            + " now() WHERE schedule_id IS NOT NULL");

    firer.startOverdueBuffered();
    firer.startOverdueBuffered();

    assertThat(runs(schedule)).containsExactly("0 COMPLETED", "1 PENDING");
    assertThat(view(schedule).waitingSlot()).isNull();
  }

  @Test
  void a_paused_schedule_keeps_its_buffered_slot() {
    ScheduleView schedule = create(Overlap.BUFFER_ONE);
    nextDay();
    Task first = engine.claimOne(worker);
    nextDay();
    engine.engine().schedules().setEnabled(NAMESPACE, schedule.id(), false, null);

    engine.report(done(first.claim(), "1"));
    assertThat(runs(schedule)).containsExactly("0 COMPLETED");
    engine.engine().schedules().setEnabled(NAMESPACE, schedule.id(), true, null);
    firer.startOverdueBuffered();

    assertThat(runs(schedule)).containsExactly("0 COMPLETED", "1 PENDING");
  }

  @Test
  void a_resumed_run_no_longer_counts_as_failed() {
    ScheduleView schedule = create(Overlap.ALLOW);
    nextDay();
    Task first = engine.claimOne(worker);
    engine.report(failed(first.claim(), "boom"));
    long before = view(schedule).failedRuns();

    await(engine.engine().runs().resume(NAMESPACE, first.claim().runId(), null, false));

    assertThat(before).isEqualTo(1);
    assertThat(view(schedule).failedRuns()).isZero();
    database.run(session -> ScheduleCounts.fold(session, 100));
    assertThat(view(schedule).failedRuns()).isZero();
    assertThat(stored.count("SELECT count(*) AS value FROM kagzi.schedule_changes")).isZero();
  }

  @Test
  void an_engine_fires_a_schedule_of_every_second_by_itself_and_on_time() {
    engine.close();
    try (TestEngine own = TestEngine.start(database.config(), queue)) {
      engine = own;
      ScheduleView schedule =
          own.engine()
              .schedules()
              .create(
                  TestSchedules.creation(
                      NAMESPACE, TestSchedules.spec("seconds", queue, TYPE, "* * * * * *")));
      WorkerId awake = own.register();
      List<Task> tasks = new ArrayList<>();
      while (tasks.size() < 4) {
        await(own.poll(awake, 1).tasks())
            .forEach(
                task -> {
                  tasks.add(task);
                  own.report(done(task.claim(), "1"));
                });
      }
      own.engine().schedules().setEnabled(NAMESPACE, schedule.id(), false, null);

      assertThat(
              stored.text(
                  "SELECT concat(count(*) = count(DISTINCT fire_at), ' ', count(*) = 1 +"
                      + " extract(epoch FROM max(fire_at) - min(fire_at)), ' ',"
                      + " max(created_at - fire_at) < interval '900 ms', ' ', min(created_at -"
                      + " fire_at) >= interval '0 s') AS value FROM kagzi.workflow_runs WHERE"
                      + " schedule_id IS NOT NULL"))
          .isEqualTo("t t t t");
      assertThat(own.engine().queries().stats(NAMESPACE).runs(RunStatus.SCHEDULED)).isZero();
      assertThat(own.engine().queries().stats(NAMESPACE).schedules()).isEqualTo(1);
      assertThat(own.engine().queries().stats(NAMESPACE).schedulesEnabled()).isZero();
    }
  }
}
