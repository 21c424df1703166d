package dev.kagzi.engine.internal.value;

import dev.kagzi.engine.value.ErrorCode;
import dev.kagzi.engine.value.Failure;
import dev.kagzi.engine.value.Refusal;
import java.io.StringWriter;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.TokenStreamFactory;
import tools.jackson.core.json.JsonFactory;

/**
 * Converts the engine's own values to and from {@code jsonb} columns. Payloads of users are never
 * parsed. Thread-safe.
 *
 * <p>An absent member gets its default and an unknown one is skipped, because servers of two
 * versions share the rows during an upgrade.
 */
public final class Json {
  // Stored values of any size must be readable. Names come from users, so a table of canonical
  // names would only grow.
  private static final JsonFactory FACTORY =
      JsonFactory.builder()
          .disable(TokenStreamFactory.Feature.CANONICALIZE_PROPERTY_NAMES)
          .streamReadConstraints(
              StreamReadConstraints.builder()
                  .maxNameLength(Integer.MAX_VALUE)
                  .maxStringLength(Integer.MAX_VALUE)
                  .build())
          .build();

  // Most metadata is equal, so small maps are cached. A slot is overwritten without a lock: a
  // racing reader sees the old or the new immutable entry.
  private static final int SLOTS = 256;
  private static final int CACHED_MAP_SIZE_MAX = 4;
  private static final int CACHED_LENGTH_MAX = 256;
  private static final @Nullable Entry[] ENCODED = new @Nullable Entry[SLOTS];
  private static final @Nullable Entry[] DECODED = new @Nullable Entry[SLOTS];

  private record Entry(Map<String, String> map, String json) {}

  private Json() {}

  /** Null for an empty map: the column stays null. */
  public static @Nullable String encode(Map<String, String> map) {
    if (map.isEmpty()) {
      return null;
    }
    if (map.size() > CACHED_MAP_SIZE_MAX) {
      return write(map);
    }
    int slot = slot(map.hashCode());
    Entry hit = ENCODED[slot];
    if (hit != null && hit.map.equals(map)) {
      return hit.json;
    }
    String json = write(map);
    if (json.length() <= CACHED_LENGTH_MAX) {
      ENCODED[slot] = new Entry(Map.copyOf(map), json);
    }
    return json;
  }

  /** An empty map for null. */
  public static Map<String, String> decode(@Nullable String json) {
    if (json == null) {
      return Map.of();
    }
    if (json.length() > CACHED_LENGTH_MAX) {
      return read(json);
    }
    int slot = slot(json.hashCode());
    Entry hit = DECODED[slot];
    if (hit != null && hit.json.equals(json)) {
      return hit.map;
    }
    Map<String, String> map = read(json);
    DECODED[slot] = new Entry(map, json);
    return map;
  }

  /**
   * Reads texts that an application has written as JSON.
   *
   * @throws Refusal if it is not an object, or if a member is not a string, a number or a boolean
   */
  public static Map<String, String> decodeTexts(String field, @Nullable String json) {
    if (json == null) {
      return Map.of();
    }
    Map<String, String> map = new HashMap<>();
    members(
        checkObject(field, json),
        (name, parser) -> {
          JsonToken value = parser.currentToken();
          if (value == null || !value.isScalarValue() || value == JsonToken.VALUE_NULL) {
            throw Refusal.invalid(field + "[" + Refusal.shorten(name) + "]", kind(value), "a text");
          }
          map.put(name, parser.getString());
        });
    return Map.copyOf(map);
  }

  /**
   * Checks JSON that an application has written; returns it.
   *
   * @throws Refusal if it is not an object
   */
  public static String checkObject(String field, String json) {
    try (JsonParser parser = FACTORY.createParser(ObjectReadContext.empty(), json)) {
      JsonToken first = parser.nextToken();
      if (first != JsonToken.START_OBJECT) {
        throw Refusal.invalid(field, kind(first), "a JSON object");
      }
      return json;
    } catch (JacksonException e) {
      throw unreadable(json, e);
    }
  }

  private static String kind(@Nullable JsonToken token) {
    return switch (token) {
      case START_OBJECT -> "an object";
      case START_ARRAY -> "an array";
      case VALUE_STRING -> "a text";
      case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> "a number";
      case VALUE_TRUE, VALUE_FALSE -> "a truth value";
      case VALUE_NULL -> "null";
      case null, default -> "no JSON";
    };
  }

  /** Like {@link #encode(Map)}, for maps that differ from run to run and would fill the cache. */
  public static @Nullable String encodeUncached(Map<String, String> map) {
    return map.isEmpty() ? null : write(map);
  }

  /** Like {@link #decode}, for maps that differ from run to run. */
  public static Map<String, String> decodeUncached(@Nullable String json) {
    return json == null ? Map.of() : read(json);
  }

  public static @Nullable String encodeCounts(Map<String, Integer> counts) {
    return counts.isEmpty()
        ? null
        : object(json -> counts.forEach((name, count) -> json.writeNumberProperty(name, count)));
  }

  public static Map<String, Integer> decodeCounts(@Nullable String json) {
    if (json == null) {
      return Map.of();
    }
    Map<String, Integer> counts = new LinkedHashMap<>();
    members(json, (name, parser) -> counts.put(name, parser.getIntValue()));
    return Map.copyOf(counts);
  }

  public static String encode(Failure failure) {
    return object(
        json -> {
          if (failure.code() != ErrorCode.UNSPECIFIED) {
            json.writeStringProperty("code", failure.code().name());
          }
          writeUnlessEmpty(json, "message", failure.message());
          if (failure.nonRetryable()) {
            json.writeBooleanProperty("non_retryable", true);
          }
          if (failure.retryAfterMs() != 0) {
            json.writeNumberProperty("retry_after_ms", failure.retryAfterMs());
          }
          writeUnlessEmpty(json, "subject", failure.subject());
          writeUnlessEmpty(json, "subject_id", failure.subjectId());
          if (!failure.metadata().isEmpty()) {
            json.writeObjectPropertyStart("metadata");
            failure.metadata().forEach(json::writeStringProperty);
            json.writeEndObject();
          }
        });
  }

  public static Failure decodeFailure(String json) {
    FailureReader reader = new FailureReader();
    members(json, reader);
    return reader.failure();
  }

  private static final class FailureReader implements Member {
    private ErrorCode code = ErrorCode.UNSPECIFIED;
    private String message = "";
    private boolean nonRetryable;
    private long retryAfterMs;
    private String subject = "";
    private String subjectId = "";
    private Map<String, String> metadata = Map.of();

    @Override
    public void read(String name, JsonParser parser) {
      switch (name) {
        case "code" -> code = code(parser.getString());
        case "message" -> message = parser.getString();
        case "non_retryable" -> nonRetryable = parser.getBooleanValue();
        case "retry_after_ms" -> retryAfterMs = parser.getLongValue();
        case "subject" -> subject = parser.getString();
        case "subject_id" -> subjectId = parser.getString();
        case "metadata" -> metadata = texts(parser);
        default -> parser.skipChildren();
      }
    }

    private static ErrorCode code(String name) {
      for (ErrorCode code : ErrorCode.values()) {
        if (code.name().equals(name)) {
          return code;
        }
      }
      return ErrorCode.UNSPECIFIED;
    }

    Failure failure() {
      return new Failure(code, message, nonRetryable, retryAfterMs, subject, subjectId, metadata);
    }
  }

  // A generator costs more than the text of a trace context, which most headers are.
  private static String write(Map<String, String> map) {
    StringBuilder plain = new StringBuilder(128).append('{');
    for (Map.Entry<String, String> each : map.entrySet()) {
      if (!isPlain(each.getKey()) || !isPlain(each.getValue())) {
        return object(json -> map.forEach(json::writeStringProperty));
      }
      plain.append(plain.length() == 1 ? "\"" : ",\"");
      plain.append(each.getKey()).append("\":\"").append(each.getValue()).append('"');
    }
    return plain.append('}').toString();
  }

  /** Whether the text is printable ASCII that JSON writes without an escape. */
  private static boolean isPlain(String text) {
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c < ' ' || c > '~' || c == '"' || c == '\\') {
        return false;
      }
    }
    return true;
  }

  private static Map<String, String> read(String json) {
    try (JsonParser parser = FACTORY.createParser(ObjectReadContext.empty(), json)) {
      parser.nextToken();
      return texts(parser);
    } catch (JacksonException e) {
      throw unreadable(json, e);
    }
  }

  private static Map<String, String> texts(JsonParser parser) {
    Map<String, String> map = new HashMap<>();
    while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
      String name = parser.currentName();
      parser.nextToken();
      map.put(name, parser.getString());
    }
    return Map.copyOf(map);
  }

  private static void writeUnlessEmpty(JsonGenerator json, String name, String value) {
    if (!value.isEmpty()) {
      json.writeStringProperty(name, value);
    }
  }

  private static int slot(int hash) {
    return (hash ^ (hash >>> 16)) & (SLOTS - 1);
  }

  @FunctionalInterface
  public interface Members {
    /** Writes members into an open object, which the caller closes. */
    void write(JsonGenerator json);
  }

  @FunctionalInterface
  public interface Member {
    /** Called with the parser on the value; must leave it on the value's last token. */
    void read(String name, JsonParser parser);
  }

  public static String object(Members members) {
    StringWriter text = new StringWriter(128);
    try (JsonGenerator json = FACTORY.createGenerator(ObjectWriteContext.empty(), text)) {
      json.writeStartObject();
      members.write(json);
      json.writeEndObject();
    }
    return text.toString();
  }

  public static void members(String json, Member reader) {
    try (JsonParser parser = FACTORY.createParser(ObjectReadContext.empty(), json)) {
      parser.nextToken();
      while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
        String name = parser.currentName();
        parser.nextToken();
        reader.read(name, parser);
      }
    } catch (JacksonException e) {
      throw unreadable(json, e);
    }
  }

  private static IllegalStateException unreadable(String json, JacksonException cause) {
    return new IllegalStateException(
        "stored json: " + Refusal.shorten(json) + " (expected: what this engine writes)", cause);
  }
}
