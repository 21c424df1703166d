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
 * Encodes payloads as JSON with Jackson: records, beans, generics and {@code java.time} without
 * further setup.
 *
 * <p>The input of a run that has not begun is checked. A missing primitive component of a record
 * blocks the run; otherwise a misspelt {@code cent} for {@code cents} would silently become 0.
 * Unknown fields are logged once per type, or block the run with {@link #strict}.
 *
 * <p>Declare a component that may be missing as an object type such as {@code Integer}; it is then
 * null. A primitive may be missing if the mapper omits it when writing ({@code NON_DEFAULT}) or
 * ignores it when reading ({@code @JsonIgnoreProperties}). Recorded results are not checked,
 * because an older version of the code may have written them.
 */
public final class JacksonCodec implements PayloadCodec {
  static final JacksonCodec DEFAULT = new JacksonCodec();

  private final JsonMapper mapper;
  private final JsonMapper resultMapper;
  private final ObjectWriter plainWriter;
  private final ObjectWriter sortedWriter;
  // Cached, because resolving a type costs Jackson more than reading a small value.
  private final Map<Type, ObjectReader> readers = new ConcurrentHashMap<>();
  private final Map<Type, ObjectWriter> writers = new ConcurrentHashMap<>();
  private final InputReader inputs;

  /** Creates a codec with Jackson's defaults. */
  public JacksonCodec() {
    this(JsonMapper.builder().build());
  }

  /**
   * Creates a codec with the application's mapper. It is {@link #strict} if the mapper fails on
   * unknown properties. Primitives may be missing if the mapper allows null for primitives.
   */
  public JacksonCodec(JsonMapper mapper) {
    this(mapper, mapper.isEnabled(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES));
  }

  private JacksonCodec(JsonMapper mapper, boolean strict) {
    this.mapper = mapper;
    this.resultMapper = MissingPrimitives.accepted(mapper).build();
    this.inputs = new InputReader(mapper, strict);
    this.plainWriter = mapper.writer();
    this.sortedWriter =
        mapper
            .rebuild()
            .addModule(SortedSets.module())
            .enable(SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS)
            .disable(SerializationFeature.FAIL_ON_ORDER_MAP_BY_INCOMPARABLE_KEY)
            .build()
            .writer();
  }

  /** Returns a copy of this codec for which an input with unknown fields blocks its run. */
  public JacksonCodec strict() {
    return new JacksonCodec(mapper, true);
  }

  @Override
  public Encoded encode(@Nullable Object value, Type type) {
    return new Encoded(write(writer(type), value, type), Map.of());
  }

  /**
   * Sorts the elements of maps and sets where they are comparable, because {@code Map.of} and
   * {@code Set.of} iterate in another order in each process.
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

  // An open class is written by the value's own class, so that subclasses keep their fields. A
  // generic type is passed to Jackson, because the value does not carry its parameters. A final
  // class is passed as well, which saves Jackson a lookup.
  private ObjectWriter writer(Type type) {
    boolean open = type instanceof Class<?> named && !Modifier.isFinal(named.getModifiers());
    return open ? plainWriter : writers.computeIfAbsent(type, this::typedWriter);
  }

  private ObjectWriter typedWriter(Type type) {
    return mapper.writerFor(mapper.constructType(type));
  }

  private ObjectReader reader(Type type) {
    return resultMapper
        .readerFor(resultMapper.constructType(type))
        .without(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES);
  }
}
