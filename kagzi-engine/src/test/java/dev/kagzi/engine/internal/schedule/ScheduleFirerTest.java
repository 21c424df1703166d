package dev.kagzi.engine.internal.schedule;

import static dev.kagzi.engine.TestEngine.NAMESPACE;
import static dev.kagzi.engine.TestEngine.payload;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.engine.TestSchedules;
import dev.kagzi.engine.config.ScheduleConfig;
import dev.kagzi.engine.retry.RetryPolicy;
import dev.kagzi.engine.schedule.Overlap;
import dev.kagzi.engine.schedule.ScheduleSpec;
import dev.kagzi.engine.schedule.ScheduleStarts;
import dev.kagzi.engine.schedule.ScheduleView;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.QueueName;
import dev.kagzi.engine.value.RunId;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Slots become runs. */
class ScheduleFirerTest extends FirerFixture {
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
