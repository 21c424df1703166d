package dev.kagzi.sdk;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Instant;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class JacksonCodecTest {
  record Order(String id, int amount, Instant at) {}

  private final JacksonCodec codec = new JacksonCodec();

  @Test
  void a_record_comes_back_as_it_was() {
    Order order = new Order("o-1", 3, Instant.parse("2026-01-02T03:04:05Z"));

    Encoded encoded = codec.encode(order, Order.class);

    assertThat(encoded.metadata()).isEmpty();
    assertThat(codec.decode(encoded, Order.class)).isEqualTo(order);
  }

  @Test
  void type_parameters_are_kept() {
    TypeRef<Map<String, List<Order>>> type = new TypeRef<>() {};
    Map<String, List<Order>> value = Map.of("a", List.of(new Order("o", 1, Instant.EPOCH)));

    assertThat(codec.decode(codec.encode(value, type.type()), type.type())).isEqualTo(value);
  }

  @Test
  void null_and_no_bytes_at_all_are_null() {
    assertThat(codec.decode(codec.encode(null, Order.class), Order.class)).isNull();
    assertThat(codec.decode(new Encoded(new byte[0], Map.of()), Order.class)).isNull();
    assertThat(codec.decode(codec.encode(null, Void.class), Void.class)).isNull();
  }

  @Test
  void a_payload_of_another_shape_says_what_was_expected() {
    Encoded text = new Encoded("\"text\"".getBytes(UTF_8), Map.of());

    assertThatThrownBy(() -> codec.decode(text, Order.class))
        .isInstanceOf(PayloadException.class)
        .hasMessageContaining(Order.class.getName());
  }

  @Test
  void a_value_that_is_no_data_cannot_be_encoded() {
    Map<String, Object> self = new HashMap<>();
    self.put("self", self);

    assertThatThrownBy(() -> codec.encode(self, Object.class)).isInstanceOf(PayloadException.class);
  }

  /** {@code Map.of} and {@code Set.of} have another order in each process. */
  @Test
  void a_fingerprint_is_the_same_whatever_the_order_of_a_map_or_a_set() {
    Map<String, Object> one = new LinkedHashMap<>();
    one.put("a", new LinkedHashSet<>(List.of(1, 2)));
    one.put("b", "x");
    Map<String, Object> other = new LinkedHashMap<>();
    other.put("b", "x");
    other.put("a", new LinkedHashSet<>(List.of(2, 1)));

    assertThat(codec.fingerprint(one, Map.class)).isEqualTo(codec.fingerprint(other, Map.class));
    assertThat(codec.fingerprint(List.of(1, 2), List.class))
        .isNotEqualTo(codec.fingerprint(List.of(2, 1), List.class));
    assertThat(codec.fingerprint(Set.of(new Order("o", 1, Instant.EPOCH)), Set.class))
        .as("of what cannot be compared")
        .isNotEmpty();
  }
}
