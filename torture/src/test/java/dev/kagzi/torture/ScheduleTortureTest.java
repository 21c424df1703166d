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
  void what_overlaps_waits_or_is_missed_without_need_is_found() {
    assertThat(seen(new ApartRules.Seen("p", true, true, 1, 3, 0))).isEmpty();
    assertThat(seen(new ApartRules.Seen("p", true, false, 2, 3, 0)))
        .containsExactly("p: 2 runs are open at once");
    assertThat(seen(new ApartRules.Seen("p", true, true, 0, 3, 0)))
        .containsExactly("p: a slot waits although no run is open");

    ApartRules.Seen free = new ApartRules.Seen("p", true, false, 0, 3, 1);
    ApartRules.Seen decidedOn = new ApartRules.Seen("p", false, false, 0, 3, 1);
    ApartRules.Seen busy = new ApartRules.Seen("p", true, false, 1, 3, 1);
    ApartRules.Seen missed = new ApartRules.Seen("p", true, false, 0, 3, 2);
    ApartRules.Seen missedAndRun = new ApartRules.Seen("p", true, false, 0, 4, 2);

    assertThat(seen(busy, missed)).isEmpty();
    assertThat(seen(decidedOn, missed)).isEmpty();
    assertThat(seen(free, missedAndRun)).isEmpty();
    assertThat(seen(free, missed)).containsExactly("p: a slot was missed although no run was open");
  }

  private static List<String> seen(ApartRules.Seen... looks) {
    List<String> problems = new ArrayList<>();
    ApartRules rules = new ApartRules(problems);
    Stream.of(looks).forEach(rules::check);
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
    List<String> problems = new ArrayList<>();
    new ScheduleRules(Map.of(), Map.of(), problems)
        .check(plan, slots, fired, new ScheduleRules.Counts(total, missed, 0));
    return problems;
  }
}
