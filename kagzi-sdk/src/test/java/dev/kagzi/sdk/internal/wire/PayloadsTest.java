package dev.kagzi.sdk.internal.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kagzi.sdk.JacksonCodec;
import dev.kagzi.sdk.PayloadException;
import java.util.ArrayList;
import java.util.List;
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
          .isInstanceOfSatisfying(
              PayloadException.class, e -> assertThat(e.code()).isEqualTo("PAYLOAD_UNWRITABLE"))
          .hasMessageContaining("OneWay")
          .hasMessageContaining("can be written but not read back");
    }
  }

  /** The value is only displayed, or decoded as a type that its reader chooses. */
  @Test
  void a_value_that_is_not_decoded_as_its_own_class_may_be_a_view_of_a_collection() {
    List<String> view = new ArrayList<>(List.of("a", "b", "c")).subList(0, 2);

    assertThat(payloads.encodeAny(view).getData().toStringUtf8()).isEqualTo("[\"a\",\"b\"]");
    assertThat(payloads.decode(payloads.encodeAny(view), List.class)).isEqualTo(view);
  }

  @Test
  void a_value_that_can_be_read_back_is_written() {
    assertThat(payloads.decode(payloads.encode(new Good("a"), Good.class), Good.class))
        .isEqualTo(new Good("a"));
    assertThat(payloads.decode(payloads.encode(null, OneWay.class), OneWay.class)).isNull();
  }
}
