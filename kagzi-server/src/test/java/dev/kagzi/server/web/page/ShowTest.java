package dev.kagzi.server.web.page;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ShowTest {
  private static final Instant NOW = Instant.parse("2026-03-01T12:00:00Z");

  @ParameterizedTest
  @CsvSource({
    "9970, in 9 s",
    "9000, in 9 s",
    "900, now",
    "-1500, 1 s ago",
    "-59900, 59 s ago",
    "-605000, 10 min ago"
  })
  void a_relative_time_has_no_tenths(long ms, String text) {
    assertThat(Show.relative(NOW.plusMillis(ms), NOW)).isEqualTo(text);
  }

  @ParameterizedTest
  @CsvSource({"9970, 9 s", "9900, 9.9 s", "1500, 1.5 s", "12900, 12 s"})
  void a_duration_is_never_rounded_up_to_another_unit(long ms, String text) {
    assertThat(Show.duration(Duration.ofMillis(ms))).isEqualTo(text);
  }

  @ParameterizedTest
  @CsvSource({
    "-5, +0 ms",
    "1500, +1.5 s",
    "65000, +1 min 5 s",
    "605000, +10 min 5 s",
    "3665000, +1 h 1 min 5 s",
    "90065000, +1 d 1 h 1 min 5 s"
  })
  void an_offset_is_exact_to_the_second(long ms, String text) {
    assertThat(Show.offset(NOW, NOW.plusMillis(ms))).isEqualTo(text);
  }
}
