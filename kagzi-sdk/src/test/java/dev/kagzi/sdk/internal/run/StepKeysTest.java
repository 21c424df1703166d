package dev.kagzi.sdk.internal.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StepKeysTest {

  @Test
  void a_repeated_name_gets_the_number_of_its_occurrence() {
    StepKeys keys = new StepKeys();

    assertThat(Stream.of("charge", "ship", "charge", "charge").map(keys::next))
        .containsExactly("charge", "ship", "charge#2", "charge#3");
  }

  @ParameterizedTest
  @ValueSource(strings = {"a#2", "a/b", "a@1", "", "  ", "a\u0000b", "line\nbreak"})
  void names_that_would_break_a_key_are_rejected(String name) {
    assertThatThrownBy(() -> new StepKeys().next(name))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("step name");
  }

  @Test
  void a_long_name_is_rejected_with_its_length_and_the_limit() {
    assertThatThrownBy(() -> new StepKeys().next("x".repeat(201)))
        .hasMessageContaining("201")
        .hasMessageContaining("200");
    assertThat(new StepKeys().next("x".repeat(200))).hasSize(200);
  }
}
