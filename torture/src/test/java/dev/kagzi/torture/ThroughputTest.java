package dev.kagzi.torture;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ThroughputTest {
  private static final long SECOND = 1_000_000_000;
  private static final long FAULT = 20 * SECOND;
  private static final long END = 50 * SECOND;

  private final List<Long> results = new ArrayList<>();

  /** Adds a result every 20 ms. */
  private void even(long fromSecond, long toSecond) {
    for (long at = fromSecond * SECOND; at < toSecond * SECOND; at += SECOND / 50) {
      results.add(at);
    }
  }

  @Test
  void a_fault_without_effect_takes_no_time() {
    even(0, 50);

    assertThat(Throughput.of(results).recovery(FAULT, END)).contains(Duration.ZERO);
    assertThat(Throughput.of(results).rateBefore(FAULT)).isEqualTo(50);
  }

  @Test
  void throughput_has_recovered_when_nine_tenths_arrive_again() {
    even(0, 20);
    even(25, 50);

    assertThat(Throughput.of(results).recovery(FAULT, END))
        .hasValueSatisfying(
            time -> assertThat(time).isBetween(Duration.ofSeconds(4), Duration.ofMillis(5_250)));
  }

  @Test
  void a_short_burst_is_no_recovery() {
    even(0, 20);
    even(24, 26);
    even(30, 50);

    assertThat(Throughput.of(results).recovery(FAULT, END))
        .hasValueSatisfying(time -> assertThat(time).isGreaterThan(Duration.ofSeconds(9)));
  }

  @Test
  void without_recovery_there_is_no_time() {
    even(0, 20);

    assertThat(Throughput.of(results).recovery(FAULT, END)).isEmpty();
  }
}
