package dev.kagzi.torture;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.sdk.Overlap;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class ScheduleTortureTest {

  @Test
  void each_slot_is_one_run_whatever_happens_to_the_servers() {
    StringWriter out = new StringWriter();

    ScheduleTorture.Result result =
        ScheduleTorture.run(
            new Console(new PrintWriter(out)),
            new ScheduleTorture.Settings(200, Duration.ofHours(2), 7));

    assertThat(result.problems()).as(out.toString()).isEmpty();
    assertThat(result.slots()).isGreaterThan(20_000);
    assertThat(result.faults()).isPositive();
    assertThat(result.lastLine()).startsWith("passed: 200 schedules, ");
  }

  @Test
  void what_is_lost_doubled_strange_or_counted_wrong_is_found() {
    PlannedSchedule plan = minutely(Overlap.ALLOW);

    assertThat(found(plan, List.of(60L, 120L), ended(60L, 120L), 2, 0)).isEmpty();
    assertThat(found(plan, List.of(60L, 120L), ended(60L), 1, 0)).isNotEmpty();
    assertThat(found(plan, List.of(60L), ended(60L, 60L), 2, 0)).isNotEmpty();
    assertThat(found(plan, List.of(60L), ended(61L), 1, 0)).isNotEmpty();
    assertThat(found(plan, List.of(60L, 120L), ended(60L, 120L), 2, 1)).isNotEmpty();
  }

  @Test
  void a_slot_that_was_missed_although_nothing_ran_is_found() {
    PlannedSchedule plan = minutely(Overlap.SKIP);
    List<Long> slots = List.of(60L, 120L, 180L, 240L);
    ScheduleRules.Fired last = new ScheduleRules.Fired(240, Long.MAX_VALUE);

    assertThat(found(plan, slots, List.of(new ScheduleRules.Fired(60, 181), last), 2, 2)).isEmpty();
    assertThat(found(plan, slots, List.of(new ScheduleRules.Fired(60, 150), last), 2, 2))
        .containsExactly("p (0 * * * *, UTC): the slot 180 was missed, and no run was open");
    assertThat(found(plan, slots, List.of(new ScheduleRules.Fired(60, 181), last), 2, 1))
        .containsExactly(
            "p (0 * * * *, UTC): 2 runs, counted 2, 1 missed and 0 waiting, of 4 slots");
  }

  private static PlannedSchedule minutely(Overlap overlap) {
    return new PlannedSchedule(
        "p",
        "UTC",
        Set.of(0),
        Set.of(0),
        Set.of(),
        Set.of(),
        Set.of(),
        PlannedSchedule.ALL_CAUGHT_UP,
        overlap);
  }

  private static List<ScheduleRules.Fired> ended(Long... slots) {
    return Stream.of(slots).map(slot -> new ScheduleRules.Fired(slot, slot)).toList();
  }

  private static List<String> found(
      PlannedSchedule plan,
      List<Long> slots,
      List<ScheduleRules.Fired> fired,
      long total,
      long missed) {
    List<String> problems = new ArrayList<>();
    new ScheduleRules(Map.of(), Map.of(), Duration.ofSeconds(1), problems)
        .check(plan, slots, fired, new ScheduleRules.Counts(total, missed, 0));
    return problems;
  }
}
