package dev.kagzi.sdk;

import dev.kagzi.sdk.internal.log.EventLog;
import dev.kagzi.sdk.internal.log.LogContext;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.databind.AnnotationIntrospector;
import tools.jackson.databind.BeanDescription;
import tools.jackson.databind.DeserializationConfig;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.ObjectReader;
import tools.jackson.databind.ValueDeserializer;
import tools.jackson.databind.ValueSerializer;
import tools.jackson.databind.deser.BeanDeserializerBuilder;
import tools.jackson.databind.deser.DeserializationProblemHandler;
import tools.jackson.databind.deser.SettableBeanProperty;
import tools.jackson.databind.deser.ValueDeserializerModifier;
import tools.jackson.databind.deser.ValueInstantiator;
import tools.jackson.databind.deser.bean.PropertyValueBuffer;
import tools.jackson.databind.deser.std.StdValueInstantiator;
import tools.jackson.databind.exc.MismatchedInputException;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.module.SimpleModule;
import tools.jackson.databind.ser.BeanPropertyWriter;
import tools.jackson.databind.ser.bean.BeanSerializerBase;
import tools.jackson.databind.util.LinkedNode;

/**
 * Decodes inputs of runs that have not begun. Rejects an input without a value for a primitive
 * component of a record. Logs or rejects fields that the type does not have. Thread-safe.
 */
final class InputReader {
  private static final EventLog log = EventLog.of(InputReader.class);
  private static final String UNKNOWN_FIELDS = "kagzi-unknown-fields";

  /** Jackson's message for a missing creator parameter begins with this text. */
  private static final String MISSING = "Missing required creator property";

  private final JsonMapper mapper;
  private final Map<Type, ObjectReader> readers = new ConcurrentHashMap<>();
  private final Set<Type> warned = ConcurrentHashMap.newKeySet();

  InputReader(JsonMapper application, boolean strict) {
    JsonMapper.Builder builder = application.rebuild();
    if (application.isEnabled(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)) {
      builder.addModule(
          new SimpleModule("kagzi-inputs")
              .setDeserializerModifier(new RequiredPrimitives(application)));
    }
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
        || !mismatch.getOriginalMessage().startsWith(MISSING)
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

  /**
   * Makes Jackson reject a missing primitive creator parameter; by default it would become 0 or
   * false. Parameters that the application's mapper may omit when writing, or ignores when reading,
   * stay optional.
   */
  private static final class RequiredPrimitives extends ValueDeserializerModifier {
    private static final long serialVersionUID = 1;

    private final JsonMapper application;

    RequiredPrimitives(JsonMapper application) {
      this.application = application;
    }

    @Override
    public BeanDeserializerBuilder updateBuilder(
        DeserializationConfig config,
        BeanDescription.Supplier type,
        BeanDeserializerBuilder builder) {
      ValueInstantiator creator = builder.getValueInstantiator();
      // A module's instantiator may have its own default values, for example in Kotlin.
      if (creator.getClass() == StdValueInstantiator.class && creator.canCreateFromObjectWith()) {
        List<Integer> required = new ArrayList<>();
        Predicate<String> isWritten = alwaysWritten(type);
        for (SettableBeanProperty each : creator.getFromObjectArguments(config)) {
          if (each.getType().isPrimitive()
              && each.getInjectableValueId() == null
              && !builder.hasIgnorable(each.getName())
              && isWritten.test(each.getName())) {
            required.add(each.getCreatorIndex());
          }
        }
        if (!required.isEmpty()) {
          builder.setValueInstantiator(new CompleteInstantiator(creator, required));
        }
      }
      return builder;
    }

    /** The properties that the application's mapper always writes, for any value. */
    private Predicate<String> alwaysWritten(BeanDescription.Supplier type) {
      AnnotationIntrospector annotations =
          application.serializationConfig().getAnnotationIntrospector();
      if (annotations.findFilterId(application.serializationConfig(), type.getClassInfo())
          != null) {
        return name -> false;
      }
      ValueSerializer<?> serializer;
      try {
        serializer =
            application._serializationContext().findRootValueSerializer(type.getBeanClass());
      } catch (JacksonException e) {
        // The mapper cannot write the type, so it cannot omit properties either.
        return name -> true;
      }
      if (!(serializer instanceof BeanSerializerBase)) {
        return name -> true;
      }
      Set<String> written = new HashSet<>();
      serializer
          .properties()
          .forEachRemaining(
              property -> {
                if (!(property instanceof BeanPropertyWriter writer)
                    || !new Suppression(writer).omitsPrimitives()) {
                  written.add(property.getName());
                }
              });
      return written::contains;
    }
  }

  /** Exposes which values a property writer omits; Jackson has no public method for it. */
  private static final class Suppression extends BeanPropertyWriter {
    private static final long serialVersionUID = 1;

    Suppression(BeanPropertyWriter writer) {
      super(writer);
    }

    boolean omitsPrimitives() {
      // A number or boolean is never "empty".
      return _suppressableValue != null && !_suppressableValue.equals(MARKER_FOR_EMPTY);
    }
  }

  private static final class CompleteInstantiator extends ValueInstantiator.Delegating {
    private static final long serialVersionUID = 1;

    private final int[] required;

    CompleteInstantiator(ValueInstantiator creator, List<Integer> required) {
      super(creator);
      this.required = required.stream().mapToInt(Integer::intValue).toArray();
    }

    @Override
    public Object createFromObjectWith(
        DeserializationContext context, SettableBeanProperty[] all, PropertyValueBuffer found) {
      for (int index : required) {
        if (!found.hasParameter(all[index])) {
          context.reportInputMismatch(
              all[index], MISSING + " '%s' (index %d)", all[index].getName(), index);
        }
      }
      return super.createFromObjectWith(context, all, found);
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
      // Not handled here: Jackson then skips or rejects the field, as it does in a replay.
      return false;
    }
  }
}
