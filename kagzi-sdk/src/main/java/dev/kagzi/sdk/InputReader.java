package dev.kagzi.sdk;

import dev.kagzi.sdk.internal.log.EventLog;
import java.lang.reflect.Type;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.Version;
import tools.jackson.databind.AnnotationIntrospector;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.ObjectReader;
import tools.jackson.databind.ValueDeserializer;
import tools.jackson.databind.cfg.MapperConfig;
import tools.jackson.databind.deser.DeserializationProblemHandler;
import tools.jackson.databind.exc.MismatchedInputException;
import tools.jackson.databind.introspect.AnnotatedMember;
import tools.jackson.databind.introspect.AnnotatedParameter;
import tools.jackson.databind.introspect.NopAnnotationIntrospector;
import tools.jackson.databind.json.JsonMapper;

/**
 * Reads inputs of runs that have not begun: refuses those that lack a primitive component of a
 * record, and logs or refuses fields that the type does not know. Thread-safe.
 */
final class InputReader {
  private static final EventLog log = EventLog.of(InputReader.class);
  private static final String UNKNOWN_FIELDS = "kagzi-unknown-fields";

  private final JsonMapper mapper;
  private final Map<Type, ObjectReader> readers = new ConcurrentHashMap<>();
  private final Set<Type> warned = ConcurrentHashMap.newKeySet();

  /**
   * @param strict whether unknown fields are refused
   */
  InputReader(JsonMapper application, boolean strict) {
    JsonMapper.Builder builder = application.rebuild();
    if (application.isEnabled(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)) {
      builder.annotationIntrospector(
          AnnotationIntrospector.pair(
              new RequiredPrimitives(),
              application.deserializationConfig().getAnnotationIntrospector()));
    }
    this.mapper =
        strict
            ? builder.enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES).build()
            : builder.addHandler(new UnknownFields()).build();
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
          .with("type", type.getTypeName())
          .with("fields", unknown)
          .write();
    }
    return value;
  }

  /** What is wrong with an input that could not be read. */
  String reason(byte[] data, JacksonException error) {
    if (!(error instanceof MismatchedInputException mismatch)
        || !mismatch.getOriginalMessage().startsWith("Missing required creator property")
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

  /** Makes Jackson refuse a missing primitive; by itself it would be 0 or false. */
  private static final class RequiredPrimitives extends NopAnnotationIntrospector {
    private static final long serialVersionUID = 1;

    @Override
    public @Nullable Boolean hasRequiredMarker(MapperConfig<?> config, AnnotatedMember member) {
      boolean primitive = member.getRawType().isPrimitive();
      return (primitive && member instanceof AnnotatedParameter) ? Boolean.TRUE : null;
    }

    @Override
    public Version version() {
      return Version.unknownVersion();
    }
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
      parser.skipChildren();
      return true;
    }
  }
}
