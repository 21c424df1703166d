package dev.kagzi.sdk;

import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;
import tools.jackson.databind.BeanDescription;
import tools.jackson.databind.BeanProperty;
import tools.jackson.databind.JacksonModule;
import tools.jackson.databind.SerializationConfig;
import tools.jackson.databind.SerializationContext;
import tools.jackson.databind.ValueSerializer;
import tools.jackson.databind.jsontype.TypeSerializer;
import tools.jackson.databind.module.SimpleModule;
import tools.jackson.databind.ser.ValueSerializerModifier;
import tools.jackson.databind.ser.jdk.CollectionSerializer;
import tools.jackson.databind.ser.jdk.StringCollectionSerializer;
import tools.jackson.databind.type.CollectionType;

/**
 * Writes the elements of sets in their natural order if they have one. Jackson has a feature for
 * this only from 3.2 on, and applications may use older versions.
 */
final class SortedSets extends ValueSerializer<Collection<?>> {
  private final ValueSerializer<Object> serializer;

  private SortedSets(ValueSerializer<Object> serializer) {
    this.serializer = serializer;
  }

  static JacksonModule module() {
    return new SimpleModule(SortedSets.class.getName()).setSerializerModifier(new Modifier());
  }

  @SuppressWarnings("unchecked")
  private static ValueSerializer<Object> cast(ValueSerializer<?> serializer) {
    return (ValueSerializer<Object>) serializer;
  }

  private static Collection<?> sorted(Collection<?> elements) {
    try {
      return elements.stream().sorted().collect(Collectors.toCollection(LinkedHashSet::new));
    } catch (ClassCastException | NullPointerException e) {
      // The elements have no natural order.
      return elements;
    }
  }

  @Override
  public void serialize(
      Collection<?> value, JsonGenerator generator, SerializationContext context) {
    serializer.serialize(sorted(value), generator, context);
  }

  @Override
  public void serializeWithType(
      Collection<?> value,
      JsonGenerator generator,
      SerializationContext context,
      TypeSerializer typeSerializer) {
    serializer.serializeWithType(sorted(value), generator, context, typeSerializer);
  }

  @Override
  public ValueSerializer<?> createContextual(
      SerializationContext context, @Nullable BeanProperty property) {
    return new SortedSets(cast(serializer.createContextual(context, property)));
  }

  @Override
  public void resolve(SerializationContext context) {
    serializer.resolve(context);
  }

  @Override
  public boolean isEmpty(SerializationContext context, Collection<?> value) {
    return serializer.isEmpty(context, value);
  }

  private static final class Modifier extends ValueSerializerModifier {
    private static final long serialVersionUID = 1;

    @Override
    public ValueSerializer<?> modifyCollectionSerializer(
        SerializationConfig config,
        CollectionType type,
        BeanDescription.Supplier description,
        ValueSerializer<?> serializer) {
      // A serializer of the application may expect the original set.
      boolean isJacksons =
          serializer instanceof CollectionSerializer
              || serializer instanceof StringCollectionSerializer;
      return isJacksons && Set.class.isAssignableFrom(type.getRawClass())
          ? new SortedSets(cast(serializer))
          : serializer;
    }
  }
}
