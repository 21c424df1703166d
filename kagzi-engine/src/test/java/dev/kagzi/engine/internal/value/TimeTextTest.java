package dev.kagzi.engine.internal.value;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TimeTextTest {

  @ParameterizedTest
  @CsvSource({
    "0, 0 ms",
    "50, 50 ms",
    "3000, 3 s",
    "3500, 3500 ms",
    "90000, 90 s",
    "120000, 2 min",
    "172800000, 48 h",
    "3599987, 1 h"
  })
  void a_duration_is_shown_in_the_largest_unit_that_fits(long ms, String text) {
    assertThat(TimeText.of(ms)).isEqualTo(text);
  }
}
