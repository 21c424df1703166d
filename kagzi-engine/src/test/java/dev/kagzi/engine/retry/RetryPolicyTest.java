package dev.kagzi.engine.retry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.kagzi.engine.internal.retry.RetryDecision;
import dev.kagzi.engine.internal.retry.RetryPolicyJson;
import dev.kagzi.engine.value.ErrorCode;
import dev.kagzi.engine.value.Failure;
import dev.kagzi.engine.value.Refusal;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class RetryPolicyTest {
  private static final Failure FAILURE = failure("boom", false, 0);

  private final Random random = new Random(42);

  @Test
  void delay_doubles_from_the_first_and_stops_at_the_cap() {
    RetryPolicy policy = new RetryPolicy(-1, 1_000, 2.0, 60_000, 0, List.of());

    assertThat(delays(policy, 9))
        .containsExactly(
            1_000L, 2_000L, 4_000L, 8_000L, 16_000L, 32_000L, 60_000L, 60_000L, 60_000L);
  }

  @Test
  void without_jitter_the_delay_is_exactly_initial_times_coefficient_to_the_power() {
    for (int round = 0; round < 10_000; round++) {
      long first = random.nextLong(1, 100_000);
      int coefficient = random.nextInt(1, 5);
      long max = random.nextLong(first, 10_000_000);
      int attempt = random.nextInt(1, 20);
      RetryPolicy policy = new RetryPolicy(-1, first, coefficient, max, 0, List.of());

      long expected = first;
      for (int n = 1; n < attempt && expected < max; n++) {
        expected *= coefficient;
      }

      assertThat(delay(policy, attempt)).isEqualTo(Math.min(max, expected));
    }
  }

  @Test
  void jitter_stays_within_its_fraction_and_below_the_cap() {
    for (int round = 0; round < 10_000; round++) {
      long first = random.nextLong(1, 100_000);
      double coefficient = 1 + 3 * random.nextDouble();
      long max = random.nextLong(first, 1_000_000);
      int attempt = random.nextInt(1, 40);
      RetryPolicy exact = new RetryPolicy(-1, first, coefficient, max, 0, List.of());
      RetryPolicy jittered = new RetryPolicy(-1, first, coefficient, max, 0.25, List.of());

      double middle = Math.min((double) max, (double) first * Math.pow(coefficient, attempt - 1.0));
      long delay = delay(jittered, attempt);

      assertThat((double) delay).isBetween(middle * 0.75 - 1, middle * 1.25 + 1);
      assertThat(delay).isBetween(0L, max);
      assertThat((double) delay(exact, attempt)).isBetween(middle - 1, middle + 1);
    }
  }

  @Test
  void jitter_goes_both_ways() {
    RetryPolicy policy = new RetryPolicy(-1, 10_000, 1.0, 60_000, 0.25, List.of());
    long min = Long.MAX_VALUE;
    long max = 0;
    for (int i = 0; i < 1_000; i++) {
      long delay = delay(policy, 1);
      min = Math.min(min, delay);
      max = Math.max(max, delay);
    }

    assertThat(min).isBetween(7_500L, 7_700L);
    assertThat(max).isBetween(12_300L, 12_500L);
  }

  @Test
  void the_limit_counts_executions_and_not_retries() {
    for (int attemptsMax = 1; attemptsMax < 20; attemptsMax++) {
      RetryPolicy policy = new RetryPolicy(attemptsMax, 1, 1.0, 1, 0, List.of());
      for (int attempt = 1; attempt < 25; attempt++) {
        RetryDecision decision = RetryDecision.of(policy, attempt, FAILURE, random);

        assertThat(decision instanceof RetryDecision.RetryAfter).isEqualTo(attempt < attemptsMax);
      }
    }
  }

  @Test
  void minus_one_never_gives_up() {
    RetryPolicy policy =
        new RetryPolicy(RetryPolicy.UNLIMITED, 1_000, 2.0, 60_000, 0.25, List.of());

    assertThat(RetryDecision.of(policy, Integer.MAX_VALUE, FAILURE, random))
        .isInstanceOf(RetryDecision.RetryAfter.class);
  }

  @Test
  void no_delay_stays_no_delay_however_many_attempts() {
    RetryPolicy policy = new RetryPolicy(-1, 0, 1_000, 0, 1, List.of());

    assertThat(delay(policy, Integer.MAX_VALUE)).isZero();
  }

  @Test
  void a_delay_requested_by_the_failure_overrides_the_backoff_and_is_bounded() {
    RetryPolicy policy = RetryPolicy.DEFAULT;

    assertThat(RetryDecision.of(policy, 1, failure("busy", false, 5), random))
        .isEqualTo(new RetryDecision.RetryAfter(5));
    assertThat(RetryDecision.of(policy, 2, failure("busy", false, 3_600_000), random))
        .isEqualTo(new RetryDecision.RetryAfter(3_600_000));
    assertThat(RetryDecision.of(policy, 1, failure("busy", false, Long.MAX_VALUE), random))
        .isEqualTo(new RetryDecision.RetryAfter(RetryPolicy.RETRY_AFTER_MS_MAX));
    assertThat(delay(new RetryPolicy(3, 7, 1, 7, 0, List.of()), failure("busy", false, -5)))
        .isEqualTo(7);
  }

  @Test
  void a_requested_delay_does_not_add_attempts() {
    assertThat(RetryDecision.of(RetryPolicy.DEFAULT, 3, failure("busy", false, 5), random))
        .isInstanceOf(RetryDecision.GiveUp.class);
  }

  @Test
  void marked_or_listed_failures_are_not_retried() {
    RetryPolicy policy = new RetryPolicy(-1, 1, 1, 1, 0, List.of("InvalidCard", "E-7"));

    assertThat(RetryDecision.of(policy, 1, failure("boom", true, 5), random))
        .isInstanceOf(RetryDecision.GiveUp.class);
    assertThat(RetryDecision.of(policy, 1, failure("InvalidCard: expired", false, 0), random))
        .isInstanceOf(RetryDecision.GiveUp.class);
    Failure typed =
        new Failure(ErrorCode.INTERNAL, "boom", false, 0, "", "", Map.of("type", "E-7"));
    assertThat(RetryDecision.of(policy, 1, typed, random)).isInstanceOf(RetryDecision.GiveUp.class);
    assertThat(RetryDecision.of(policy, 1, failure("an InvalidCard", false, 0), random))
        .isInstanceOf(RetryDecision.RetryAfter.class);
  }

  @Test
  void failures_are_matched_by_type_supertype_package_kind_and_message_prefix() {
    Failure failure =
        new Failure(
            ErrorCode.UNSPECIFIED,
            "connection reset",
            false,
            0,
            "",
            "",
            Map.of(
                "type",
                "com.acme.pay.GatewayException",
                "supertypes",
                "java.net.SocketException,java.io.IOException",
                "kind",
                "NETWORK"));

    for (String like : List.of("java.io.IOException", "NETWORK", "com.acme.pay.", "connection")) {
      assertThat(RetryDecision.of(policyWithout(like), 1, failure, random))
          .as(like)
          .isInstanceOf(RetryDecision.GiveUp.class);
    }
    for (String other :
        List.of("java.io.UncheckedIOException", "NET", "acme", "reset", "com.acme.pay.Gateway")) {
      assertThat(RetryDecision.of(policyWithout(other), 1, failure, random))
          .as(other)
          .isInstanceOf(RetryDecision.RetryAfter.class);
    }
  }

  private static RetryPolicy policyWithout(String like) {
    return new RetryPolicy(-1, 1, 1, 1, 0, List.of(like));
  }

  @Test
  void a_policy_for_some_kinds_gives_up_on_all_others() {
    RetryPolicy policy = new RetryPolicy(-1, 1, 1, 1, 0, List.of(), List.of("NETWORK", "TIMEOUT"));

    assertThat(RetryDecision.of(policy, 1, kind("TIMEOUT"), random))
        .isInstanceOf(RetryDecision.RetryAfter.class);
    assertThat(RetryDecision.of(policy, 1, kind("VALIDATION"), random))
        .isInstanceOf(RetryDecision.GiveUp.class);
    assertThat(RetryDecision.of(policy, 1, FAILURE, random))
        .isInstanceOf(RetryDecision.GiveUp.class);
  }

  private static Failure kind(String kind) {
    return new Failure(ErrorCode.UNSPECIFIED, "boom", false, 0, "", "", Map.of("kind", kind));
  }

  @Test
  void the_delay_after_crashes_grows_up_to_the_cap_and_the_first_is_zero() {
    CrashPolicy policy = new CrashPolicy(1_000, 60_000, 10);

    assertThat(policy.delayMs(0, random)).isZero();
    for (int round = 0; round < 1_000; round++) {
      for (int before = 1; before < 12; before++) {
        double exact = Math.min(60_000, 1_000 * Math.pow(2, before - 1));
        assertThat((double) policy.delayMs(before, random))
            .isBetween(exact * 0.75 - 1, Math.min(60_000, exact * 1.25 + 1));
      }
    }
    assertThat(policy.isOver(10)).isFalse();
    assertThat(policy.isOver(11)).isTrue();
  }

  @Test
  void invalid_values_are_refused_with_their_field() {
    assertRefused("maximum_attempts", 0, 1, 2, 1, 0);
    assertRefused("maximum_attempts", -2, 1, 2, 1, 0);
    assertRefused("initial_interval_ms", 1, -1, 2, 1, 0);
    assertRefused("initial_interval_ms", 1, Long.MAX_VALUE, 2, Long.MAX_VALUE, 0);
    assertRefused("backoff_coefficient", 1, 1, 0.99, 1, 0);
    assertRefused("backoff_coefficient", 1, 1, Double.NaN, 1, 0);
    assertRefused("backoff_coefficient", 1, 1, Double.POSITIVE_INFINITY, 1, 0);
    assertRefused("maximum_interval_ms", 1, 2, 2, 1, 0);
    assertRefused("jitter", 1, 1, 2, 1, -0.1);
    assertRefused("jitter", 1, 1, 2, 1, Double.NaN);
  }

  @Test
  void a_policy_is_unchanged_after_json() {
    assertThat(RetryPolicyJson.encode(null)).isNull();
    assertThat(RetryPolicyJson.decode(null)).isNull();
    assertThat(RetryPolicyJson.decode("{}")).isEqualTo(RetryPolicy.DEFAULT);
    for (int round = 0; round < 1_000; round++) {
      long first = random.nextLong(100_000);
      RetryPolicy policy =
          new RetryPolicy(
              random.nextBoolean() ? -1 : random.nextInt(1, 100),
              first,
              1 + random.nextDouble(),
              first + random.nextLong(100_000),
              random.nextDouble(),
              random.nextBoolean() ? List.of() : List.of("a\"\\", "", "😀\u2028"),
              random.nextBoolean() ? List.of() : List.of("NETWORK", "TIMEOUT"));

      assertThat(RetryPolicyJson.decode(RetryPolicyJson.encode(policy))).isEqualTo(policy);
    }
  }

  private static void assertRefused(
      String field, int attemptsMax, long first, double coefficient, long max, double jitter) {
    assertThatExceptionOfType(Refusal.class)
        .isThrownBy(() -> new RetryPolicy(attemptsMax, first, coefficient, max, jitter, List.of()))
        .withMessageStartingWith("retry_policy." + field);
  }

  private List<Long> delays(RetryPolicy policy, int attempts) {
    return java.util.stream.IntStream.rangeClosed(1, attempts)
        .mapToObj(attempt -> delay(policy, attempt))
        .toList();
  }

  private long delay(RetryPolicy policy, int attempt) {
    return ((RetryDecision.RetryAfter) RetryDecision.of(policy, attempt, FAILURE, random))
        .delayMs();
  }

  private long delay(RetryPolicy policy, Failure failure) {
    return ((RetryDecision.RetryAfter) RetryDecision.of(policy, 1, failure, random)).delayMs();
  }

  private static Failure failure(String message, boolean nonRetryable, long retryAfterMs) {
    return new Failure(ErrorCode.INTERNAL, message, nonRetryable, retryAfterMs, "", "", Map.of());
  }
}
