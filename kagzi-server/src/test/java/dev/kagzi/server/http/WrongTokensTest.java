package dev.kagzi.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class WrongTokensTest {
  private Instant now = Instant.parse("2026-01-01T00:00:10Z");
  private final WrongTokens tokens = new WrongTokens(() -> now);

  @Test
  void each_further_wrong_token_of_an_address_waits_longer() {
    List<Duration> delays = new ArrayList<>();
    for (int i = 0; i < WrongTokens.FREE_PER_MINUTE + 8; i++) {
      delays.add(tokens.delay("a"));
    }

    assertThat(delays.subList(0, WrongTokens.FREE_PER_MINUTE)).containsOnly(Duration.ZERO);
    assertThat(delays.subList(WrongTokens.FREE_PER_MINUTE, delays.size()))
        .extracting(Duration::toMillis)
        .containsExactly(100L, 200L, 400L, 800L, 1_600L, 3_200L, 5_000L, 5_000L);
    assertThat(tokens.delay("b")).as("another address").isZero();
    now = now.plusSeconds(60);
    assertThat(tokens.delay("a")).as("the next minute").isZero();
  }

  @Test
  void only_so_many_addresses_and_delayed_answers_are_kept() {
    for (int i = 0; i < WrongTokens.ADDRESSES_MAX + 100; i++) {
      tokens.delay("address " + i);
    }
    assertThat(tokens.addresses()).isEqualTo(WrongTokens.ADDRESSES_MAX);

    for (int i = 0; i < WrongTokens.DELAYED_MAX; i++) {
      assertThat(tokens.mayDelay()).isTrue();
    }
    assertThat(tokens.mayDelay()).isFalse();
    tokens.answered();
    assertThat(tokens.mayDelay()).isTrue();
  }
}
