package dev.kagzi.engine.internal.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.engine.schedule.Overlap;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Decisions on due slots. */
class FirePlanTest {
  private static final FireTimes EVERY_MINUTE = FireTimes.of("* * * * *", "UTC");
  private static final FireTimes EVERY_SECOND = FireTimes.of("* * * * * *", "UTC");
  private static final long NOW = 6_030;

  private static FirePlan plan(Overlap overlap, int maxCatchup, boolean open, long buffered) {
    // Eleven slots are due: 5400, 5460, … 6000.
    return FirePlan.of(
        new FirePlan.Due(EVERY_MINUTE, overlap, maxCatchup, 5_400, buffered, open),
        NOW,
        NOW - 2,
        1_000);
  }

  @Test
  void missed_slots_within_the_catch_up_limit_fire_oldest_first() {
    FirePlan plan = plan(Overlap.ALLOW, 11, true, FireTimes.NONE);

    assertThat(plan.slots()).hasSize(11).isSorted().startsWith(5_400L).endsWith(6_000L);
    assertThat(plan.missed()).isZero();
    assertThat(plan.next()).isEqualTo(6_060);
  }

  @Test
  void beyond_the_catch_up_limit_the_newest_fire_and_the_others_are_counted() {
    FirePlan plan = plan(Overlap.ALLOW, 3, false, FireTimes.NONE);

    assertThat(plan.slots()).containsExactly(5_880L, 5_940L, 6_000L);
    assertThat(plan.missed()).isEqualTo(8);
  }

  @Test
  void without_catch_up_only_the_slot_that_is_due_now_fires() {
    for (Overlap overlap : Overlap.values()) {
      FirePlan plan =
          FirePlan.of(
              new FirePlan.Due(EVERY_MINUTE, overlap, 0, 5_400, FireTimes.NONE, false),
              6_001,
              5_999,
              1_000);

      assertThat(plan.slots()).as(overlap.name()).containsExactly(6_000L);
      assertThat(plan.missed()).isEqualTo(10);
      assertThat(plan.buffered()).isEqualTo(FireTimes.NONE);
      assertThat(plan.next()).isEqualTo(6_060);
    }
  }

  @Test
  void without_catch_up_slots_that_were_missed_are_counted_and_none_fires() {
    for (Overlap overlap : Overlap.values()) {
      FirePlan plan = plan(overlap, 0, false, FireTimes.NONE);

      assertThat(plan.slots()).as(overlap.name()).isEmpty();
      assertThat(plan.missed()).isEqualTo(11);
      assertThat(plan.buffered()).isEqualTo(FireTimes.NONE);
      assertThat(plan.next()).isEqualTo(6_060);
    }
  }

  @Test
  void without_catch_up_a_buffered_slot_is_not_missed() {
    FirePlan plan = plan(Overlap.BUFFER_ONE, 0, false, 5_340);

    assertThat(plan.slots()).containsExactly(5_340L);
    assertThat(plan.missed()).isEqualTo(11);
    assertThat(plan.buffered()).isEqualTo(FireTimes.NONE);
  }

  @Test
  void slots_that_are_on_time_are_not_limited() {
    FirePlan plan =
        FirePlan.of(
            new FirePlan.Due(EVERY_SECOND, Overlap.ALLOW, 0, NOW - 2, FireTimes.NONE, false),
            NOW,
            NOW - 2,
            1_000);

    assertThat(plan.slots()).containsExactly(NOW - 2, NOW - 1, NOW);
    assertThat(plan.missed()).isZero();
  }

  @Test
  void slots_beyond_the_batch_limit_stay_due() {
    FirePlan plan =
        FirePlan.of(
            new FirePlan.Due(EVERY_MINUTE, Overlap.ALLOW, 100, 5_400, FireTimes.NONE, false),
            NOW,
            NOW - 2,
            4);

    assertThat(plan.slots()).containsExactly(5_400L, 5_460L, 5_520L, 5_580L);
    assertThat(plan.next()).isEqualTo(5_640);
    assertThat(plan.missed()).isZero();
  }

  @Test
  void a_slot_set_by_a_user_fires_although_the_expression_does_not_match_it() {
    FirePlan plan =
        FirePlan.of(
            new FirePlan.Due(EVERY_MINUTE, Overlap.ALLOW, 100, 5_950, FireTimes.NONE, false),
            NOW,
            NOW - 2,
            9);

    assertThat(plan.slots()).containsExactly(5_950L, 6_000L);
  }

  @Test
  void skip_fires_one_at_a_time() {
    FirePlan free = plan(Overlap.SKIP, 100, false, FireTimes.NONE);
    FirePlan open = plan(Overlap.SKIP, 100, true, FireTimes.NONE);

    assertThat(free.slots()).containsExactly(5_400L);
    assertThat(free.missed()).isEqualTo(10);
    assertThat(open.slots()).isEmpty();
    assertThat(open.missed()).isEqualTo(11);
    assertThat(List.of(free.next(), open.next())).containsOnly(6_060L);
  }

  @Test
  void buffer_one_buffers_one_slot() {
    FirePlan free = plan(Overlap.BUFFER_ONE, 100, false, FireTimes.NONE);
    FirePlan open = plan(Overlap.BUFFER_ONE, 100, true, FireTimes.NONE);
    FirePlan full = plan(Overlap.BUFFER_ONE, 100, true, 5_340);
    FirePlan withoutOpenRun = plan(Overlap.BUFFER_ONE, 100, false, 5_340);

    assertThat(free.slots()).containsExactly(5_400L);
    assertThat(free.buffered()).isEqualTo(5_460);
    assertThat(free.missed()).isEqualTo(9);
    assertThat(open.slots()).isEmpty();
    assertThat(open.buffered()).isEqualTo(5_400);
    assertThat(open.missed()).isEqualTo(10);
    assertThat(full.slots()).isEmpty();
    assertThat(full.buffered()).isEqualTo(5_340);
    assertThat(full.missed()).isEqualTo(11);
    assertThat(withoutOpenRun.slots()).containsExactly(5_340L);
    assertThat(withoutOpenRun.buffered()).isEqualTo(5_400);
    assertThat(withoutOpenRun.missed()).isEqualTo(10);
  }

  @Test
  void counting_a_year_of_seconds_is_as_quick_as_a_minute() {
    long year = 365L * 86_400;
    FirePlan plan =
        FirePlan.of(
            new FirePlan.Due(EVERY_SECOND, Overlap.ALLOW, 100, 0, FireTimes.NONE, false),
            year,
            year - 2,
            1_000);

    assertThat(plan.slots()).hasSize(100).endsWith(year);
    assertThat(plan.missed()).isEqualTo(year + 1 - 100);
  }

  @Test
  void finding_the_newest_slots_after_a_night_is_quick() {
    FireTimes slots = FireTimes.of("* * * * *", "Europe/Berlin");
    long morning = 1_800_000_000;
    long begun = System.nanoTime();

    for (int i = 0; i < 5_000; i++) {
      FirePlan plan =
          FirePlan.of(
              new FirePlan.Due(slots, Overlap.ALLOW, 3, morning - 36_000, FireTimes.NONE, false),
              morning,
              morning - 2,
              1_000);
      assertThat(plan.slots()).hasSize(3);
    }

    assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(Duration.ofSeconds(3));
  }
}
