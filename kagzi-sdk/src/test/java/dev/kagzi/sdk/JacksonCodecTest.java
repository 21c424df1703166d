package dev.kagzi.sdk;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import java.lang.reflect.RecordComponent;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
import tools.jackson.core.JsonParser;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.databind.ValueDeserializer;
import tools.jackson.databind.deser.DeserializationProblemHandler;
import tools.jackson.databind.json.JsonMapper;

class JacksonCodecTest {
  record Order(String id, int amount, Instant at) {}

  private final JacksonCodec codec = new JacksonCodec();

  @Test
  void a_record_is_encoded_and_decoded() {
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
  void a_payload_of_another_shape_fails_with_the_expected_type() {
    Encoded text = new Encoded("\"text\"".getBytes(UTF_8), Map.of());

    assertThatThrownBy(() -> codec.decode(text, Order.class))
        .isInstanceOf(PayloadException.class)
        .hasMessageContaining(Order.class.getName());
  }

  @Test
  void a_value_that_is_not_serializable_cannot_be_encoded() {
    Map<String, Object> self = new HashMap<>();
    self.put("self", self);

    assertThatThrownBy(() -> codec.encode(self, Object.class)).isInstanceOf(PayloadException.class);
  }

  /** {@code Map.of} and {@code Set.of} iterate in another order in each process. */
  @Test
  void a_fingerprint_does_not_depend_on_the_order_of_a_map_or_a_set() {
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

  record Item(String name, int quantity) {}

  record Cart(@Nullable String customer, @Nullable Integer discount, @Nullable List<Item> items) {}

  record Primitives(
      boolean bool,
      byte one,
      short two,
      int four,
      long eight,
      float single,
      double twice,
      char letter) {}

  private static final String ALL_PRIMITIVES =
      "{'bool':true,'one':1,'two':2,'four':4,'eight':8,'single':1.5,'twice':2.5,'letter':'x'}";

  private static Encoded json(String text) {
    return new Encoded(text.replace('\'', '"').getBytes(UTF_8), Map.of());
  }

  @Test
  void an_input_that_lacks_a_primitive_of_any_type_is_rejected_with_its_name() {
    assertThat(codec.decodeInput(json(ALL_PRIMITIVES), Primitives.class))
        .isEqualTo(new Primitives(true, (byte) 1, (short) 2, 4, 8, 1.5f, 2.5, 'x'));
    for (RecordComponent component : Primitives.class.getRecordComponents()) {
      String misspelt = ALL_PRIMITIVES.replace("'" + component.getName() + "'", "'other'");

      assertThatThrownBy(() -> codec.decodeInput(json(misspelt), Primitives.class))
          .isInstanceOf(PayloadException.class)
          .hasMessageContaining(
              "field %s (%s) is missing", component.getName(), component.getType().getName())
          .hasMessageContaining("found: ")
          .hasMessageContaining("other")
          .hasMessageContaining(Primitives.class.getName());
      assertThat(codec.decode(json(misspelt), Primitives.class)).as("on record").isNotNull();
    }
  }

  @Test
  void an_input_that_lacks_a_nested_primitive_is_rejected_with_its_path() {
    Encoded cart = json("{'customer':'Ada','items':[{'name':'lamp','count':2}]}");

    assertThatThrownBy(() -> codec.decodeInput(cart, Cart.class))
        .isInstanceOf(PayloadException.class)
        .hasMessageContaining("field items.[].quantity (int) is missing");
    assertThat(codec.decode(cart, Cart.class))
        .isEqualTo(new Cart("Ada", null, List.of(new Item("lamp", 0))));
  }

  @Test
  void an_input_that_lacks_objects_has_null_in_their_place() {
    assertThat(codec.decodeInput(json("{}"), Cart.class)).isEqualTo(new Cart(null, null, null));
  }

  @Test
  void unknown_fields_of_inputs_are_logged_once_per_type() {
    ListAppender<ILoggingEvent> logged = new ListAppender<>();
    Logger logger = (Logger) LoggerFactory.getLogger(InputReader.class);
    logged.start();
    logger.addAppender(logged);
    try {
      for (int i = 0; i < 3; i++) {
        assertThat(codec.decodeInput(json("{'name':'a','quantity':1,'colour':{}}"), Item.class))
            .isEqualTo(new Item("a", 1));
        assertThat(codec.decodeInput(json("{'customer':'a','place':[1]}"), Cart.class))
            .isEqualTo(new Cart("a", null, null));
        assertThat(codec.decode(json("{'name':'a','colour':1}"), Item.class)).isNotNull();
      }
    } finally {
      logger.detachAppender(logged);
    }

    assertThat(logged.list)
        .extracting(ILoggingEvent::getFormattedMessage)
        .hasSize(2)
        .anyMatch(line -> line.contains("$Item") && line.contains("[colour]"))
        .anyMatch(line -> line.contains("$Cart") && line.contains("[place]"));
  }

  @Test
  void a_strict_codec_rejects_unknown_fields_of_inputs_but_not_of_recorded_values() {
    JsonMapper failing =
        JsonMapper.builder().enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES).build();
    Encoded item = json("{'name':'a','quantity':1,'colour':'red'}");
    PayloadCodec chained = codec.strict().then(new GzipTransform());
    Encoded zipped = new GzipTransform().apply(item);

    for (JacksonCodec strict : List.of(codec.strict(), new JacksonCodec(failing))) {
      assertThatThrownBy(() -> strict.decodeInput(item, Item.class))
          .isInstanceOf(PayloadException.class)
          .hasMessageContaining("colour");
      assertThat(strict.decode(item, Item.class)).isEqualTo(new Item("a", 1));
    }
    assertThatThrownBy(() -> chained.decodeInput(zipped, Item.class))
        .isInstanceOf(PayloadException.class)
        .hasMessageContaining("colour");
    assertThat(chained.decode(zipped, Item.class)).isEqualTo(new Item("a", 1));
  }

  @Test
  void a_mapper_that_allows_null_for_primitives_allows_that_they_are_missing() {
    JsonMapper lenient =
        JsonMapper.builder().disable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES).build();

    assertThat(new JacksonCodec(lenient).decodeInput(json("{'name':'a'}"), Item.class))
        .isEqualTo(new Item("a", 0));
  }

  @JsonInclude(JsonInclude.Include.NON_DEFAULT)
  record SparseType(String name, int quantity) {}

  record SparseProperty(
      String name, @JsonInclude(JsonInclude.Include.NON_DEFAULT) int quantity, int cents) {}

  record Hidden(String name, @JsonIgnore int cached) {}

  @JsonIgnoreProperties("cached")
  record HiddenByType(String name, int cached) {}

  record Computed(String name, @JsonProperty(access = JsonProperty.Access.READ_ONLY) int total) {}

  record NotEmpty(@JsonInclude(JsonInclude.Include.NON_EMPTY) int quantity) {}

  @Test
  void a_primitive_that_the_mapper_leaves_out_or_ignores_may_be_missing() {
    JsonMapper sparse =
        JsonMapper.builder()
            .changeDefaultPropertyInclusion(
                each -> each.withValueInclusion(JsonInclude.Include.NON_DEFAULT))
            .build();

    for (Object value :
        List.of(
            new SparseType("a", 0),
            new SparseProperty("a", 0, 1),
            new Hidden("a", 0),
            new HiddenByType("a", 0),
            new Computed("a", 0))) {
      Encoded encoded = codec.encode(value, value.getClass());
      assertThat(codec.decodeInput(encoded, value.getClass())).isEqualTo(value);
    }
    JacksonCodec sparseCodec = new JacksonCodec(sparse);
    Item none = new Item("a", 0);
    assertThat(sparseCodec.decodeInput(sparseCodec.encode(none, Item.class), Item.class))
        .isEqualTo(none);
  }

  @Test
  void a_primitive_beside_one_that_may_be_missing_is_required() {
    assertThatThrownBy(() -> codec.decodeInput(json("{'name':'a'}"), SparseProperty.class))
        .hasMessageContaining("field cents (int) is missing");
    assertThatThrownBy(() -> codec.decodeInput(json("{}"), NotEmpty.class))
        .hasMessageContaining("field quantity (int) is missing");
  }

  record Renamed(@JsonProperty("unit_cents") int cents, int itemCount) {}

  @Test
  void a_primitive_with_another_name_in_json_is_required_by_that_name() {
    JacksonCodec snake =
        new JacksonCodec(
            JsonMapper.builder()
                .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
                .build());

    assertThatThrownBy(() -> snake.decodeInput(json("{'unit_cents':1}"), Renamed.class))
        .hasMessageContaining("field item_count (int) is missing");
    assertThatThrownBy(() -> snake.decodeInput(json("{'item_count':1}"), Renamed.class))
        .hasMessageContaining("field unit_cents (int) is missing");
  }

  /** Reads the former name of a field at any place. */
  private static final class FormerName extends DeserializationProblemHandler {
    private final List<String> handled = new ArrayList<>();

    @Override
    public boolean handleUnknownProperty(
        DeserializationContext context,
        JsonParser parser,
        ValueDeserializer<?> deserializer,
        Object beanOrClass,
        String name) {
      if (!name.equals("colour")) {
        return false;
      }
      handled.add(name);
      parser.skipChildren();
      return true;
    }
  }

  @Test
  void the_applications_handler_sees_unknown_fields_of_inputs_and_of_recorded_values() {
    FormerName handler = new FormerName();
    JacksonCodec own = new JacksonCodec(JsonMapper.builder().addHandler(handler).build());
    Encoded item = json("{'name':'a','quantity':1,'colour':{'red':1},'size':[1]}");
    ListAppender<ILoggingEvent> logged = new ListAppender<>();
    Logger logger = (Logger) LoggerFactory.getLogger(InputReader.class);
    logged.start();
    logger.addAppender(logged);
    try {
      assertThat(own.decodeInput(item, Item.class)).isEqualTo(new Item("a", 1));
      assertThat(handler.handled).containsExactly("colour");
      assertThat(own.decode(item, Item.class)).isEqualTo(new Item("a", 1));
      assertThat(handler.handled).containsExactly("colour", "colour");
    } finally {
      logger.detachAppender(logged);
    }

    assertThat(logged.list)
        .as("only what no handler accepts")
        .singleElement()
        .extracting(ILoggingEvent::getFormattedMessage)
        .asString()
        .contains("[size]");
    assertThatThrownBy(() -> own.strict().decodeInput(item, Item.class))
        .isInstanceOf(PayloadException.class)
        .hasMessageContaining("size");
    assertThat(own.strict().decodeInput(json("{'name':'a','quantity':1,'colour':1}"), Item.class))
        .isEqualTo(new Item("a", 1));
  }
}
