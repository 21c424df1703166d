package dev.kagzi.torture;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PlanTest {

  @Test
  void the_same_seed_gives_the_same_plan() {
    assertThat(plan(7)).isEqualTo(plan(7)).isNotEqualTo(plan(8));
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4711, -1})
  void ten_minutes_have_a_hundred_faults_and_at_least_five_of_each_kind(long seed) {
    Plan plan = plan(seed);

    Map<FaultKind, Long> counts =
        plan.faults().stream().collect(Collectors.groupingBy(Fault::kind, Collectors.counting()));
    assertThat(plan.faults()).hasSizeGreaterThanOrEqualTo(100);
    assertThat(counts).containsOnlyKeys(FaultKind.values());
    assertThat(counts.values()).allMatch(count -> count >= 5);
  }

  @Test
  void every_server_is_a_victim() {
    Plan plan = Plan.random(1, Duration.ofMinutes(10), 3, 3);

    assertThat(plan.faults())
        .filteredOn(fault -> fault.kind().victim() == FaultKind.Victim.SERVER)
        .extracting(Fault::target)
        .contains(0, 1, 2);
  }

  @Test
  void pauses_are_longer_than_leases() {
    assertThat(plan(1).faults())
        .filteredOn(fault -> fault.kind() == FaultKind.PAUSE_WORKER)
        .map(Fault::lasts)
        .allMatch(lasts -> lasts.compareTo(Duration.ofSeconds(3)) > 0);
  }

  private static Plan plan(long seed) {
    return Plan.random(seed, Duration.ofMinutes(10), 2, 3);
  }
}
