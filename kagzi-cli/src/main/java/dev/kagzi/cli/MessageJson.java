package dev.kagzi.cli;

import com.google.protobuf.Descriptors.EnumValueDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor.JavaType;
import com.google.protobuf.MapEntry;
import com.google.protobuf.Message;
import com.google.protobuf.Timestamp;
import dev.kagzi.protocol.v1.Payload;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.ObjectReader;
import tools.jackson.databind.cfg.JsonNodeFeature;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Formats messages as JSON: field names in lowerCamelCase, times as text, enum values without
 * prefix, JSON payloads as JSON. Empty values are omitted, except for booleans, counts and lists of
 * objects, so that "no failures" is visible.
 */
final class MessageJson {

  private static final JsonMapper MAPPER = JsonMapper.builder().build();
  // Keeps all digits of numbers, which may be amounts of money.
  private static final ObjectReader STRICT =
      MAPPER
          .reader()
          .with(
              DeserializationFeature.FAIL_ON_TRAILING_TOKENS,
              DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
          .without(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES);
  // Fields in which zero means "none".
  private static final Set<String> ZERO_IS_NONE =
      Set.of(
          "max_tasks",
          "clean_up_ms",
          "max_concurrent",
          "next_attempt",
          "timeout_ms",
          "pid",
          "execution_timeout_ms",
          "step_timeout_ms",
          "jitter_ms",
          "retry_after_ms",
          "maximum_attempts",
          "initial_interval_ms",
          "backoff_coefficient",
          "maximum_interval_ms");
  private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

  private MessageJson() {}

  static String text(JsonNode node) {
    return MAPPER.writerWithDefaultPrettyPrinter().writeValueAsString(node);
  }

  static ObjectNode empty() {
    return NODES.objectNode();
  }

  static ObjectNode of(Message message) {
    ObjectNode json = NODES.objectNode();
    for (FieldDescriptor field : message.getDescriptorForType().getFields()) {
      if (isShown(message, field)) {
        json.set(field.getJsonName(), value(field, message.getField(field)));
      }
    }
    return json;
  }

  private static boolean isShown(Message message, FieldDescriptor field) {
    if (field.isRepeated()) {
      boolean isList = field.getJavaType() == JavaType.MESSAGE && !field.isMapField();
      return isList || message.getRepeatedFieldCount(field) > 0;
    }
    return message.hasField(field) || isShownWhenEmpty(field);
  }

  static boolean isShownWhenEmpty(FieldDescriptor field) {
    if (field.hasPresence()) {
      return false;
    }
    return switch (field.getJavaType()) {
      case BOOLEAN -> true;
      case INT, LONG, DOUBLE, FLOAT -> !ZERO_IS_NONE.contains(field.getName());
      case STRING, BYTE_STRING, ENUM, MESSAGE -> false;
    };
  }

  private static JsonNode value(FieldDescriptor field, Object value) {
    if (field.isMapField()) {
      ObjectNode json = NODES.objectNode();
      for (Object entry : (List<?>) value) {
        MapEntry<?, ?> pair = (MapEntry<?, ?>) entry;
        json.set(String.valueOf(pair.getKey()), one(pair.getValue()));
      }
      return json;
    }
    if (field.isRepeated()) {
      ArrayNode json = NODES.arrayNode();
      ((List<?>) value).forEach(each -> json.add(one(each)));
      return json;
    }
    return one(value);
  }

  private static JsonNode one(Object value) {
    return switch (value) {
      case Timestamp time -> NODES.stringNode(instant(time).toString());
      case Payload payload -> payload(payload);
      case Message message -> of(message);
      case EnumValueDescriptor constant -> NODES.stringNode(name(constant));
      case Boolean truth -> NODES.booleanNode(truth);
      case Integer number -> NODES.numberNode(number);
      case Long number -> NODES.numberNode(number);
      case Double number -> NODES.numberNode(number);
      default -> NODES.stringNode(String.valueOf(value));
    };
  }

  static Instant instant(Timestamp time) {
    return Instant.ofEpochSecond(time.getSeconds(), time.getNanos());
  }

  /** Whether these bytes are exactly one JSON value. */
  static boolean isJson(byte[] bytes) {
    try {
      return !STRICT.readTree(bytes).isMissingNode();
    } catch (JacksonException e) {
      return false;
    }
  }

  /** Returns a JSON payload as it is, any other as base64. */
  static JsonNode payload(Payload payload) {
    byte[] data = payload.getData().toByteArray();
    if (data.length == 0) {
      return NODES.nullNode();
    }
    try {
      return STRICT.readTree(data);
    } catch (JacksonException e) {
      return NODES.binaryNode(data);
    }
  }

  /** Returns FAILED for WORKFLOW_STATUS_FAILED. */
  private static String name(EnumValueDescriptor constant) {
    String prefix = constant.getType().getName().replaceAll("(?<=[a-z])(?=[A-Z])", "_") + "_";
    String name = constant.getName();
    return name.startsWith(prefix.toUpperCase(Locale.ROOT))
        ? name.substring(prefix.length())
        : name;
  }
}
