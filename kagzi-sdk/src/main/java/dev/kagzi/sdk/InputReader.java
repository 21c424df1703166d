package dev.kagzi.sdk;

import dev.kagzi.sdk.internal.log.EventLog;
import dev.kagzi.sdk.internal.log.LogContext;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.ObjectReader;
import tools.jackson.databind.ValueDeserializer;
import tools.jackson.databind.deser.DeserializationProblemHandler;
import tools.jackson.databind.exc.MismatchedInputException;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.util.LinkedNode;

/**
 * Decodes inputs of runs that have not begun. Rejects an input without a value for a primitive
 * component of a record. Logs or rejects fields that the type does not have. Thread-safe.
 */
final class InputReader {
  private static final EventLog log = EventLog.of(InputReader.class);
  private static final String UNKNOWN_FIELDS = "kagzi-unknown-fields";

  private final JsonMapper mapper;
  private final Map<Type, ObjectReader> readers = new ConcurrentHashMap<>();
  private final Set<Type> warned = ConcurrentHashMap.newKeySet();

  InputReader(JsonMapper application, boolean strict) {
    JsonMapper.Builder builder = MissingPrimitives.rejected(application);
    if (strict) {
      builder.enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES);
    } else {
      addLastHandler(builder, new UnknownFields());
    }
    this.mapper = builder.build();
  }

  /** Adds a handler that Jackson calls only if no handler of the application accepts. */
  private static void addLastHandler(
      JsonMapper.Builder builder, DeserializationProblemHandler last) {
    List<DeserializationProblemHandler> handlers = new ArrayList<>();
    for (LinkedNode<DeserializationProblemHandler> node = builder.deserializationProblemHandlers();
        node != null;
        node = node.next()) {
      handlers.add(node.value());
    }
    // The builder puts each new handler before the others.
    builder.clearProblemHandlers().addHandler(last);
    handlers.reversed().forEach(builder::addHandler);
  }

  @Nullable Object read(byte[] data, Type type) {
    Set<String> unknown = new TreeSet<>();
    Object value =
        readers
            .computeIfAbsent(type, each -> mapper.readerFor(mapper.constructType(each)))
            .withAttribute(UNKNOWN_FIELDS, unknown)
            .readValue(data);
    if (!unknown.isEmpty() && warned.add(type)) {
      log.warn(
              "an input has fields that its type does not know, they are ignored; if a name is"
                  + " wrong, correct it where runs are started")
          .about(LogContext.currentRun())
          .with("input", type.getTypeName())
          .with("fields", unknown)
          .write();
    }
    return value;
  }

  String reason(byte[] data, JacksonException error) {
    if (!(error instanceof MismatchedInputException mismatch)
        || !mismatch.getOriginalMessage().startsWith(MissingPrimitives.MESSAGE)
        || mismatch.getPath().isEmpty()) {
      return error.getOriginalMessage();
    }
    String path =
        mismatch.getPath().stream()
            .map(each -> each.getPropertyName() == null ? "[]" : each.getPropertyName())
            .collect(Collectors.joining("."));
    String found =
        mismatch.getPath().size() > 1
            ? ""
            : ", found: " + String.join(", ", mapper.readTree(data).propertyNames());
    return "field %s (%s) is missing (expected: every primitive component of a record%s)"
        .formatted(path, mismatch.getTargetType().getSimpleName(), found);
  }

  private static final class UnknownFields extends DeserializationProblemHandler {
    @Override
    @SuppressWarnings("unchecked")
    public boolean handleUnknownProperty(
        DeserializationContext context,
        JsonParser parser,
        @Nullable ValueDeserializer<?> deserializer,
        Object beanOrClass,
        String name) {
      if (context.getAttribute(UNKNOWN_FIELDS) instanceof Set<?> unknown) {
        ((Set<String>) unknown).add(name);
      }
      // Not handled here: Jackson then skips or rejects the field, as it does in a replay.
      return false;
    }
  }
}
