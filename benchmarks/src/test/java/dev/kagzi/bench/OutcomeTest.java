package dev.kagzi.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class OutcomeTest {

  @Test
  void percentiles_are_measured_values() {
    long[] latencyNanos = LongStream.rangeClosed(1, 100).map(ms -> ms * 1_000_000).toArray();

    Outcome outcome = Outcome.of(2_000_000_000L, latencyNanos);

    assertThat(outcome).isEqualTo(new Outcome(100, 2, 50, 90, 95, 99));
    assertThat(outcome.runsPerSecond()).isEqualTo(50);
  }
}
