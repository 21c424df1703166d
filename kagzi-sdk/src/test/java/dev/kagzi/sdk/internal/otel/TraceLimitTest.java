package dev.kagzi.sdk.internal.otel;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TraceLimitTest {
  private final AtomicLong nanos = new AtomicLong();

  private TraceLimit limit(int perSecondMax) {
    return new TraceLimit(perSecondMax, nanos::get);
  }

  private void pass(Duration time) {
    nanos.addAndGet(time.toNanos());
  }

  private static int takeAll(TraceLimit limit) {
    int taken = 0;
    while (limit.tryTake()) {
      taken++;
    }
    return taken;
  }

  @ParameterizedTest
  @ValueSource(longs = {0, Long.MIN_VALUE, Long.MAX_VALUE - 100})
  void the_first_second_has_the_tokens_of_one_second(long start) {
    nanos.set(start);
    TraceLimit limit = limit(10);

    assertThat(takeAll(limit)).isEqualTo(10);
    pass(Duration.ofMillis(999));
    assertThat(takeAll(limit)).isEqualTo(9);
  }

  @Test
  void the_bucket_refills_evenly_and_never_holds_more_than_one_second() {
    TraceLimit limit = limit(10);
    takeAll(limit);

    pass(Duration.ofMillis(99));
    assertThat(takeAll(limit)).isZero();
    pass(Duration.ofMillis(1));
    assertThat(takeAll(limit)).isEqualTo(1);
    pass(Duration.ofMillis(500));
    assertThat(takeAll(limit)).isEqualTo(5);
    pass(Duration.ofHours(1));
    assertThat(takeAll(limit)).isEqualTo(10);
  }

  @Test
  void a_limit_of_0_has_no_token() {
    TraceLimit limit = limit(0);

    pass(Duration.ofHours(1));

    assertThat(limit.tryTake()).isFalse();
  }

  @Test
  void the_largest_number_is_no_limit() {
    TraceLimit limit = limit(Integer.MAX_VALUE);

    for (int i = 0; i < 100_000; i++) {
      assertThat(limit.tryTake()).isTrue();
    }
  }

  @Test
  void a_token_that_was_given_back_can_be_taken_again() {
    TraceLimit limit = limit(10);
    takeAll(limit);

    limit.giveBack();

    assertThat(takeAll(limit)).isEqualTo(1);
  }

  @Test
  void concurrent_takers_get_no_more_than_the_refill_and_one_full_bucket() throws Exception {
    int perSecondMax = 1_000;
    int threads = 8;
    TraceLimit limit = limit(perSecondMax);
    List<Future<Integer>> takers = new ArrayList<>();
    try (ExecutorService executor = Executors.newFixedThreadPool(threads)) {
      for (int i = 0; i < threads; i++) {
        takers.add(executor.submit(() -> takeWhileTimePasses(limit)));
      }
    }

    int taken = 0;
    for (Future<Integer> taker : takers) {
      taken += taker.get();
    }
    Duration passed = Duration.ofNanos(nanos.get());
    assertThat(passed).isGreaterThan(Duration.ofSeconds(1));
    assertThat(taken)
        .isBetween(perSecondMax, perSecondMax + (int) passed.toMillis() * perSecondMax / 1_000);
  }

  private int takeWhileTimePasses(TraceLimit limit) {
    int taken = 0;
    for (int i = 0; i < 20_000; i++) {
      pass(Duration.ofNanos(10_000));
      if (limit.tryTake()) {
        taken++;
      }
    }
    return taken;
  }
}
