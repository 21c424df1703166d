package dev.kagzi.engine.internal.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

/** How often a busy queue looks below its low-water marks. */
class FallbackTimerTest {
  private static final long SECOND = Duration.ofSeconds(1).toNanos();

  private final FallbackTimer timer = new FallbackTimer(Duration.ofSeconds(2));

  @Test
  void a_quick_check_is_repeated_after_the_interval() {
    timer.ended(0, SECOND / 100);

    assertThat(timer.request(2 * SECOND - 1)).isFalse();
    assertThat(timer.request(2 * SECOND)).isTrue();
  }

  @Test
  void a_slow_check_takes_at_most_a_twentieth_of_the_time() {
    timer.ended(0, SECOND);

    assertThat(timer.request(20 * SECOND - 1)).isFalse();
    assertThat(timer.request(20 * SECOND)).isTrue();
  }

  @Test
  void a_check_that_has_not_ended_is_requested_again_much_later() {
    timer.ended(0, 0);

    assertThat(timer.request(2 * SECOND)).isTrue();
    assertThat(timer.request(5 * SECOND)).isFalse();
    assertThat(timer.request(42 * SECOND)).isTrue();
  }
}
