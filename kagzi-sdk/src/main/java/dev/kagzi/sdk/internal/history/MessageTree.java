package dev.kagzi.sdk.internal.history;

import com.google.protobuf.ByteString;
import com.google.protobuf.Descriptors.EnumDescriptor;
import com.google.protobuf.Descriptors.EnumValueDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor.JavaType;
import com.google.protobuf.MapEntry;
import com.google.protobuf.Message;
import com.google.protobuf.Timestamp;
import dev.kagzi.protocol.v1.Payload;
import dev.kagzi.sdk.internal.wire.ProtoMapper;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.cfg.JsonNodeFeature;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Converts protobuf messages to JSON and back without loss: names in lowerCamelCase, times in RFC
 * 3339, enum constants without their prefix. A payload that is JSON is embedded as JSON if that
 * restores the same bytes, and as base64 if not. Unknown names are ignored, so that fields can be
 * added later.
 */
final class MessageTree {
  static final JsonMapper MAPPER =
      JsonMapper.builder()
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
          .disable(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES)
          .build();

  private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

  private MessageTree() {}

  static ObjectNode write(Message message, Set<String> without) {
    ObjectNode json = NODES.objectNode();
    for (FieldDescriptor field : message.getDescriptorForType().getFields()) {
      boolean isThere =
          field.isRepeated()
              ? message.getRepeatedFieldCount(field) > 0
              : message.hasField(field) && !isEmptyPayload(message.getField(field));
      if (isThere && !without.contains(field.getName())) {
        json.set(field.getJsonName(), value(field, message.getField(field)));
      }
    }
    return json;
  }

  private static boolean isEmptyPayload(Object value) {
    return value instanceof Payload payload && payload.equals(Payload.getDefaultInstance());
  }

  private static JsonNode value(FieldDescriptor field, Object value) {
    if (field.isMapField()) {
      Map<String, String> sorted = new TreeMap<>();
      for (Object entry : (List<?>) value) {
        MapEntry<?, ?> pair = (MapEntry<?, ?>) entry;
        sorted.put(String.valueOf(pair.getKey()), String.valueOf(pair.getValue()));
      }
      ObjectNode json = NODES.objectNode();
      sorted.forEach(json::put);
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
      case Timestamp time -> NODES.stringNode(ProtoMapper.instant(time).toString());
      case Payload payload -> payload(payload);
      case Message message -> write(message, Set.of());
      case EnumValueDescriptor constant ->
          NODES.stringNode(constant.getName().substring(prefix(constant.getType()).length()));
      case Boolean truth -> NODES.booleanNode(truth);
      case Integer number -> NODES.numberNode(number);
      case Long number -> NODES.numberNode(number);
      case Double number -> NODES.numberNode(number);
      default -> NODES.stringNode(String.valueOf(value));
    };
  }

  private static ObjectNode payload(Payload payload) {
    ObjectNode json = NODES.objectNode();
    byte[] data = payload.getData().toByteArray();
    JsonNode tree = asJson(data);
    if (tree != null) {
      json.set("json", tree);
    } else {
      json.put("data", Base64.getEncoder().encodeToString(data));
    }
    if (payload.getMetadataCount() > 0) {
      ObjectNode metadata = json.putObject("metadata");
      new TreeMap<>(payload.getMetadataMap()).forEach(metadata::put);
    }
    return json;
  }

  /** Returns null if the data is not JSON, or would be restored with other bytes. */
  private static @Nullable JsonNode asJson(byte[] data) {
    if (data.length == 0) {
      return null;
    }
    try {
      JsonNode tree = MAPPER.readTree(data);
      return Arrays.equals(MAPPER.writeValueAsBytes(tree), data) ? tree : null;
    } catch (JacksonException e) {
      return null;
    }
  }

  /** For example WORKFLOW_STATUS_ for WorkflowStatus. */
  private static String prefix(EnumDescriptor type) {
    return type.getName().replaceAll("(?<=[a-z])(?=[A-Z])", "_").toUpperCase(Locale.ROOT) + "_";
  }

  /**
   * Reads the fields of a message from a JSON object.
   *
   * @param place the position in the document, for error messages
   */
  static void read(JsonNode json, Message.Builder message, String place) {
    if (!json.isObject()) {
      throw HistoryFile.unreadable(place + ": " + kind(json) + " (expected: an object)");
    }
    for (FieldDescriptor field : message.getDescriptorForType().getFields()) {
      JsonNode value = json.get(field.getJsonName());
      if (value != null && !value.isNull()) {
        readField(value, field, message, place + "." + field.getJsonName());
      }
    }
  }

  private static void readField(
      JsonNode json, FieldDescriptor field, Message.Builder message, String place) {
    if (field.isMapField()) {
      FieldDescriptor key = field.getMessageType().findFieldByName("key");
      FieldDescriptor value = field.getMessageType().findFieldByName("value");
      for (Map.Entry<String, JsonNode> each : json.properties()) {
        message.addRepeatedField(
            field,
            message
                .newBuilderForField(field)
                .setField(key, each.getKey())
                .setField(value, text(each.getValue(), place))
                .build());
      }
    } else if (field.isRepeated()) {
      for (JsonNode each : json) {
        message.addRepeatedField(field, readOne(each, field, message, place));
      }
    } else {
      message.setField(field, readOne(json, field, message, place));
    }
  }

  private static Object readOne(
      JsonNode json, FieldDescriptor field, Message.Builder message, String place) {
    if (field.getJavaType() == JavaType.MESSAGE) {
      String type = field.getMessageType().getFullName();
      if (type.equals(Timestamp.getDescriptor().getFullName())) {
        return time(json, place);
      }
      if (type.equals(Payload.getDescriptor().getFullName())) {
        return readPayload(json, place);
      }
      Message.Builder inner = message.newBuilderForField(field);
      read(json, inner, place);
      return inner.build();
    }
    return switch (field.getJavaType()) {
      case ENUM -> constant(json, field.getEnumType(), place);
      case STRING -> text(json, place);
      case BOOLEAN -> {
        require(json.isBoolean(), json, "true or false", place);
        yield json.asBoolean();
      }
      case INT -> {
        require(json.canConvertToInt(), json, "a number", place);
        yield json.asInt();
      }
      case LONG -> {
        require(json.canConvertToLong(), json, "a number", place);
        yield json.asLong();
      }
      case DOUBLE -> {
        require(json.isNumber(), json, "a number", place);
        yield json.asDouble();
      }
      case FLOAT, BYTE_STRING, MESSAGE ->
          throw new IllegalStateException(place + ": " + field.getJavaType() + " (expected: none)");
    };
  }

  private static String text(JsonNode json, String place) {
    require(json.isString(), json, "a text", place);
    return json.asString();
  }

  private static Timestamp time(JsonNode json, String place) {
    String text = text(json, place);
    try {
      return ProtoMapper.timestamp(Instant.parse(text));
    } catch (DateTimeParseException e) {
      throw HistoryFile.unreadable(
          "%s: %s (expected: a time such as 2026-03-01T12:00:00Z)".formatted(place, text));
    }
  }

  private static EnumValueDescriptor constant(JsonNode json, EnumDescriptor type, String place) {
    String text = text(json, place);
    EnumValueDescriptor constant = type.findValueByName(prefix(type) + text);
    if (constant == null) {
      throw HistoryFile.unreadable(
          "%s: %s (expected: one of %s)"
              .formatted(
                  place,
                  text,
                  type.getValues().stream()
                      .map(each -> each.getName().substring(prefix(type).length()))
                      .toList()));
    }
    return constant;
  }

  private static Payload readPayload(JsonNode json, String place) {
    Payload.Builder payload = Payload.newBuilder();
    JsonNode tree = json.get("json");
    if (tree != null) {
      payload.setData(ByteString.copyFrom(MAPPER.writeValueAsBytes(tree)));
    } else {
      payload.setData(ByteString.copyFrom(bytes(json.path("data").asString(""), place)));
    }
    json.path("metadata")
        .properties()
        .forEach(each -> payload.putMetadata(each.getKey(), text(each.getValue(), place)));
    return payload.build();
  }

  private static byte[] bytes(String base64, String place) {
    try {
      return Base64.getDecoder().decode(base64);
    } catch (IllegalArgumentException e) {
      throw HistoryFile.unreadable(place + ".data: no base64 (expected: \"json\", or base64)");
    }
  }

  private static void require(boolean holds, JsonNode json, String expected, String place) {
    if (!holds) {
      throw HistoryFile.unreadable("%s: %s (expected: %s)".formatted(place, kind(json), expected));
    }
  }

  private static String kind(JsonNode json) {
    return json.getNodeType().name().toLowerCase(Locale.ROOT);
  }
}
