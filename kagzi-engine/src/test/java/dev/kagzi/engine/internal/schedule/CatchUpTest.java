package dev.kagzi.engine.internal.schedule;

import static dev.kagzi.engine.TestEngine.NAMESPACE;
import static dev.kagzi.engine.TestEngine.payload;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kagzi.engine.config.ScheduleConfig;
import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.schedule.Overlap;
import dev.kagzi.engine.schedule.ScheduleSpec;
import dev.kagzi.engine.schedule.ScheduleView;
import dev.kagzi.engine.value.Refusal;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Which slots are on time, which late, and which missed. */
class CatchUpTest extends FirerFixture {
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

  @Test
  void late_slots_are_limited_in_each_interval_and_those_on_time_are_not() {
    firer.close();
    firer =
        new ScheduleFirer(database.open(), new ScheduleConfig(2, 5), Duration.ofHours(1), events);
    // Two late schedules, as many as a batch takes. They must not keep the others out of the
    // batches.
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
    // The schedule with the newest due slot fires first, so "minutely" fires before "seconds".
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

  /**
   * This also holds while late slots wait for the catch-up budget: they must not keep the on-time
   * window of the first round open.
   */
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
}
