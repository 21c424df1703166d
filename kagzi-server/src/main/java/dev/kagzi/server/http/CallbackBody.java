package dev.kagzi.server.http;

import dev.kagzi.engine.value.CallbackAnswer;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.Refusal;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.json.JsonFactory;

/** Reads the body of a request that answers a callback. */
final class CallbackBody {
  private static final JsonFactory FACTORY = new JsonFactory();
  private static final int MESSAGE_LENGTH_MAX = 4_000;
  private static final int TYPE_LENGTH_MAX = 200;

  private CallbackBody() {}

  /** The body is the value: JSON, but not null. */
  static CallbackAnswer completed(byte[] body) {
    String text = text(body);
    if (text == null || !isValue(text)) {
      throw Refusal.invalid(
          "body",
          body.length == 0 ? "empty" : "not a JSON value",
          "JSON other than null, such as 42, \"text\" or {\"a\": 1}");
    }
    return new CallbackAnswer.Completed(new Payload(body, Map.of()));
  }

  /** The body is a JSON object with a message and perhaps a type, or else the message itself. */
  static CallbackAnswer failed(byte[] body) {
    String text = text(body);
    if (text == null) {
      throw Refusal.invalid("body", "not UTF-8", "JSON or text in UTF-8");
    }
    String message = text.strip();
    String type = "";
    Map<String, String> fields = fields(text);
    if (fields != null) {
      message = fields.getOrDefault("message", message);
      type = fields.getOrDefault("type", "");
    }
    return new CallbackAnswer.Failed(
        message.isEmpty() ? "no message" : storable(message, MESSAGE_LENGTH_MAX),
        storable(type, TYPE_LENGTH_MAX));
  }

  /** Cuts the text, and replaces what cannot be stored: U+0000 and unpaired surrogates. */
  private static String storable(String text, int lengthMax) {
    byte[] bytes = cut(text, lengthMax).replace('\0', ' ').getBytes(StandardCharsets.UTF_8);
    return new String(bytes, StandardCharsets.UTF_8);
  }

  // Never cuts within a surrogate pair: half of one cannot be stored.
  private static String cut(String text, int lengthMax) {
    if (text.length() <= lengthMax) {
      return text;
    }
    int end = Character.isHighSurrogate(text.charAt(lengthMax - 1)) ? lengthMax - 1 : lengthMax;
    return text.substring(0, end);
  }

  private static @Nullable String text(byte[] body) {
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(body)).toString();
    } catch (CharacterCodingException e) {
      return null;
    }
  }

  private static boolean isValue(String text) {
    try (JsonParser parser = FACTORY.createParser(ObjectReadContext.empty(), text)) {
      JsonToken first = parser.nextToken();
      if (first == null || first == JsonToken.VALUE_NULL) {
        return false;
      }
      parser.skipChildren();
      return parser.nextToken() == null;
    } catch (JacksonException notJson) {
      return false;
    }
  }

  /** Returns the string members of a JSON object by name; null if it is no JSON object. */
  private static @Nullable Map<String, String> fields(String text) {
    try (JsonParser parser = FACTORY.createParser(ObjectReadContext.empty(), text)) {
      if (parser.nextToken() != JsonToken.START_OBJECT) {
        return null;
      }
      Map<String, String> fields = new java.util.HashMap<>();
      while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
        String name = parser.currentName();
        if (parser.nextToken() == JsonToken.VALUE_STRING) {
          fields.put(name, parser.getString());
        } else {
          parser.skipChildren();
        }
      }
      return fields;
    } catch (JacksonException notJson) {
      return null;
    }
  }
}
