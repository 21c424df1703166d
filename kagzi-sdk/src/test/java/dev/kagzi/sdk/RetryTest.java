package dev.kagzi.sdk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kagzi.protocol.v1.RetryPolicy;
import dev.kagzi.sdk.internal.wire.ProtoMapper;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class RetryTest {

  @Test
  void a_policy_is_sent_with_all_its_settings() {
    RetryPolicy policy =
        ProtoMapper.retryPolicy(
            Retry.exponential(5)
                .initial(Duration.ofMillis(200))
                .coefficient(3)
                .max(Duration.ofSeconds(9))
                .jitter(false)
                .notOn(IllegalStateException.class));

    assertThat(policy)
        .isEqualTo(
            RetryPolicy.newBuilder()
                .setMaximumAttempts(5)
                .setInitialIntervalMs(200)
                .setBackoffCoefficient(3)
                .setMaximumIntervalMs(9_000)
                .setJitter(0)
                .addNonRetryableErrors("java.lang.IllegalStateException")
                .build());
  }

  @Test
  void a_policy_describes_itself() {
    assertThat(Retry.none()).hasToString("1 attempt");
    assertThat(Retry.fixed(3, Duration.ofMillis(50))).hasToString("3 attempts, after 50 ms");
    assertThat(Retry.exponential(Retry.UNLIMITED).jitter(false).onlyOn(ErrorKind.NETWORK))
        .hasToString(
            "unlimited attempts, after 1 s x 2.0 up to 60 s, jitter 0.0, only on [NETWORK]");
  }

  @Test
  void errors_are_excluded_by_class_kind_and_message_prefix() {
    RetryPolicy policy =
        ProtoMapper.retryPolicy(
            Retry.exponential(3)
                .notOn(IllegalStateException.class)
                .notOn(ErrorKind.VALIDATION, ErrorKind.NOT_FOUND)
                .notOnMessage("card declined")
                .notOn(IllegalStateException.class));

    assertThat(policy.getNonRetryableErrorsList())
        .containsExactly(
            "java.lang.IllegalStateException", "NOT_FOUND", "VALIDATION", "card declined");
    assertThat(policy.getRetryableKindsList()).isEmpty();
  }

  @Test
  void retries_can_be_limited_to_kinds() {
    assertThat(
            ProtoMapper.retryPolicy(
                    Retry.exponential(3).onlyOn(ErrorKind.TIMEOUT).onlyOn(ErrorKind.NETWORK))
                .getRetryableKindsList())
        .containsExactly("NETWORK", "TIMEOUT");
    assertThat(
            ProtoMapper.retryPolicy(Retry.exponential(3).onlyOnRetryable()).getRetryableKindsList())
        .containsExactly("NETWORK", "TIMEOUT", "DATABASE", "RATE_LIMIT", "UNAVAILABLE");
  }

  @Test
  void jitter_is_left_to_the_server_unless_set() {
    assertThat(ProtoMapper.retryPolicy(Retry.exponential(2)).hasJitter()).isFalse();
    assertThat(ProtoMapper.retryPolicy(Retry.exponential(2).jitter(0.1)).getJitter())
        .isEqualTo(0.1);
  }

  @Test
  void none_is_one_attempt_and_unlimited_is_minus_one() {
    assertThat(ProtoMapper.retryPolicy(Retry.none()).getMaximumAttempts()).isEqualTo(1);
    assertThat(ProtoMapper.retryPolicy(Retry.exponential(Retry.UNLIMITED)).getMaximumAttempts())
        .isEqualTo(-1);
  }

  @Test
  void an_initial_delay_over_the_cap_raises_the_cap() {
    assertThat(Retry.exponential(2).initial(Duration.ofHours(1)).max())
        .isEqualTo(Duration.ofHours(1));
  }

  @Test
  void an_invalid_policy_is_rejected() {
    assertThatThrownBy(() -> Retry.exponential(0)).hasMessageContaining("attempts: 0");
    assertThatThrownBy(() -> Retry.exponential(2).coefficient(0.5)).hasMessageContaining("0.5");
    assertThatThrownBy(() -> Retry.exponential(2).coefficient(Double.NaN))
        .hasMessageContaining("NaN");
    assertThatThrownBy(() -> Retry.exponential(2).max(Duration.ofMillis(1)))
        .hasMessageContaining("PT0.001S");
    assertThatThrownBy(() -> Retry.exponential(2).jitter(2)).hasMessageContaining("2.0");
    assertThatThrownBy(() -> Retry.fixed(2, Duration.ZERO)).hasMessageContaining("PT0S");
    assertThatThrownBy(() -> Retry.exponential(2).notOn(Throwable.class))
        .hasMessageContaining("Retry.none()");
    assertThatThrownBy(() -> Retry.exponential(2).notOnMessage(" "))
        .hasMessageContaining("not blank");
  }

  @Test
  void part_of_a_millisecond_is_rounded_up() {
    assertThat(ProtoMapper.millis(Duration.ofNanos(1))).isEqualTo(1);
    assertThat(ProtoMapper.millis(Duration.ofMillis(7))).isEqualTo(7);
    assertThat(ProtoMapper.millis(Duration.ofSeconds(Long.MAX_VALUE))).isEqualTo(Long.MAX_VALUE);
  }
}
