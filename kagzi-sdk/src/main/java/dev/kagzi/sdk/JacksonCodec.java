package dev.kagzi.sdk;

import java.lang.reflect.Modifier;
import java.lang.reflect.Type;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.ObjectReader;
import tools.jackson.databind.ObjectWriter;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/** Payloads as JSON, by Jackson: records, beans, generics and {@code java.time} as they are. */
public final class JacksonCodec implements PayloadCodec {
  static final JacksonCodec DEFAULT = new JacksonCodec();

  private final JsonMapper mapper;
  private final ObjectWriter plainWriter;
  private final ObjectWriter sortedWriter;
  // Looking a type up costs Jackson more than reading a small value does.
  private final Map<Type, ObjectReader> readers = new ConcurrentHashMap<>();
  private final Map<Type, ObjectWriter> writers = new ConcurrentHashMap<>();

  /** With Jackson's own defaults. */
  public JacksonCodec() {
    this(JsonMapper.builder().build());
  }

  /** With a mapper of the application's. */
  public JacksonCodec(JsonMapper mapper) {
    this.mapper = mapper;
    this.plainWriter = mapper.writer();
    this.sortedWriter =
        plainWriter
            .with(
                SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS,
                SerializationFeature.ORDER_SET_ELEMENTS)
            .without(
                SerializationFeature.FAIL_ON_ORDER_MAP_BY_INCOMPARABLE_KEY,
                SerializationFeature.FAIL_ON_ORDER_SET_BY_INCOMPARABLE_ELEMENT);
  }

  @Override
  public Encoded encode(@Nullable Object value, Type type) {
    return new Encoded(write(writer(type), value, type), Map.of());
  }

  /**
   * Of maps and sets with their elements in order, where these can be compared: {@code Map.of} and
   * {@code Set.of} have another order in each process.
   */
  @Override
  public String fingerprint(@Nullable Object value, Type type) {
    return Fingerprint.of(write(sortedWriter, value, type));
  }

  private static byte[] write(ObjectWriter writer, @Nullable Object value, Type type) {
    try {
      return writer.writeValueAsBytes(value);
    } catch (JacksonException e) {
      throw PayloadException.unwritable(
          "value of type %s cannot be written as JSON: %s"
              .formatted(type.getTypeName(), e.getOriginalMessage()),
          e);
    }
  }

  @Override
  public @Nullable Object decode(Encoded payload, Type type) {
    if (payload.data().length == 0 || type == Void.class) {
      return null;
    }
    try {
      return readers.computeIfAbsent(type, this::reader).readValue(payload.data());
    } catch (JacksonException e) {
      throw new PayloadException(
          "payload of %d bytes cannot be read as %s: %s; was the type changed while runs were open?"
              .formatted(payload.data().length, type.getTypeName(), e.getOriginalMessage()),
          e);
    }
  }

  // A class is written by what the value is, so that subclasses keep their fields. A type with
  // parameters has to be told, since the value no longer knows them; one that has no subclasses is
  // told too, which spares Jackson a look-up.
  private ObjectWriter writer(Type type) {
    boolean open = type instanceof Class<?> named && !Modifier.isFinal(named.getModifiers());
    return open ? plainWriter : writers.computeIfAbsent(type, this::typedWriter);
  }

  private ObjectWriter typedWriter(Type type) {
    return mapper.writerFor(mapper.constructType(type));
  }

  private ObjectReader reader(Type type) {
    return mapper.readerFor(mapper.constructType(type));
  }
}
