package dev.kagzi.engine.internal.schedule;

import static dev.kagzi.engine.TestEngine.NAMESPACE;
import static dev.kagzi.engine.TestEngine.payload;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kagzi.engine.CapturedLog;
import dev.kagzi.engine.Stored;
import dev.kagzi.engine.TestClock;
import dev.kagzi.engine.TestDatabase;
import dev.kagzi.engine.TestSchedules;
import dev.kagzi.engine.config.ScheduleConfig;
import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.internal.run.LargePayloads;
import dev.kagzi.engine.namespace.Namespaces;
import dev.kagzi.engine.page.Page;
import dev.kagzi.engine.page.PageSpec;
import dev.kagzi.engine.retry.RetryPolicy;
import dev.kagzi.engine.schedule.Overlap;
import dev.kagzi.engine.schedule.ScheduleSpec;
import dev.kagzi.engine.schedule.ScheduleStarts;
import dev.kagzi.engine.schedule.ScheduleUpdate;
import dev.kagzi.engine.schedule.ScheduleView;
import dev.kagzi.engine.schedule.Schedules;
import dev.kagzi.engine.schedule.SilentEvents;
import dev.kagzi.engine.value.Limits;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.QueueName;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.Shard;
import dev.kagzi.engine.value.TypeVersion;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Schedules and the firer without an engine: nothing fires by itself. */
class ScheduleFirerTest {
  @RegisterExtension static final TestDatabase database = new TestDatabase();

  private static final Duration INTERVAL = Duration.ofSeconds(1);
  private static final Instant BEGIN = Instant.parse("2026-03-01T10:00:30Z");

  private final Stored stored = new Stored(database);
  private final TestClock clock = new TestClock(database);
  private final RecordedEvents events = new RecordedEvents();
  private Schedules schedules;
  private ScheduleStarts starts;
  private Namespaces namespaces;
  private ScheduleFirer firer;

  /** The events that were published after commits. */
  private static final class RecordedEvents extends SilentEvents {
    final List<QueueName> due = new ArrayList<>();
    final List<Long> expires = new ArrayList<>();
    final List<Long> lateMs = new ArrayList<>();
    int fired;
    Runnable then = () -> {};

    @Override
    public void runsDue(QueueName queue, TypeVersion type, long delayMs) {
      due.add(queue);
      then.run();
    }

    @Override
    public void expires(long delayMs) {
      expires.add(delayMs);
    }

    @Override
    public void fired(QueueName queue, TypeVersion type) {
      fired++;
    }

    @Override
    public void slotFired(long late) {
      lateMs.add(late);
    }
  }

  @BeforeEach
  void open() {
    clock.at(BEGIN);
    database.forgetRuns();
    database.execute(
        "TRUNCATE kagzi.run_changes, kagzi.run_counts, kagzi.schedule_changes,"
            + " kagzi.workflow_types");
    namespaces = new Namespaces(database.open(), Limits.DEFAULT, false, (n, on) -> {}, n -> {});
    schedules =
        new Schedules(
            database.open(),
            namespaces,
            Limits.DEFAULT,
            new LargePayloads(Limits.DEFAULT),
            ms -> {});
    starts = new ScheduleStarts(database.open(), namespaces, Limits.DEFAULT, events);
    firer = new ScheduleFirer(database.open(), new ScheduleConfig(100, 1_000), INTERVAL, events);
  }

  @AfterEach
  void close() {
    firer.close();
    clock.reset();
  }

  private void ahead(Duration by) {
    clock.at(BEGIN.plus(by));
  }

  private ScheduleView create(ScheduleSpec spec) {
    return schedules.create(TestSchedules.creation(NAMESPACE, spec));
  }

  private static ScheduleSpec minutely(String name) {
    return TestSchedules.spec(name, "q", "report", "* * * * *");
  }

  private static ScheduleSpec with(String name, Overlap overlap, int maxCatchup) {
    return with(name, overlap, maxCatchup, payload("1"));
  }

  private static ScheduleSpec with(String name, Overlap overlap, int maxCatchup, Payload input) {
    return new ScheduleSpec(
        name,
        "q",
        "report",
        "",
        "* * * * *",
        "UTC",
        input,
        overlap,
        maxCatchup,
        0,
        null,
        null,
        null,
        "",
        "");
  }

  private ScheduleView view(ScheduleView schedule) {
    return schedules.get(NAMESPACE, schedule.id());
  }

  private List<Instant> slots(ScheduleView schedule) {
    return database.run(
        session ->
            session
                .query(
                    "SELECT fire_at FROM kagzi.workflow_runs WHERE schedule_id = ? AND fire_at IS"
                        + " NOT NULL ORDER BY available_at, run_id")
                .bind(schedule.id().value())
                .list(row -> row.time("fire_at")));
  }

  private static List<Instant> minutes(Instant first, int count) {
    List<Instant> all = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      all.add(first.plusSeconds(60L * i));
    }
    return all;
  }

  private static Instant next(ScheduleView schedule) {
    Instant next = schedule.nextFireAt();
    if (next == null) {
      throw new AssertionError("no next slot: " + schedule);
    }
    return next;
  }

  @Test
  void the_lateness_of_a_slot_is_published_and_not_that_of_a_triggered_run() {
    ScheduleView schedule = create(minutely("late"));
    clock.at(next(schedule).plusSeconds(20));

    firer.fireDue(() -> {});
    starts.trigger(NAMESPACE, schedule.id(), null);

    assertThat(events.fired).isEqualTo(2);
    assertThat(events.lateMs)
        .singleElement()
        .satisfies(ms -> assertThat(ms).isBetween(20_000L, 25_000L));
  }

  /** A promoted standby may lack the run and the progress of its schedule. */
  @Test
  void a_slot_whose_run_was_lost_fires_again_with_the_same_run_id() {
    ScheduleView schedule = create(minutely("lost"));
    Instant slot = next(schedule);
    clock.at(slot);
    firer.fireDue(() -> {});
    List<RunId> lost = runs(schedule);

    database.execute("DELETE FROM kagzi.workflow_runs WHERE schedule_id IS NOT NULL");
    database.execute(
        "UPDATE kagzi.workflow_runs SET fire_at = '%1$s', available_at = '%1$s'".formatted(slot));
    firer.fireDue(() -> {});
    List<RunId> again = runs(schedule);
    clock.at(slot.plusSeconds(60));
    firer.fireDue(() -> {});

    assertThat(again).hasSize(1).isEqualTo(lost);
    assertThat(again.getFirst().shard()).isEqualTo(schedule.id().shard());
    assertThat(runs(schedule)).hasSize(2).containsAll(again);
  }

  /** If the run was purged, a new call executes the slot again, and not with the same keys. */
  @Test
  void the_run_ids_of_a_backfill_follow_from_its_call() {
    ScheduleView schedule = create(minutely("filled"));
    Instant from = BEGIN.minus(Duration.ofMinutes(2));
    UUID call = UUID.randomUUID();
    starts.backfill(NAMESPACE, schedule.id(), from, BEGIN, call);
    List<RunId> lost = runs(schedule);

    database.execute("DELETE FROM kagzi.workflow_runs WHERE schedule_id IS NOT NULL");
    database.execute("DELETE FROM kagzi.requests");
    starts.backfill(NAMESPACE, schedule.id(), from, BEGIN, call);
    List<RunId> again = runs(schedule);
    database.execute("DELETE FROM kagzi.workflow_runs WHERE schedule_id IS NOT NULL");
    starts.backfill(NAMESPACE, schedule.id(), from, BEGIN, UUID.randomUUID());

    assertThat(again).hasSize(2).isEqualTo(lost);
    assertThat(runs(schedule)).hasSize(2).doesNotContainAnyElementsOf(lost);
  }

  private List<RunId> runs(ScheduleView schedule) {
    return database.run(
        session ->
            session
                .query("SELECT run_id FROM kagzi.workflow_runs WHERE schedule_id = ? ORDER BY 1")
                .bind(schedule.id().value())
                .list(row -> row.runId("run_id")));
  }

  @Test
  void a_slot_becomes_a_run_with_all_values_of_the_schedule() {
    ScheduleView schedule =
        create(
            new ScheduleSpec(
                "all",
                "q",
                "report",
                "v2",
                "* * * * *",
                "Europe/Berlin",
                payload("{\"a\":1}"),
                Overlap.ALLOW,
                100,
                0,
                RetryPolicy.DEFAULT,
                60_000L,
                5_000L,
                "cleanup",
                "repairs"));
    ahead(Duration.ofSeconds(60));

    Long nextMs = firer.fireDue(() -> {});

    assertThat(
            stored.text(
                """
                SELECT concat_ws(' ', namespace, external_id, task_queue, workflow_type, version,
                       retry_policy->>'maximum_attempts', origin, status, execution_timeout_ms,
                       step_timeout_ms, on_failure_workflow, on_failure_task_queue,
                       extract(epoch FROM deadline_at - available_at),
                       (SELECT convert_from(data, 'UTF8') FROM kagzi.workflow_payloads p
                         WHERE p.run_id = r.run_id)) AS value
                  FROM kagzi.workflow_runs r WHERE schedule_id IS NOT NULL
                """))
        .isEqualTo(
            "default schedule:"
                + schedule.id()
                + ":"
                + schedule.nextFireAt()
                + " q report v2 3 SCHEDULE PENDING 60000 5000 cleanup repairs 60.000000 {\"a\":1}");
    assertThat(view(schedule).nextFireAt()).isEqualTo(next(schedule).plusSeconds(60));
    assertThat(view(schedule).totalRuns()).isEqualTo(1);
    assertThat(view(schedule).lastFiredAt()).isNotNull();
    assertThat(events.due).containsExactly(new QueueName(NAMESPACE, "q"));
    assertThat(events.expires).containsExactly(60_000L);
    assertThat(nextMs).isBetween(1L, 60_000L);
  }

  @Test
  void a_run_without_a_version_has_the_default_of_its_type() {
    ScheduleView schedule = create(minutely("versions"));
    database.execute(
        "INSERT INTO kagzi.workflow_types VALUES ('default', 'report', 'v7', now()), ('other',"
            + " 'report', 'v8', now())");
    ahead(Duration.ofMinutes(1));

    firer.fireDue(() -> {});
    starts.trigger(NAMESPACE, schedule.id(), null);

    assertThat(
            stored.text(
                "SELECT string_agg(version, ' ') AS value FROM kagzi.workflow_runs WHERE"
                    + " schedule_id IS NOT NULL"))
        .isEqualTo("v7 v7");
    assertThat(view(schedule).spec().version()).isEmpty();
  }

  @Test
  void a_slot_does_not_fire_in_the_second_before() {
    ScheduleView schedule = create(TestSchedules.spec("s", "q", "report", "* * * * * *"));
    clock.at(BEGIN.plusMillis(2_999).plusNanos(700_000));

    firer.fireDue(() -> {});

    assertThat(slots(schedule)).containsExactly(BEGIN.plusSeconds(1), BEGIN.plusSeconds(2));
  }

  @Test
  void missed_slots_fire_oldest_first_up_to_the_limit_and_the_rest_are_counted() {
    ScheduleView schedule = create(with("late", Overlap.ALLOW, 3));
    ahead(Duration.ofMinutes(10));

    firer.fireDue(() -> {});

    assertThat(slots(schedule)).isEqualTo(minutes(next(schedule).plusSeconds(7 * 60), 3));
    assertThat(view(schedule).missedRuns()).isEqualTo(7);
    assertThat(view(schedule).totalRuns()).isEqualTo(3);
  }

  @Test
  void without_catch_up_a_slot_of_hours_ago_is_counted_as_missed() {
    ScheduleView minutely = create(with("none", Overlap.ALLOW, 0));
    ScheduleView hourly =
        create(
            new ScheduleSpec(
                "hourly",
                "q",
                "report",
                "",
                "0 * * * *",
                "UTC",
                payload("1"),
                Overlap.ALLOW,
                0,
                0,
                null,
                null,
                null,
                "",
                ""));
    clock.at(next(hourly).plus(Duration.ofMinutes(150)).plusSeconds(1));

    firer.fireDue(() -> {});

    assertThat(slots(hourly)).isEmpty();
    assertThat(view(hourly).missedRuns()).isEqualTo(3);
    assertThat(slots(minutely)).containsExactly(next(hourly).plus(Duration.ofMinutes(150)));
    assertThat(view(minutely).missedRuns()).isEqualTo(209);
  }

  @Test
  void without_catch_up_a_slot_fires_within_one_coordinator_interval() {
    firer.close();
    firer =
        new ScheduleFirer(
            database.open(), new ScheduleConfig(100, 1_000), Duration.ofMillis(4_500), events);
    ScheduleView schedule = create(with("none", Overlap.ALLOW, 0));
    Instant first = next(schedule);

    clock.at(first.plusSeconds(5));
    firer.fireDue(() -> {});
    List<Instant> withinInterval = slots(schedule);
    clock.at(first.plusSeconds(66));
    firer.fireDue(() -> {});

    assertThat(withinInterval).containsExactly(first);
    assertThat(slots(schedule)).containsExactly(first);
    assertThat(view(schedule).missedRuns()).isEqualTo(1);
  }

  @Test
  void without_catch_up_a_slot_is_not_delayed_by_the_limit_on_missed_ones() {
    firer.close();
    firer = new ScheduleFirer(database.open(), new ScheduleConfig(2, 1), INTERVAL, events);
    ScheduleView late = create(minutely("late"));
    ScheduleView none = create(with("none", Overlap.ALLOW, 0));
    Instant now = next(none).plus(Duration.ofMinutes(30));
    clock.at(now);

    firer.fireDue(() -> {});

    assertThat(slots(late)).hasSize(1);
    assertThat(slots(none)).containsExactly(now);
    assertThat(view(none).missedRuns()).isEqualTo(30);
  }

  /** Starts a run outside of the schedule, with the external id of one of its slots. */
  private void take(ScheduleView schedule, Instant slot) {
    database.execute(
        """
        INSERT INTO kagzi.workflow_runs
               (run_id, namespace, external_id, task_queue, workflow_type, origin, status,
                available_at, created_at)
        VALUES ('%s', 'default', 'schedule:%s:%s', 'q', 'foreign', 'CLIENT', 'PENDING',
                kagzi.clock(), kagzi.clock())
        """
            .formatted(RunId.next(), schedule.id(), slot));
  }

  @Test
  void a_slot_whose_external_id_is_taken_by_another_run_is_counted_and_the_others_fire() {
    ScheduleView schedule = create(minutely("taken"));
    Instant first = next(schedule);
    take(schedule, first.plusSeconds(60));
    clock.at(first.plusSeconds(120));

    ScheduleView fired;
    ScheduleStarts.Backfilled whileTaken;
    List<String> lines;
    try (CapturedLog log = CapturedLog.of(FireRuns.class)) {
      firer.fireDue(() -> {});
      fired = view(schedule);
      whileTaken = starts.backfill(NAMESPACE, schedule.id(), first, first.plusSeconds(120), null);
      lines = log.lines();
    }
    database.execute("DELETE FROM kagzi.workflow_runs WHERE workflow_type = 'foreign'");
    ScheduleStarts.Backfilled free =
        starts.backfill(NAMESPACE, schedule.id(), first, first.plusSeconds(120), null);

    assertThat(fired.totalRuns()).isEqualTo(2);
    assertThat(fired.missedRuns()).isEqualTo(1);
    assertThat(whileTaken).isEqualTo(new ScheduleStarts.Backfilled(0, 1, 1));
    assertThat(free).isEqualTo(new ScheduleStarts.Backfilled(1, 1, 0));
    assertThat(slots(schedule)).hasSize(3);
    assertThat(lines)
        .as("one for the round and one for the back-fill")
        .hasSize(2)
        .containsOnly(
            "WARN a slot made no run: another run that is active has its external id"
                + " schedule=%1$s external_id=schedule:%1$s:%2$s"
                    .formatted(schedule.id(), first.plusSeconds(60)));
  }

  @Test
  void a_slot_that_has_its_run_already_is_not_counted_as_missed() {
    ScheduleView schedule = create(minutely("again"));
    clock.at(next(schedule).plusSeconds(60));
    firer.fireDue(() -> {});
    schedules.update(
        NAMESPACE,
        schedule.id(),
        new ScheduleUpdate(
            null,
            null,
            null,
            null,
            null,
            null,
            null,
            null,
            null,
            null,
            null,
            false,
            null,
            null,
            null,
            null,
            null,
            next(schedule)),
        null);

    firer.fireDue(() -> {});

    assertThat(slots(schedule)).hasSize(2);
    assertThat(view(schedule).missedRuns()).isZero();
    assertThat(view(schedule).totalRuns()).isEqualTo(2);
  }

  @Test
  void a_paused_schedule_does_not_fire_and_catches_up_when_it_is_resumed() {
    ScheduleView schedule = create(minutely("paused"));
    schedules.setEnabled(NAMESPACE, schedule.id(), false, null);
    ahead(Duration.ofMinutes(5));

    Long nextMs = firer.fireDue(() -> {});
    List<Instant> whilePaused = slots(schedule);
    ScheduleView resumed = schedules.setEnabled(NAMESPACE, schedule.id(), true, null);
    firer.fireDue(() -> {});

    assertThat(nextMs).isNull();
    assertThat(whilePaused).isEmpty();
    assertThat(resumed.nextFireAt()).isEqualTo(schedule.nextFireAt());
    assertThat(slots(schedule)).isEqualTo(minutes(next(schedule), 5));
  }

  @Test
  void servers_that_fire_at_once_fire_each_slot_once() throws Exception {
    List<ScheduleView> all = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      all.add(create(minutely("s" + i)));
    }
    ahead(Duration.ofMinutes(50));
    CountDownLatch go = new CountDownLatch(1);
    List<Thread> servers = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      servers.add(
          Thread.ofPlatform()
              .start(
                  () -> {
                    try (ScheduleFirer one =
                        new ScheduleFirer(
                            database.open(),
                            new ScheduleConfig(7, 100_000),
                            INTERVAL,
                            new RecordedEvents())) {
                      go.await();
                      one.fireDue(() -> {});
                    } catch (InterruptedException e) {
                      Thread.currentThread().interrupt();
                    }
                  }));
    }
    go.countDown();
    for (Thread server : servers) {
      assertThat(server.join(Duration.ofSeconds(30))).isTrue();
    }
    firer.fireDue(() -> {});

    for (ScheduleView schedule : all) {
      assertThat(slots(schedule)).isEqualTo(minutes(next(schedule), 50));
      assertThat(view(schedule).totalRuns()).isEqualTo(50);
    }
  }

  @Test
  void late_slots_are_limited_in_each_interval_and_those_on_time_are_not() {
    firer.close();
    firer =
        new ScheduleFirer(database.open(), new ScheduleConfig(2, 5), Duration.ofHours(1), events);
    // As many as a batch takes: they must not fill it.
    ScheduleView late = create(minutely("late"));
    ScheduleView later = create(minutely("later"));
    database.execute(
        "UPDATE kagzi.workflow_runs SET fire_at = fire_at - interval '1 hour',"
            + " available_at = available_at - interval '1 hour' WHERE cron_expr IS NOT NULL");
    List<ScheduleView> onTime = new ArrayList<>();
    for (int i = 0; i < 9; i++) {
      onTime.add(create(minutely("on-time-" + i)));
    }
    Instant first = next(onTime.getFirst());
    ahead(Duration.between(BEGIN, first).plusMillis(200));

    Long nextMs = firer.fireDue(() -> {});

    assertThat(slots(late).size() + slots(later).size()).isEqualTo(5);
    assertThat(onTime).allSatisfy(schedule -> assertThat(slots(schedule)).containsExactly(first));
    assertThat(nextMs).isEqualTo(Duration.ofHours(1).toMillis());
  }

  @Test
  void slots_on_time_when_firing_begins_stay_on_time_however_long_it_takes() {
    firer.close();
    firer =
        new ScheduleFirer(database.open(), new ScheduleConfig(2, 1), Duration.ofHours(1), events);
    List<ScheduleView> all = new ArrayList<>();
    for (int i = 0; i < 9; i++) {
      all.add(create(minutely("s" + i)));
    }
    Instant slot = next(all.getFirst());
    clock.at(slot);
    events.then = () -> clock.at(slot.plusSeconds(events.due.size() * 4L));

    firer.fireDue(() -> {});

    assertThat(all).allSatisfy(schedule -> assertThat(slots(schedule)).containsExactly(slot));
  }

  @Test
  void slots_that_become_due_while_others_fire_are_not_missed() {
    firer.close();
    firer =
        new ScheduleFirer(database.open(), new ScheduleConfig(1, 1), Duration.ofHours(1), events);
    ScheduleView minutely = create(minutely("minutely"));
    ScheduleView seconds = create(secondly("seconds"));
    Instant slot = next(minutely);
    // The newest fires first.
    database.execute(
        "UPDATE kagzi.workflow_runs SET fire_at = timestamptz '"
            + slot.minusSeconds(1)
            + "', available_at = timestamptz '"
            + slot.minusSeconds(1)
            + "' WHERE schedule_name = 'seconds'");
    clock.at(slot);
    events.then = () -> clock.at(slot.plusSeconds(5));

    firer.fireDue(() -> {});

    assertThat(slots(minutely)).containsExactly(slot);
    assertThat(slots(seconds)).hasSize(7).startsWith(slot.minusSeconds(1));
    assertThat(view(seconds).missedRuns()).isZero();
  }

  @Test
  void slots_are_late_after_a_pause() {
    firer.close();
    firer =
        new ScheduleFirer(database.open(), new ScheduleConfig(2, 1), Duration.ofHours(1), events);
    for (int i = 0; i < 9; i++) {
      create(minutely("s" + i));
    }
    Instant slot = next(schedules.byName(NAMESPACE, "s0"));
    clock.at(slot);
    events.then = () -> clock.at(slot.plusSeconds(30));

    firer.fireDue(() -> {});

    assertThat(events.due).hasSize(2);
    assertThat(stored.count("SELECT sum(total_runs) AS value FROM kagzi.workflow_runs"))
        .isEqualTo(3);
  }

  private List<ScheduleView> withoutCatchUp(int count) {
    List<ScheduleView> all = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      all.add(create(with("none" + i, Overlap.ALLOW, 0)));
    }
    return all;
  }

  @Test
  void slots_that_a_failed_round_left_are_not_missed() {
    firer.close();
    firer = new ScheduleFirer(database.open(), new ScheduleConfig(2, 1_000), INTERVAL, events);
    List<ScheduleView> all = withoutCatchUp(9);
    Instant slot = next(all.getFirst());
    database.execute(
        "CREATE FUNCTION kagzi.fails() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE"
            + " EXCEPTION 'deadlock' USING ERRCODE = '40P01'; END $$");
    clock.at(slot);
    events.then =
        () -> {
          clock.at(slot.plusSeconds(3));
          database.execute(
              "CREATE TRIGGER fails BEFORE INSERT ON kagzi.workflow_runs FOR EACH ROW EXECUTE"
                  + " FUNCTION kagzi.fails()");
          events.then = () -> {};
        };
    try {
      assertThatThrownBy(() -> firer.fireDue(() -> {})).isInstanceOf(Refusal.class);
    } finally {
      database.execute("DROP FUNCTION kagzi.fails() CASCADE");
    }
    clock.at(slot.plusSeconds(4));

    firer.fireDue(() -> {});

    assertThat(all).allSatisfy(schedule -> assertThat(slots(schedule)).containsExactly(slot));
    assertThat(all).allSatisfy(schedule -> assertThat(view(schedule).missedRuns()).isZero());
  }

  @Test
  void slots_that_another_server_had_locked_when_it_died_are_not_missed() throws SQLException {
    ScheduleView schedule = create(with("none", Overlap.ALLOW, 0));
    Instant slot = next(schedule);
    List<Long> waitMs = new ArrayList<>();
    try (Session other = database.open().open("test")) {
      other.inTransaction(
          tx -> {
            tx.query("SELECT run_id FROM kagzi.workflow_runs FOR UPDATE").list(row -> row);
            for (int late = 0; late <= 12; late += 3) {
              clock.at(slot.plusSeconds(late));
              waitMs.add(firer.fireDue(() -> {}));
            }
            return true;
          });
    }
    clock.at(slot.plusSeconds(13));

    firer.fireDue(() -> {});

    assertThat(waitMs).hasSize(5).containsOnly(50L);
    assertThat(slots(schedule)).containsExactly(slot);
    assertThat(view(schedule).missedRuns()).isZero();
  }

  /** Also while late slots wait for the catch-up budget: they must not keep the window open. */
  @Test
  void slots_are_missed_between_two_rounds_of_which_the_first_left_none_on_time() {
    firer.close();
    firer = new ScheduleFirer(database.open(), new ScheduleConfig(100, 1), INTERVAL, events);
    ScheduleView late = create(minutely("late"));
    database.execute(
        "UPDATE kagzi.workflow_runs SET fire_at = fire_at - interval '1 hour',"
            + " available_at = available_at - interval '1 hour' WHERE cron_expr IS NOT NULL");
    ScheduleView none = create(secondly("none"));
    Instant slot = next(none);
    clock.at(slot);

    firer.fireDue(() -> {});
    clock.at(slot.plusSeconds(7));
    firer.fireDue(() -> {});

    assertThat(slots(late)).hasSizeLessThan(10);
    assertThat(slots(none))
        .containsExactly(slot, slot.plusSeconds(5), slot.plusSeconds(6), slot.plusSeconds(7));
    assertThat(view(none).missedRuns()).isEqualTo(4);
  }

  private static ScheduleSpec secondly(String name) {
    return new ScheduleSpec(
        name,
        "q",
        "report",
        "",
        "* * * * * *",
        "UTC",
        payload("1"),
        Overlap.ALLOW,
        0,
        0,
        null,
        null,
        null,
        "",
        "");
  }

  @Test
  void large_inputs_are_copied_by_several_transactions() {
    Payload large = new Payload(new byte[(2 << 20) - 100], Map.of());
    ScheduleView schedule = create(with("large", Overlap.ALLOW, 100, large));
    create(minutely("small"));
    ahead(Duration.ofMinutes(6));

    firer.fireDue(() -> {});
    ScheduleStarts.Backfilled filled =
        starts.backfill(NAMESPACE, schedule.id(), BEGIN.minus(Duration.ofMinutes(6)), BEGIN, null);

    assertThat(slots(schedule)).hasSize(12);
    assertThat(filled.started()).isEqualTo(6);
    assertThat(
            stored.count(
                "SELECT max(n) AS value FROM (SELECT count(*) AS n FROM kagzi.workflow_payloads"
                    + " GROUP BY xmin) x"))
        .isEqualTo(4);
  }

  @Test
  void no_batch_begins_after_stop() {
    firer.close();
    firer = new ScheduleFirer(database.open(), new ScheduleConfig(2, 1_000), INTERVAL, events);
    for (int i = 0; i < 9; i++) {
      create(minutely("s" + i));
    }
    ahead(Duration.ofMinutes(1));
    events.then = firer::stop;

    firer.fireDue(() -> {});
    firer.helper().help();

    assertThat(stored.count("SELECT sum(total_runs) AS value FROM kagzi.workflow_runs"))
        .isEqualTo(2);
  }

  @Test
  void a_schedule_with_an_unknown_policy_does_not_delay_others() {
    create(minutely("newer"));
    ScheduleView good = create(minutely("good"));
    database.execute(
        "UPDATE kagzi.workflow_runs SET overlap_policy = 'BUFFER_ALL' WHERE schedule_name ="
            + " 'newer'");
    ahead(Duration.ofMinutes(1));

    firer.fireDue(() -> {});

    assertThat(slots(good)).hasSize(1);
    assertThat(
            stored.text(
                "SELECT error->>'message' AS value FROM kagzi.workflow_runs WHERE schedule_name ="
                    + " 'newer'"))
        .isEqualTo("overlap_policy: BUFFER_ALL (expected: [ALLOW, SKIP, BUFFER_ONE])");
  }

  @Test
  void an_unreadable_schedule_does_not_delay_others() {
    ScheduleView broken = create(minutely("broken"));
    ScheduleView elsewhere = create(minutely("elsewhere"));
    ScheduleView good = create(minutely("good"));
    database.execute(
        "UPDATE kagzi.workflow_runs SET cron_expr = 'soon' WHERE schedule_name = 'broken'");
    database.execute(
        "UPDATE kagzi.workflow_runs SET time_zone = 'Mars' WHERE schedule_name = 'elsewhere'");
    ahead(Duration.ofMinutes(1));

    Long nextMs = firer.fireDue(() -> {});

    assertThat(slots(good)).hasSize(1);
    assertThat(view(broken).problem()).startsWith("cron_expr: \"soon\" has 1 fields");
    assertThat(view(elsewhere).problem()).startsWith("time_zone: Mars");
    assertThat(view(broken).nextFireAt()).isEqualTo(broken.nextFireAt());
    assertThat(nextMs).isPositive();
  }

  @Test
  void a_schedule_that_the_database_refuses_does_not_delay_others() {
    List<ScheduleView> good = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      good.add(create(minutely("good" + i)));
    }
    ScheduleView refused = create(minutely("refused"));
    // A run's queue is in an index with a size limit; a template's is not.
    database.execute(
        "UPDATE kagzi.workflow_runs SET task_queue = (SELECT string_agg(md5(n::text), '') FROM"
            + " generate_series(1, 500) n) WHERE schedule_name = 'refused'");
    ahead(Duration.ofMinutes(1));

    firer.fireDue(() -> {});

    assertThat(good).allSatisfy(schedule -> assertThat(slots(schedule)).hasSize(1));
    assertThat(slots(refused)).isEmpty();
    assertThat(view(refused).problem()).isNotEmpty();
  }

  @Test
  void nothing_fires_in_a_disabled_namespace_until_it_is_enabled() {
    namespaces.create("shut", "", "", null, null);
    ScheduleView schedule = schedules.create(TestSchedules.creation("shut", minutely("nightly")));
    namespaces.setEnabled("shut", false, null);
    ahead(Duration.ofMinutes(2));

    Long nextMs = firer.fireDue(() -> {});
    List<Instant> whileShut = slots(schedule);
    namespaces.setEnabled("shut", true, null);
    firer.fireDue(() -> {});

    assertThat(nextMs).isNull();
    assertThat(whileShut).isEmpty();
    assertThat(slots(schedule)).hasSize(2);
  }

  @Test
  void skip_fires_when_no_run_is_open_and_counts_skipped_slots() {
    ScheduleView schedule = create(with("skip", Overlap.SKIP, 100));
    ahead(Duration.ofMinutes(3));
    firer.fireDue(() -> {});
    ahead(Duration.ofMinutes(5));
    firer.fireDue(() -> {});

    assertThat(slots(schedule)).containsExactly(next(schedule));
    assertThat(view(schedule).missedRuns()).isEqualTo(4);

    database.execute(
        "UPDATE kagzi.workflow_runs SET status = 'COMPLETED', available_at = NULL, finished_at ="
            + " now() WHERE schedule_id IS NOT NULL");
    ahead(Duration.ofMinutes(6));
    firer.fireDue(() -> {});

    assertThat(slots(schedule)).hasSize(2);
  }

  @Test
  void a_triggered_run_has_no_slot_and_counts_for_overlap() {
    ScheduleView schedule = create(with("skip", Overlap.SKIP, 100));

    RunId chosen = RunId.next(schedule.id().shard());
    RunId run = starts.trigger(NAMESPACE, schedule.id(), chosen);
    starts.trigger(NAMESPACE, schedule.id(), chosen);
    ahead(Duration.ofMinutes(1));
    firer.fireDue(() -> {});

    assertThat(run).isEqualTo(chosen);
    assertThat(
            stored.text(
                "SELECT concat(external_id, ' ', fire_at, ' ', status) AS value FROM"
                    + " kagzi.workflow_runs WHERE schedule_id IS NOT NULL"))
        .isEqualTo("schedule:" + schedule.id() + ":trigger:" + run + "  PENDING");
    assertThat(view(schedule).totalRuns()).isEqualTo(1);
    assertThat(view(schedule).missedRuns()).isEqualTo(1);
    assertThat(events.due).hasSize(1);
  }

  @Test
  void a_back_fill_creates_the_missing_runs() {
    ScheduleView schedule = create(minutely("again"));
    ahead(Duration.ofMinutes(3));
    firer.fireDue(() -> {});
    Instant from = next(schedule).minusSeconds(600);
    Instant before = next(schedule).plusSeconds(120);

    ScheduleStarts.Backfilled first = starts.backfill(NAMESPACE, schedule.id(), from, before, null);
    ScheduleStarts.Backfilled second =
        starts.backfill(NAMESPACE, schedule.id(), from, before, null);

    assertThat(first).isEqualTo(new ScheduleStarts.Backfilled(10, 2, 0));
    assertThat(second).isEqualTo(new ScheduleStarts.Backfilled(0, 12, 0));
    assertThat(slots(schedule)).hasSize(13).doesNotHaveDuplicates();
    assertThat(view(schedule).totalRuns()).isEqualTo(13);
    assertThatThrownBy(
            () ->
                starts.backfill(
                    NAMESPACE, schedule.id(), from, next(schedule).plusSeconds(86_400), null))
        .hasMessageContaining("a time that is over");
    assertThatThrownBy(() -> starts.backfill(NAMESPACE, schedule.id(), Instant.EPOCH, before, null))
        .hasMessageContaining("at most 10000 in one call");
  }

  @Test
  void a_repeated_back_fill_gets_its_first_answer_even_if_the_schedule_changed() {
    ScheduleView schedule = create(TestSchedules.spec("hourly", "q", "report", "0 * * * *"));
    Instant from = BEGIN.minus(Duration.ofDays(1));
    UUID day = UUID.randomUUID();
    UUID moment = UUID.randomUUID();

    ScheduleStarts.Backfilled first = starts.backfill(NAMESPACE, schedule.id(), from, BEGIN, day);
    starts.backfill(NAMESPACE, schedule.id(), BEGIN.minusSeconds(5), BEGIN, moment);
    schedules.update(NAMESPACE, schedule.id(), cron("0 0 * * *"), null);
    ScheduleStarts.Backfilled fewer = starts.backfill(NAMESPACE, schedule.id(), from, BEGIN, day);
    schedules.update(NAMESPACE, schedule.id(), cron("* * * * * *"), null);
    ScheduleStarts.Backfilled none =
        starts.backfill(NAMESPACE, schedule.id(), BEGIN.minusSeconds(5), BEGIN, moment);
    schedules.update(NAMESPACE, schedule.id(), cron("*/30 * * * *"), null);
    ScheduleStarts.Backfilled more = starts.backfill(NAMESPACE, schedule.id(), from, BEGIN, day);
    schedules.delete(NAMESPACE, schedule.id(), null);
    ScheduleStarts.Backfilled deleted = starts.backfill(NAMESPACE, schedule.id(), from, BEGIN, day);

    assertThat(first).isEqualTo(new ScheduleStarts.Backfilled(24, 0, 0));
    assertThat(List.of(fewer, more, deleted)).containsOnly(first);
    assertThat(none).isEqualTo(new ScheduleStarts.Backfilled(0, 0, 0));
    assertThat(slots(schedule)).hasSize(24);
    assertThatThrownBy(
            () -> starts.backfill(NAMESPACE, schedule.id(), from, BEGIN.minusSeconds(1), day))
        .hasMessageContaining("not found");
  }

  /** The first server dies between two batches, and the schedule is changed before the retry. */
  @Test
  void an_interrupted_back_fill_counts_each_slot_once_when_it_is_repeated() {
    Payload large = new Payload(new byte[(2 << 20) - 100], Map.of());
    ScheduleView schedule = create(with("large", Overlap.ALLOW, 100, large));
    Instant from = BEGIN.minus(Duration.ofMinutes(12));
    UUID request = UUID.randomUUID();
    events.then =
        () -> {
          throw new IllegalStateException("cut off");
        };
    assertThatThrownBy(() -> starts.backfill(NAMESPACE, schedule.id(), from, BEGIN, request))
        .hasMessage("cut off");
    int before = slots(schedule).size();
    events.then = () -> {};
    schedules.create(
        new Schedules.Creation(
            NAMESPACE, with("large", Overlap.ALLOW, 100, payload("1")), null, null, true, null));

    ScheduleStarts.Backfilled repeated =
        starts.backfill(NAMESPACE, schedule.id(), from, BEGIN, request);

    assertThat(before).isBetween(1, 11);
    assertThat(repeated).isEqualTo(new ScheduleStarts.Backfilled(12, 0, 0));
    assertThat(slots(schedule)).hasSize(12);
  }

  @Test
  void jitter_delays_all_runs_of_a_schedule_by_the_same_time() {
    List<Long> delays = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      create(
          new ScheduleSpec(
              "j" + i,
              "q",
              "report",
              "",
              "* * * * *",
              "UTC",
              payload("1"),
              Overlap.ALLOW,
              100,
              600_000,
              null,
              null,
              null,
              "",
              ""));
    }
    ahead(Duration.ofMinutes(2));
    firer.fireDue(() -> {});

    database.run(
        session ->
            session
                .query(
                    "SELECT min(d) AS low, max(d) AS high, count(*) AS runs FROM (SELECT schedule_id,"
                        + " round(extract(epoch FROM available_at - fire_at))::bigint AS d FROM"
                        + " kagzi.workflow_runs WHERE schedule_id IS NOT NULL) x GROUP BY"
                        + " schedule_id HAVING max(d) > 125")
                .list(
                    row -> {
                      assertThat(row.bigint("runs")).isEqualTo(2);
                      assertThat(row.bigint("high") - row.bigint("low")).isLessThanOrEqualTo(1);
                      return delays.add(row.bigint("high"));
                    }));

    assertThat(delays).hasSizeGreaterThan(5).allMatch(delay -> delay <= 600);
    assertThat(delays.stream().distinct().count()).isGreaterThan(5);
  }

  @Test
  void a_name_is_unique_and_create_or_update_updates_it() {
    ScheduleView first = create(minutely("daily"));

    assertThat(create(minutely("daily"))).isEqualTo(first);
    assertThatThrownBy(() -> create(with("daily", Overlap.SKIP, 7)))
        .hasMessageContaining("daily is taken");
    schedules.setEnabled(NAMESPACE, first.id(), false, null);
    ScheduleView same =
        schedules.create(
            new Schedules.Creation(
                NAMESPACE, with("daily", Overlap.SKIP, 7), null, null, true, null));
    ScheduleView other =
        schedules.create(
            new Schedules.Creation(
                NAMESPACE,
                TestSchedules.spec("daily", "q2", "report2", "0 9 * * *"),
                null,
                true,
                true,
                null));

    assertThat(same.id()).isEqualTo(first.id());
    assertThat(same.enabled()).isFalse();
    assertThat(same.nextFireAt()).isEqualTo(first.nextFireAt());
    assertThat(same.spec()).isEqualTo(with("daily", Overlap.SKIP, 7));
    assertThat(other.id()).isEqualTo(first.id());
    assertThat(other.enabled()).isTrue();
    assertThat(other.spec()).isEqualTo(TestSchedules.spec("daily", "q2", "report2", "0 9 * * *"));
    assertThat(other.nextFireAt()).isNotEqualTo(first.nextFireAt());
    assertThat(
            schedules.create(
                new Schedules.Creation("default", minutely(""), null, null, false, null)))
        .isNotNull();
    create(minutely(""));
  }

  @Test
  void create_or_update_with_an_existing_id_is_an_update() {
    RunId id = RunId.next(Shard.of(NAMESPACE, "mine"));
    schedules.create(new Schedules.Creation(NAMESPACE, minutely("mine"), id, null, true, null));

    ScheduleView changed =
        schedules.create(
            new Schedules.Creation(NAMESPACE, with("mine", Overlap.SKIP, 7), id, null, true, null));

    assertThat(changed.spec()).isEqualTo(with("mine", Overlap.SKIP, 7));
    assertThat(changed.id()).isEqualTo(id);
  }

  @Test
  void a_slot_that_is_due_is_not_lost_by_a_change_of_the_expression() {
    ScheduleView schedule = create(minutely("due"));
    ScheduleView old = create(minutely("old"));
    Instant slot = next(schedule);
    clock.at(slot.plusMillis(200));

    ScheduleView changed = schedules.update(NAMESPACE, schedule.id(), cron("0-59 * * * *"), null);
    clock.at(slot.plusSeconds(50));
    ScheduleView later = schedules.update(NAMESPACE, old.id(), cron("0-59 * * * *"), null);

    assertThat(changed.nextFireAt()).isEqualTo(slot);
    assertThat(later.nextFireAt()).isEqualTo(slot.plusSeconds(60));
    firer.fireDue(() -> {});
    assertThat(schedules.update(NAMESPACE, schedule.id(), cron("* * * * *"), null).nextFireAt())
        .isEqualTo(slot.plusSeconds(60));
  }

  private static ScheduleUpdate cron(String expression) {
    return new ScheduleUpdate(
        null,
        null,
        null,
        null,
        expression,
        null,
        null,
        null,
        null,
        null,
        null,
        false,
        null,
        null,
        null,
        null,
        null,
        null);
  }

  @Test
  void an_unchanged_input_is_not_written_again() {
    ScheduleView schedule = create(with("input", Overlap.ALLOW, 7));
    String written = inputVersion();

    schedules.setEnabled(NAMESPACE, schedule.id(), false, null);
    schedules.create(
        new Schedules.Creation(NAMESPACE, with("input", Overlap.SKIP, 9), null, null, true, null));
    String same = inputVersion();
    schedules.create(
        new Schedules.Creation(
            NAMESPACE, with("input", Overlap.SKIP, 9, payload("2")), null, null, true, null));

    assertThat(same).isEqualTo(written);
    assertThat(view(schedule).spec().input()).isEqualTo(payload("2"));
  }

  private String inputVersion() {
    return stored.text("SELECT ctid::text AS value FROM kagzi.workflow_payloads");
  }

  @Test
  void a_deleted_schedule_leaves_its_runs_as_they_are() {
    ScheduleView schedule = create(minutely("gone"));
    ahead(Duration.ofMinutes(2));
    firer.fireDue(() -> {});

    boolean deleted = schedules.delete(NAMESPACE, schedule.id(), null);
    boolean again = schedules.delete(NAMESPACE, schedule.id(), null);
    ahead(Duration.ofMinutes(4));
    firer.fireDue(() -> {});

    assertThat(List.of(deleted, again)).containsExactly(true, false);
    assertThat(slots(schedule)).hasSize(2);
    assertThat(stored.count("SELECT count(*) AS value FROM kagzi.workflow_payloads")).isZero();
    assertThatThrownBy(() -> view(schedule)).hasMessageContaining("schedule not found");
  }

  @Test
  void runs_and_schedules_of_other_namespaces_are_not_found() {
    ScheduleView schedule = create(minutely("mine"));
    RunId run = starts.trigger(NAMESPACE, schedule.id(), null);

    for (RunId wrong : List.of(run, RunId.next())) {
      assertThatThrownBy(() -> schedules.setEnabled(NAMESPACE, wrong, false, null))
          .hasMessageContaining("not found");
      assertThatThrownBy(() -> starts.trigger(NAMESPACE, wrong, null))
          .hasMessageContaining("not found");
      assertThat(schedules.delete(NAMESPACE, wrong, null)).isFalse();
    }
    namespaces.create("other", "", "", null, null);
    assertThatThrownBy(() -> schedules.get("other", schedule.id()))
        .hasMessageContaining("not found");
    assertThatThrownBy(() -> schedules.setEnabled("other", schedule.id(), false, null))
        .hasMessageContaining("not found");
    assertThat(schedules.delete("other", schedule.id(), null)).isFalse();
    assertThat(stored.count("SELECT count(*) AS value FROM kagzi.workflow_runs")).isEqualTo(2);
  }

  @Test
  void an_expression_that_never_fires_again_is_refused() {
    assertThatThrownBy(() -> create(TestSchedules.spec("n", "q", "t", "0 0 30 2 *")))
        .hasMessageContaining("never fires again");
    assertThatThrownBy(() -> schedules.preview("0 0 0 1 1 * 2020", "UTC", 3, null))
        .hasMessageContaining("never fires again");
    assertThat(schedules.preview("0 0 0 1 1 * 2030", "UTC", 3, null))
        .containsExactly(Instant.parse("2030-01-01T00:00:00Z"));
    assertThat(schedules.preview("@daily", "UTC", 0, Instant.parse("2026-01-01T00:00:00Z")))
        .hasSize(5)
        .startsWith(Instant.parse("2026-01-02T00:00:00Z"));
  }

  @Test
  void a_schedule_after_its_last_slot_is_never_due() {
    Instant soon = BEGIN.plus(Duration.ofDays(400));
    int year = Integer.parseInt(soon.toString().substring(0, 4));
    ScheduleView schedule = create(TestSchedules.spec("once", "q", "t", "0 0 0 1 1 * " + year));
    ahead(Duration.ofDays(800));

    firer.fireDue(() -> {});
    Long nextMs = firer.fireDue(() -> {});

    assertThat(slots(schedule)).hasSize(1);
    assertThat(view(schedule).nextFireAt()).isNull();
    assertThat(view(schedule).enabled()).isTrue();
    assertThat(nextMs).isNull();
  }

  @Test
  void an_update_changes_only_the_fields_that_it_sets() {
    ScheduleView schedule = create(with("daily", Overlap.ALLOW, 7));
    Instant wanted = Instant.parse("2030-05-05T05:05:05Z");
    Instant asked = Instant.parse("2030-05-05T05:05:04.1Z");

    ScheduleView moved =
        schedules.update(
            NAMESPACE,
            schedule.id(),
            new ScheduleUpdate(
                null, null, null, null, null, null, null, null, null, null, null, false, null, null,
                null, null, null, asked),
            null);
    ScheduleView changed =
        schedules.update(
            NAMESPACE,
            schedule.id(),
            new ScheduleUpdate(
                "weekly",
                "q9",
                "t9",
                "v9",
                "0 9 * * 1",
                "Asia/Tokyo",
                payload("9"),
                Overlap.SKIP,
                9,
                9_000L,
                RetryPolicy.DEFAULT,
                false,
                99L,
                999L,
                "h",
                "hq",
                false,
                null),
            null);

    assertThat(moved.spec()).isEqualTo(schedule.spec());
    assertThat(moved.nextFireAt()).isEqualTo(wanted);
    assertThat(changed.spec())
        .isEqualTo(
            new ScheduleSpec(
                "weekly",
                "q9",
                "t9",
                "v9",
                "0 9 * * 1",
                "Asia/Tokyo",
                payload("9"),
                Overlap.SKIP,
                9,
                9_000L,
                RetryPolicy.DEFAULT,
                99L,
                999L,
                "h",
                "hq"));
    assertThat(changed.enabled()).isFalse();
    assertThat(changed.nextFireAt()).isBefore(wanted);
    ScheduleView alone =
        schedules.update(
            NAMESPACE,
            schedule.id(),
            new ScheduleUpdate(
                null, null, null, null, null, null, null, null, null, null, null, false, null, null,
                "", null, null, null),
            null);
    assertThat(alone.spec().onFailureWorkflow()).isEmpty();
    assertThat(alone.spec().onFailureTaskQueue()).isEmpty();
  }

  @Test
  void lists_are_paged_and_filtered() {
    for (int i = 0; i < 5; i++) {
      // The test clock stands still: move it, so that creation times differ.
      ahead(Duration.ofMillis(i));
      create(TestSchedules.spec("s" + i, i % 2 == 0 ? "even" : "odd", "t" + i, "@daily"));
    }
    schedules.setEnabled(NAMESPACE, schedules.byName(NAMESPACE, "s2").id(), false, null);

    Page<ScheduleView> first =
        schedules.list(NAMESPACE, null, null, null, new PageSpec(3, "", true, false));
    Page<ScheduleView> second =
        schedules.list(
            NAMESPACE, null, null, null, new PageSpec(3, first.nextToken(), false, false));
    Page<ScheduleView> back =
        schedules.list(
            NAMESPACE, null, null, null, new PageSpec(3, second.prevToken(), false, false));

    assertThat(names(first)).containsExactly("s4", "s3", "s2");
    assertThat(first.totalCount()).isEqualTo(5);
    assertThat(names(second)).containsExactly("s1", "s0");
    assertThat(second.hasMore()).isFalse();
    assertThat(names(back)).isEqualTo(names(first));
    assertThat(names(schedules.list(NAMESPACE, "odd", null, null, PageSpec.FIRST)))
        .containsExactly("s3", "s1");
    assertThat(names(schedules.list(NAMESPACE, null, "t2", null, PageSpec.FIRST)))
        .containsExactly("s2");
    assertThat(names(schedules.list(NAMESPACE, null, null, false, PageSpec.FIRST)))
        .containsExactly("s2");
    assertThat(names(schedules.list(NAMESPACE, null, null, true, PageSpec.FIRST))).hasSize(4);
  }

  private static List<String> names(Page<ScheduleView> page) {
    return page.items().stream().map(view -> view.spec().name()).toList();
  }

  @Test
  void ten_thousand_idle_schedules_do_not_slow_a_round() {
    create(minutely("due"));
    database.execute(
        """
        INSERT INTO kagzi.workflow_runs
               (run_id, namespace, schedule_name, task_queue, workflow_type, status, cron_expr,
                time_zone, overlap_policy, max_catchup, jitter_ms, fire_at, available_at, total_runs,
                missed_runs, created_at, updated_at)
        SELECT gen_random_uuid(), 'default', 'idle' || n, 'q', 'report', 'SCHEDULED', '0 0 1 1 *',
               'UTC', 'ALLOW', 100, 0, '2190-01-01', '2190-01-01', 0, 0, now(), now()
          FROM generate_series(1, 10000) n
        """);
    ahead(Duration.ofMinutes(1));
    firer.fireDue(() -> {});

    String plan =
        database.run(
            session ->
                String.join(
                    "\n",
                    session
                        .query("EXPLAIN " + ScheduleTemplates.LOCK_DUE_SQL)
                        .bind(100)
                        .list(row -> row.text("QUERY PLAN"))));

    assertThat(plan).contains("workflow_runs_schedules_due");
    long begun = System.nanoTime();
    for (int i = 0; i < 20; i++) {
      firer.fireDue(() -> {});
    }
    assertThat(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begun)).isLessThan(1_000);
  }
}
