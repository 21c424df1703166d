package dev.kagzi.torture;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
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
    PlannedSchedule plan =
        new PlannedSchedule(
            "p",
            "UTC",
            Set.of(0),
            Set.of(0),
            Set.of(),
            Set.of(),
            Set.of(),
            PlannedSchedule.ALL_CAUGHT_UP);

    assertThat(found(plan, List.of(60L, 120L), List.of(60L, 120L), 2, 0)).isEmpty();
    assertThat(found(plan, List.of(60L, 120L), List.of(60L), 1, 0)).isNotEmpty();
    assertThat(found(plan, List.of(60L), List.of(60L, 60L), 2, 0)).isNotEmpty();
    assertThat(found(plan, List.of(60L), List.of(61L), 1, 0)).isNotEmpty();
    assertThat(found(plan, List.of(60L, 120L), List.of(60L, 120L), 2, 1)).isNotEmpty();
  }

  private static List<String> found(
      PlannedSchedule plan, List<Long> slots, List<Long> fired, long total, long missed) {
    List<String> problems = new ArrayList<>();
    new ScheduleRules(Map.of(), Map.of(), problems)
        .check(plan, slots, fired, new long[] {total, missed});
    return problems;
  }
}
