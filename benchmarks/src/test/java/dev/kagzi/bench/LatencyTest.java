package dev.kagzi.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class LatencyTest {

  @Test
  void only_the_median_must_meet_the_target() {
    Latency quick = Latency.of("call", millis(1, 2, 100), 3);
    Latency slow = Latency.of("call", millis(1, 3, 100), 3);

    assertThat(quick.p50()).isEqualTo(2);
    assertThat(quick.p99()).isEqualTo(100);
    assertThat(quick.isMet()).isTrue();
    assertThat(slow.isMet()).isFalse();
  }

  @Test
  void overhead_is_the_time_beyond_one_step() {
    Latency overhead = Latency.overhead(10, millis(1_050, 1_200, 1_060), Duration.ofSeconds(1));

    assertThat(overhead.unit()).isEqualTo("%");
    assertThat(overhead.p50()).isEqualTo(6);
    assertThat(overhead.p99()).isEqualTo(20);
    assertThat(overhead.isMet()).isTrue();
  }

  private static long[] millis(long... values) {
    long[] nanos = new long[values.length];
    for (int i = 0; i < values.length; i++) {
      nanos[i] = TimeUnit.MILLISECONDS.toNanos(values[i]);
    }
    return nanos;
  }
}
