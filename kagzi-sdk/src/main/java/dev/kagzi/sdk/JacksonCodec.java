package dev.kagzi.sdk;

import java.lang.reflect.Modifier;
import java.lang.reflect.Type;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.ObjectReader;
import tools.jackson.databind.ObjectWriter;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * Payloads as JSON, by Jackson: records, beans, generics and {@code java.time} as they are.
 *
 * <p>The input of a run that has not begun is checked: a primitive component of a record that is
 * missing blocks the run, since {@code cent} in place of {@code cents} would make it 0; fields that
 * the type does not know are logged once per type, or block the run with {@link #strict}. A
 * component that may be missing is an {@code Integer}, or another object: it is null then. A
 * primitive that the mapper itself leaves out or ignores may be missing as well. What is recorded
 * already, by former code perhaps, is never refused for what it has or lacks.
 */
public final class JacksonCodec implements PayloadCodec {
  static final JacksonCodec DEFAULT = new JacksonCodec();

  private final JsonMapper mapper;
  private final ObjectWriter plainWriter;
  private final ObjectWriter sortedWriter;
  // Looking a type up costs Jackson more than reading a small value does.
  private final Map<Type, ObjectReader> readers = new ConcurrentHashMap<>();
  private final Map<Type, ObjectWriter> writers = new ConcurrentHashMap<>();
  private final InputReader inputs;

  /** With Jackson's own defaults. */
  public JacksonCodec() {
    this(JsonMapper.builder().build());
  }

  /**
   * With a mapper of the application's. One that fails on unknown properties is {@link #strict};
   * one that allows null for primitives allows that they are missing.
   */
  public JacksonCodec(JsonMapper mapper) {
    this(mapper, mapper.isEnabled(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES));
  }

  private JacksonCodec(JsonMapper mapper, boolean strict) {
    this.mapper = mapper;
    this.inputs = new InputReader(mapper, strict);
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

  /** The same codec, but an input with fields that its type does not know blocks its run. */
  public JacksonCodec strict() {
    return new JacksonCodec(mapper, true);
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
      throw unreadable(payload, type, e.getOriginalMessage(), e);
    }
  }

  @Override
  public @Nullable Object decodeInput(Encoded payload, Type type) {
    if (payload.data().length == 0 || type == Void.class) {
      return null;
    }
    try {
      return inputs.read(payload.data(), type);
    } catch (JacksonException e) {
      throw unreadable(payload, type, inputs.reason(payload.data(), e), e);
    }
  }

  private static PayloadException unreadable(
      Encoded payload, Type type, String reason, JacksonException cause) {
    return new PayloadException(
        "payload of %d bytes cannot be read as %s: %s; was the type changed while runs were open?"
            .formatted(payload.data().length, type.getTypeName(), reason),
        cause);
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
    return mapper
        .readerFor(mapper.constructType(type))
        .without(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES);
  }
}
