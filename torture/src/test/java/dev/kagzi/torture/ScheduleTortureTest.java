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
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class ScheduleTortureTest {

  @Test
  void each_slot_is_one_run_in_spite_of_all_faults() {
    StringWriter out = new StringWriter();

    ScheduleTorture.Result result =
        ScheduleTorture.run(
            new Console(new PrintWriter(out)),
            new ScheduleTorture.Settings(200, Duration.ofHours(4), 7));

    assertThat(result.problems()).as(out.toString()).isEmpty();
    assertThat(result.slots()).isGreaterThan(20_000);
    assertThat(result.faults()).isPositive();
    assertThat(result.databaseKills()).isPositive();
    assertThat(result.cuts()).isPositive();
    assertThat(result.lastLine()).startsWith("passed: 200 schedules, ");
  }

  @Test
  void missing_duplicate_unexpected_or_miscounted_runs_are_found() {
    PlannedSchedule plan = minutely(Overlap.ALLOW);

    assertThat(found(plan, List.of(60L, 120L), List.of(60L, 120L), 2, 0)).isEmpty();
    assertThat(found(plan, List.of(60L, 120L), List.of(60L), 1, 0)).isNotEmpty();
    assertThat(found(plan, List.of(60L), List.of(60L, 60L), 2, 0)).isNotEmpty();
    assertThat(found(plan, List.of(60L), List.of(61L), 1, 0)).isNotEmpty();
    assertThat(found(plan, List.of(60L, 120L), List.of(60L, 120L), 2, 1)).isNotEmpty();
    assertThat(found(minutely(Overlap.SKIP), List.of(60L, 120L), List.of(60L), 1, 0))
        .containsExactly(
            "p (0 * * * *, UTC): 1 runs, counted 1, 0 missed and 0 waiting, of 2 slots");
  }

  @Test
  void without_catch_up_a_slot_that_is_fired_late_is_found() {
    PlannedSchedule none = PlannedSchedule.everySeconds("p", 30, 0);
    List<Long> slots = List.of(0L, 30L, 60L);

    assertThat(checkCounted(none, slots, List.of(fired(0, 1), fired(60, 62)))).isEmpty();
    // As if a maximum of 0 counted as 1: the newest slot is fired after an hour.
    assertThat(checkCounted(none, slots, List.of(fired(60, 3_660))))
        .singleElement()
        .asString()
        .contains("1 slots were fired that were missed, first 60, when 0 newer ones were due");
  }

  @Test
  void more_late_slots_than_the_maximum_are_found() {
    PlannedSchedule two = PlannedSchedule.everySeconds("p", 30, 2);
    List<Long> slots = List.of(0L, 30L, 60L, 90L);

    assertThat(checkCounted(two, slots, List.of(fired(60, 3_600), fired(90, 3_600)))).isEmpty();
    assertThat(
            checkCounted(two, slots, List.of(fired(30, 3_600), fired(60, 3_600), fired(90, 3_600))))
        .singleElement()
        .asString()
        .contains("1 slots were fired that were missed, first 30, when 2 newer ones were due");
    // On time, there is no limit.
    assertThat(
            checkCounted(
                two, slots, List.of(fired(0, 1), fired(30, 90), fired(60, 90), fired(90, 90))))
        .isEmpty();
  }

  @Test
  void a_missed_slot_below_the_maximum_is_found() {
    PlannedSchedule two = PlannedSchedule.everySeconds("p", 30, 2);
    List<Long> slots = List.of(0L, 30L, 60L, 90L);

    assertThat(checkCounted(two, slots, List.of(fired(0, 1), fired(90, 3_600))))
        .singleElement()
        .asString()
        .contains("slot 60 was missed although only 1 newer");
    assertThat(checkCounted(two, slots, List.of(fired(30, 3_600), fired(90, 3_600))))
        .hasSize(2)
        .last()
        .asString()
        .contains("slot 60 was missed although only 1 newer");
  }

  /**
   * A server that may not start all of them at once fires some; new ones are due at its next try.
   */
  @Test
  void slots_that_are_caught_up_in_portions_are_accepted() {
    PlannedSchedule three = PlannedSchedule.everySeconds("p", 30, 3);
    List<Long> slots = List.of(0L, 30L, 60L, 90L, 120L, 150L, 180L);

    assertThat(
            checkCounted(
                three,
                slots,
                List.of(
                    fired(0, 1),
                    fired(60, 121),
                    fired(120, 185),
                    fired(150, 185),
                    fired(180, 185))))
        .isEmpty();
  }

  /** As if each tick caught up the oldest few slots, instead of the newest few once. */
  @Test
  void missed_slots_that_are_fired_a_few_at_a_time_are_found() {
    PlannedSchedule three = PlannedSchedule.everySeconds("p", 30, 3);
    List<Long> slots = everyHalfMinute(20);
    List<ScheduleRules.Fired> all = new ArrayList<>();
    for (int i = 0; i < slots.size(); i++) {
      all.add(fired(slots.get(i), 3_600 + i / 3));
    }

    assertThat(checkCounted(three, slots, all))
        .singleElement()
        .asString()
        .contains("17 slots were fired that were missed, first 0, when 19 newer ones were due");
    assertThat(checkCounted(three, slots, all.subList(17, 20))).isEmpty();
  }

  @Test
  void a_schedule_that_counts_all_slots_as_missed_is_found() {
    PlannedSchedule busy = PlannedSchedule.everySeconds("busy", 30, PlannedSchedule.ALL_CAUGHT_UP);
    PlannedSchedule none = PlannedSchedule.everySeconds("none", 30, 0);
    List<Long> slots = everyHalfMinute(20);
    List<ScheduleRules.Fired> onTime = slots.stream().map(slot -> fired(slot, slot + 1)).toList();
    List<ScheduleRules.Fired> late = slots.stream().map(slot -> fired(slot, slot + 30)).toList();

    assertThat(checkTwo(busy, onTime, none, onTime)).isEmpty();
    // Faults explain a few missing runs.
    assertThat(checkTwo(busy, onTime, none, onTime.subList(0, 12))).isEmpty();
    assertThat(checkTwo(busy, onTime, none, List.of()))
        .containsExactly(
            "none (0,30 * * * * *, UTC): 0 of 20 slots have a run at which another schedule was"
                + " fired on time (expected: most)");
    // Without a server that fires on time, no slot must be fired.
    assertThat(checkTwo(busy, late, none, List.of())).isEmpty();
    assertThat(checkCounted(PlannedSchedule.everySeconds("p", 30, 3), List.of(0L, 30L), List.of()))
        .hasSize(2)
        .allSatisfy(problem -> assertThat(problem).contains("was missed although only 0 newer"));
  }

  @Test
  void a_schedule_that_never_fires_is_found() {
    PlannedSchedule busy = PlannedSchedule.everySeconds("busy", 30, PlannedSchedule.ALL_CAUGHT_UP);
    PlannedSchedule none = PlannedSchedule.everySeconds("none", 30, 0);
    List<Long> slots = everyHalfMinute(20);
    List<String> problems = new ArrayList<>();
    List<ScheduleRules.Fired> made = slots.stream().map(slot -> fired(slot, slot)).toList();

    new ScheduleRules(Map.of("1", busy, "2", none), Map.of("1", slots, "2", slots), 60, problems)
        .check(Map.of("1", made), Map.of("1", new ScheduleRules.Counts(20, 0, 0)));
    assertThat(problems)
        .anySatisfy(problem -> assertThat(problem).contains("0 missed and 0 waiting, of 20 slots"))
        .anySatisfy(problem -> assertThat(problem).contains("0 of 20 slots have a run"));

    // By its own counters it has no slots.
    problems.clear();
    ScheduledLoad.checkDecided("every-2", 1_000L, 1_002, problems);
    assertThat(problems).isEmpty();
    ScheduledLoad.checkDecided("every-2", 1_000L, 1_030, problems);
    ScheduledLoad.checkDecided("every-2", null, 1_030, problems);
    assertThat(problems)
        .containsExactly(
            "every-2: slot 1000 was not decided on when the schedules stopped, 30 s later"
                + " (expected: within 20 s)",
            "every-2: no next slot (expected: one, of a schedule without an end)");
  }

  private static List<Long> everyHalfMinute(int count) {
    return LongStream.range(0, count).map(i -> 30 * i).boxed().toList();
  }

  /** Checks two schedules with the same slots and correct counters. */
  private static List<String> checkTwo(
      PlannedSchedule one,
      List<ScheduleRules.Fired> firedOfOne,
      PlannedSchedule other,
      List<ScheduleRules.Fired> firedOfOther) {
    List<String> problems = new ArrayList<>();
    List<Long> slots = everyHalfMinute(20);
    new ScheduleRules(Map.of("1", one, "2", other), Map.of("1", slots, "2", slots), 60, problems)
        .check(
            Map.of("1", firedOfOne, "2", firedOfOther),
            Map.of("1", counts(firedOfOne, slots), "2", counts(firedOfOther, slots)));
    return problems;
  }

  private static ScheduleRules.Counts counts(List<ScheduleRules.Fired> fired, List<Long> slots) {
    return new ScheduleRules.Counts(fired.size(), slots.size() - fired.size(), 0);
  }

  @Test
  void a_trigger_without_a_run_or_with_two_is_found() {
    List<String> problems = new ArrayList<>();

    ScheduledLoad.checkTriggered(Set.of("a", "b"), List.of("a", "b"), problems);
    assertThat(problems).isEmpty();
    ScheduledLoad.checkTriggered(Set.of("a", "b"), List.of("a"), problems);
    ScheduledLoad.checkTriggered(Set.of("a"), List.of("a", "c"), problems);
    ScheduledLoad.checkTriggered(Set.of(), List.of(), problems);
    assertThat(problems)
        .containsExactly(
            "2 triggers were answered, and 1 runs exist",
            "1 triggers were answered, and 2 runs exist",
            "no trigger was ever answered");
  }

  private static ScheduleRules.Fired fired(long slot, long at) {
    return new ScheduleRules.Fired(slot, at * 1_000_000);
  }

  /** Checks runs with correct counters. */
  private static List<String> checkCounted(
      PlannedSchedule plan, List<Long> slots, List<ScheduleRules.Fired> fired) {
    return check(plan, slots, fired, fired.size(), slots.size() - fired.size());
  }

  @Test
  void an_overlap_a_needless_wait_and_a_needless_miss_are_found() {
    assertThat(checkSnapshots(new OverlapRules.Snapshot("p", true, true, 1, 3, 0))).isEmpty();
    assertThat(checkSnapshots(new OverlapRules.Snapshot("p", true, false, 2, 3, 0)))
        .containsExactly("p: 2 runs are open at once");
    assertThat(checkSnapshots(new OverlapRules.Snapshot("p", true, true, 0, 3, 0)))
        .containsExactly("p: a slot waits although no run is open");

    OverlapRules.Snapshot free = new OverlapRules.Snapshot("p", true, false, 0, 3, 1);
    OverlapRules.Snapshot decidedOn = new OverlapRules.Snapshot("p", false, false, 0, 3, 1);
    OverlapRules.Snapshot busy = new OverlapRules.Snapshot("p", true, false, 1, 3, 1);
    OverlapRules.Snapshot missed = new OverlapRules.Snapshot("p", true, false, 0, 3, 2);
    OverlapRules.Snapshot missedAndRun = new OverlapRules.Snapshot("p", true, false, 0, 4, 2);

    assertThat(checkSnapshots(busy, missed)).isEmpty();
    assertThat(checkSnapshots(decidedOn, missed)).isEmpty();
    assertThat(checkSnapshots(free, missedAndRun)).isEmpty();
    assertThat(checkSnapshots(free, missed))
        .containsExactly("p: a slot was missed although no run was open");
  }

  private static List<String> checkSnapshots(OverlapRules.Snapshot... snapshots) {
    List<String> problems = new ArrayList<>();
    OverlapRules rules = new OverlapRules(problems);
    Stream.of(snapshots).forEach(rules::check);
    return problems;
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

  private static List<String> found(
      PlannedSchedule plan, List<Long> slots, List<Long> fired, long total, long missed) {
    return check(
        plan, slots, fired.stream().map(slot -> fired(slot, slot)).toList(), total, missed);
  }

  private static List<String> check(
      PlannedSchedule plan,
      List<Long> slots,
      List<ScheduleRules.Fired> fired,
      long total,
      long missed) {
    List<String> problems = new ArrayList<>();
    new ScheduleRules(Map.of(), Map.of(), 60, problems)
        .check(plan, slots, fired, new ScheduleRules.Counts(total, missed, 0));
    return problems;
  }
}
