package dev.kagzi.sdk.internal.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kagzi.sdk.JacksonCodec;
import dev.kagzi.sdk.PayloadException;
import org.junit.jupiter.api.Test;

class PayloadsTest {
  private final Payloads payloads = new Payloads(new JacksonCodec());

  record Good(String name) {}

  /** Has a getter and no constructor that Jackson could use. */
  public static final class OneWay {
    private final String name;

    OneWay(String name, int number) {
      this.name = name + number;
    }

    public String getName() {
      return name;
    }
  }

  @Test
  void a_value_that_cannot_be_read_back_is_refused_when_it_is_written() {
    for (int i = 0; i < 2; i++) {
      assertThatThrownBy(() -> payloads.encode(new OneWay("a", 1), OneWay.class))
          .isInstanceOf(PayloadException.class)
          .hasMessageContaining("OneWay")
          .hasMessageContaining("can be written but not read back");
    }
  }

  @Test
  void a_value_that_can_be_read_back_is_written() {
    assertThat(payloads.decode(payloads.encode(new Good("a"), Good.class), Good.class))
        .isEqualTo(new Good("a"));
    assertThat(payloads.decode(payloads.encode(null, OneWay.class), OneWay.class)).isNull();
  }
}
