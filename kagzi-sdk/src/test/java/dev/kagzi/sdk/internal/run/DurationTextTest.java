package dev.kagzi.sdk.internal.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DurationTextTest {

  @ParameterizedTest
  @CsvSource({
    "24h, PT24H",
    "1 day, PT24H",
    "2 Weeks, PT336H",
    "1h 30m, PT1H30M",
    "'1 hour, 30 minutes', PT1H30M",
    "500ms, PT0.5S",
    "500 ms, PT0.5S",
    "1.5 hours, PT1H30M",
    "0s, PT0S",
    "PT15M, PT15M"
  })
  void common_notations_of_durations_are_parsed(String text, Duration expected) {
    assertThat(DurationText.parse(text)).isEqualTo(expected);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        "soon",
        "5",
        "5 parsecs",
        "-1s",
        "1h x",
        "Pfff",
        "99999999999999999999 d"
      })
  void other_texts_are_rejected_with_examples(String text) {
    assertThatThrownBy(() -> DurationText.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("\"" + text + "\"")
        .hasMessageContaining("1 day");
  }
}
