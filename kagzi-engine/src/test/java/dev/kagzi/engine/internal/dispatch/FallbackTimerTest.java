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
    timer.ended(0, SECOND / 100, true);

    assertThat(timer.request(2 * SECOND - 1)).isFalse();
    assertThat(timer.request(2 * SECOND)).isTrue();
  }

  @Test
  void a_slow_check_takes_at_most_a_twentieth_of_the_time() {
    timer.ended(0, SECOND, true);

    assertThat(timer.request(20 * SECOND - 1)).isFalse();
    assertThat(timer.request(20 * SECOND)).isTrue();
  }

  @Test
  void a_check_that_has_not_ended_is_requested_again_much_later() {
    timer.ended(0, 0, true);

    assertThat(timer.request(2 * SECOND)).isTrue();
    assertThat(timer.request(5 * SECOND)).isFalse();
    assertThat(timer.request(42 * SECOND)).isTrue();
  }

  @Test
  void a_queue_is_idle_after_some_checks_without_a_claim_round() {
    endChecks(4, 0, true);
    assertThat(timer.isIdle()).isFalse();
    endChecks(1, 0, true);
    assertThat(timer.isIdle()).isTrue();

    timer.claimBegun();

    assertThat(timer.isIdle()).isFalse();
  }

  @Test
  void a_queue_whose_check_is_slow_or_fails_is_not_checked_with_others() {
    endChecks(10, SECOND, true);
    assertThat(timer.isIdle()).isFalse();
    endChecks(1, 0, true);
    assertThat(timer.isIdle()).isTrue();

    endChecks(1, 0, false);

    assertThat(timer.isIdle()).isFalse();
  }

  private void endChecks(int count, long tookNanos, boolean succeeded) {
    for (int i = 0; i < count; i++) {
      timer.ended(0, tookNanos, succeeded);
    }
  }
}
