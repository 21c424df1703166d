package dev.kagzi.engine.internal.schedule;

import static dev.kagzi.engine.TestEngine.NAMESPACE;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.engine.CapturedLog;
import dev.kagzi.engine.schedule.ScheduleStarts;
import dev.kagzi.engine.schedule.ScheduleUpdate;
import dev.kagzi.engine.schedule.ScheduleView;
import dev.kagzi.engine.value.RunId;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A schedule or a slot that cannot fire does not prevent others from firing. */
class BadScheduleTest extends FirerFixture {
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
}
