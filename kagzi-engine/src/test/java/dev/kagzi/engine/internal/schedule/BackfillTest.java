package dev.kagzi.engine.internal.schedule;

import static dev.kagzi.engine.TestEngine.NAMESPACE;
import static dev.kagzi.engine.TestEngine.payload;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kagzi.engine.TestSchedules;
import dev.kagzi.engine.schedule.Overlap;
import dev.kagzi.engine.schedule.ScheduleStarts;
import dev.kagzi.engine.schedule.ScheduleView;
import dev.kagzi.engine.schedule.Schedules;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.RunId;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Runs for slots of the past, on request. */
class BackfillTest extends FirerFixture {
  /**
   * A repeated call creates the same run ids, even if the first runs were lost. A new call creates
   * new run ids, so the idempotency keys of the steps are new too.
   */
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
}
