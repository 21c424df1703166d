package dev.kagzi.sdk.internal.worker;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class BlockedRunsTest {

  @Test
  void the_delay_of_a_blocked_run_doubles_up_to_five_minutes() {
    BlockedRuns blocked = new BlockedRuns();

    assertThat(Stream.generate(() -> blocked.nextDelayMs("run")).limit(11))
        .containsExactly(
            1_000L, 2_000L, 4_000L, 8_000L, 16_000L, 32_000L, 64_000L, 128_000L, 256_000L, 300_000L,
            300_000L);
    assertThat(blocked.nextDelayMs("another")).isEqualTo(1_000);
  }
}
