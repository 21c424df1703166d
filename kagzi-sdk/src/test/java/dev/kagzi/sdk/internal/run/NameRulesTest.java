package dev.kagzi.sdk.internal.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.kagzi.sdk.InvalidArgumentException;
import dev.kagzi.sdk.Signal;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NameRulesTest {
  @ParameterizedTest
  @ValueSource(strings = {"approval#2", "order/approval", "ann@shop"})
  void a_signal_that_no_code_could_receive_is_refused(String name) {
    assertThatExceptionOfType(InvalidArgumentException.class)
        .isThrownBy(() -> Signal.of(name, String.class))
        .withMessageContaining("signal: \"" + name + "\" contains '")
        .withMessageContaining("(expected: none of # / @)");
  }

  @Test
  void a_signal_may_have_any_name_of_a_step() {
    assertThat(Signal.of("approval: first (of 2)", String.class).name())
        .isEqualTo("approval: first (of 2)");
  }
}
