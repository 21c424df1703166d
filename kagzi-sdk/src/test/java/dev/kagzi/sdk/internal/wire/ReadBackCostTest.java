package dev.kagzi.sdk.internal.wire;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.protocol.v1.Payload;
import dev.kagzi.sdk.JacksonCodec;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Measures the cost of decoding a step's result again before the code receives it. Prints CPU time,
 * which other programs on the machine do not change much; docs/performance.md has figures.
 */
class ReadBackCostTest {
  private static final long WARM_UP_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
  private static final long ROUND_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
  private static final int ROUNDS = 8;

  private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
  private final Payloads payloads = new Payloads(new JacksonCodec());

  /** Stored, so that the compiler cannot remove a call. */
  private @Nullable Object last;

  record Line(String item, int cents, boolean inStock) {}

  record Order(String customer, List<Line> lines) {}

  private static Order order(int bytes) {
    List<Line> lines = new ArrayList<>();
    for (int size = 30; size + 50 <= bytes; size += 57) {
      lines.add(new Line("lamp " + (1_000_000 + size), 1_000_000 + size, true));
    }
    return new Order("ada", lines);
  }

  @ParameterizedTest
  @ValueSource(ints = {200, 64 << 10, 1 << 20})
  void a_record_is_read_back_at_about_the_cost_of_writing_it(int bytes) {
    measure("record", order(bytes), Order.class, bytes);
  }

  /**
   * As the steps of {@code ./kagzi bench --scenario W5} have them. A step of W5 takes about 80 us
   * of CPU time; reading back must take less than 3 % of that.
   */
  @Test
  void a_text_is_read_back_at_less_than_three_percent_of_a_step() {
    double readBack = measure("text", "x".repeat(98), String.class, 100);

    assertThat(readBack).as("reading back, in us").isLessThan(2.4);
  }

  /** Returns the microseconds of reading back. */
  private double measure(String what, Object value, Class<?> type, int bytes) {
    Payload payload = payloads.encode(value, type);

    double encode = micros(() -> payloads.encode(value, type));
    double both = micros(() -> payloads.record(value, type));

    System.out.printf(
        "%s of %,d bytes: encode %.2f us, read back %.2f us%n",
        what, payload.getData().size(), encode, both - encode);
    assertThat(payload.getData().size()).isBetween(bytes * 8 / 10, bytes);
    assertThat(payloads.record(value, type).value()).isEqualTo(value).isNotSameAs(value);
    assertThat(both).as("encoding and reading back, in us").isLessThan(50 * encode);
    return both - encode;
  }

  /** Returns the time of the fastest round. */
  private double micros(Supplier<Object> call) {
    repeat(call, WARM_UP_NANOS);
    double best = Double.MAX_VALUE;
    for (int i = 0; i < ROUNDS; i++) {
      best = Math.min(best, repeat(call, ROUND_NANOS));
    }
    return best / 1_000;
  }

  /** Returns the nanoseconds of one call. */
  private double repeat(Supplier<Object> call, long nanos) {
    long began = threads.getCurrentThreadCpuTime();
    long calls = 0;
    long spent;
    do {
      for (int i = 0; i < 10; i++) {
        last = call.get();
      }
      calls += 10;
      spent = threads.getCurrentThreadCpuTime() - began;
    } while (spent < nanos);
    assertThat(last).isNotNull();
    return (double) spent / calls;
  }
}
