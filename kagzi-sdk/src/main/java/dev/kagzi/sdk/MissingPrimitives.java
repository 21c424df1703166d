package dev.kagzi.sdk;

import java.lang.reflect.Array;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.AnnotationIntrospector;
import tools.jackson.databind.BeanDescription;
import tools.jackson.databind.DeserializationConfig;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.ValueSerializer;
import tools.jackson.databind.deser.BeanDeserializerBuilder;
import tools.jackson.databind.deser.SettableBeanProperty;
import tools.jackson.databind.deser.ValueDeserializerModifier;
import tools.jackson.databind.deser.ValueInstantiator;
import tools.jackson.databind.deser.bean.PropertyValueBuffer;
import tools.jackson.databind.deser.std.StdValueInstantiator;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.module.SimpleModule;
import tools.jackson.databind.ser.BeanPropertyWriter;
import tools.jackson.databind.ser.bean.BeanSerializerBase;

/**
 * Decides what happens if a primitive creator parameter is missing, such as an {@code int} of a
 * record. In a result, it becomes 0 or false, because an older version of the code may have written
 * the result. An input is rejected, unless the application's mapper may omit the parameter when
 * writing, or ignores it when reading.
 *
 * <p>Jackson itself rejects or accepts all missing parameters, depending on its version.
 */
final class MissingPrimitives extends ValueDeserializerModifier {
  /** Jackson's message for a missing creator parameter begins with this text. */
  static final String MESSAGE = "Missing required creator property";

  private static final long serialVersionUID = 1;

  private final JsonMapper application;
  private final boolean rejects;

  private MissingPrimitives(JsonMapper application, boolean rejects) {
    this.application = application;
    this.rejects = rejects;
  }

  /** Returns a builder of a mapper for inputs, which rejects missing primitive values. */
  static JsonMapper.Builder rejected(JsonMapper application) {
    return with(application, true);
  }

  /** Returns a builder of a mapper for results, which accepts missing primitive values. */
  static JsonMapper.Builder accepted(JsonMapper application) {
    return with(application, false);
  }

  private static JsonMapper.Builder with(JsonMapper application, boolean rejects) {
    JsonMapper.Builder builder = application.rebuild();
    return application.isEnabled(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
        ? builder.addModule(
            new SimpleModule(MissingPrimitives.class.getName())
                .setDeserializerModifier(new MissingPrimitives(application, rejects)))
        : builder;
  }

  @Override
  public BeanDeserializerBuilder updateBuilder(
      DeserializationConfig config,
      BeanDescription.Supplier type,
      BeanDeserializerBuilder builder) {
    ValueInstantiator creator = builder.getValueInstantiator();
    // A module's instantiator may have its own default values, for example in Kotlin.
    if (creator.getClass() == StdValueInstantiator.class && creator.canCreateFromObjectWith()) {
      List<Integer> primitives = new ArrayList<>();
      Set<Integer> required = new HashSet<>();
      Predicate<String> isWritten = rejects ? alwaysWritten(type) : name -> false;
      for (SettableBeanProperty each : creator.getFromObjectArguments(config)) {
        if (each.getType().isPrimitive() && each.getInjectableValueId() == null) {
          primitives.add(each.getCreatorIndex());
          if (!builder.hasIgnorable(each.getName()) && isWritten.test(each.getName())) {
            required.add(each.getCreatorIndex());
          }
        }
      }
      if (!primitives.isEmpty()) {
        builder.setValueInstantiator(new CompleteInstantiator(creator, primitives, required));
      }
    }
    return builder;
  }

  /** The properties that the application's mapper always writes, for any value. */
  private Predicate<String> alwaysWritten(BeanDescription.Supplier type) {
    AnnotationIntrospector annotations =
        application.serializationConfig().getAnnotationIntrospector();
    if (annotations.findFilterId(application.serializationConfig(), type.getClassInfo()) != null) {
      return name -> false;
    }
    ValueSerializer<?> serializer;
    try {
      serializer = application._serializationContext().findRootValueSerializer(type.getBeanClass());
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

    private final int[] primitives;
    private final Set<Integer> required;

    CompleteInstantiator(
        ValueInstantiator creator, List<Integer> primitives, Set<Integer> required) {
      super(creator);
      this.primitives = primitives.stream().mapToInt(Integer::intValue).toArray();
      this.required = Set.copyOf(required);
    }

    @Override
    public Object createFromObjectWith(
        DeserializationContext context, SettableBeanProperty[] all, PropertyValueBuffer found) {
      for (int index : primitives) {
        SettableBeanProperty each = all[index];
        if (!found.hasParameter(each)) {
          if (required.contains(index)) {
            context.reportInputMismatch(each, MESSAGE + " '%s' (index %d)", each.getName(), index);
          } else if (!isRejectedByJackson(context, each)) {
            boolean unused = found.assignParameter(each, zero(each));
          }
        }
      }
      return super.createFromObjectWith(context, all, found);
    }

    private static boolean isRejectedByJackson(
        DeserializationContext context, SettableBeanProperty property) {
      return property.isRequired()
          || context.isEnabled(DeserializationFeature.FAIL_ON_MISSING_CREATOR_PROPERTIES);
    }

    private static Object zero(SettableBeanProperty property) {
      return Array.get(Array.newInstance(property.getType().getRawClass(), 1), 0);
    }
  }
}
