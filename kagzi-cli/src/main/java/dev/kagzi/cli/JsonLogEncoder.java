package dev.kagzi.cli;

import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.encoder.EncoderBase;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.event.KeyValuePair;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.json.JsonFactory;

/**
 * Writes each log event as one JSON object on one line: time, level, logger, thread and message,
 * then its key-values and the MDC as further properties, then the stack of its exception. A
 * key-value with the name of an earlier property is called {@code kv_NAME}; an MDC entry with such
 * a name is left out.
 */
final class JsonLogEncoder extends EncoderBase<ILoggingEvent> {
  private static final byte[] NOTHING = {};

  private final JsonFactory json = new JsonFactory();

  @Override
  public byte[] headerBytes() {
    return NOTHING;
  }

  @Override
  public byte[] footerBytes() {
    return NOTHING;
  }

  @Override
  public byte[] encode(ILoggingEvent event) {
    StringWriter line = new StringWriter();
    try (JsonGenerator out = json.createGenerator(ObjectWriteContext.empty(), line)) {
      out.writeStartObject();
      new Properties(out).write(event);
      out.writeEndObject();
    }
    return line.append('\n').toString().getBytes(StandardCharsets.UTF_8);
  }

  /** The properties of one object; their names are unique. */
  private static final class Properties {
    private final JsonGenerator out;
    private final Set<String> names = new HashSet<>();

    Properties(JsonGenerator out) {
      this.out = out;
    }

    void write(ILoggingEvent event) {
      // So that no key-value takes the name of the last property.
      names.add("stack");
      add("time", event.getInstant().toString());
      add("level", event.getLevel().toString());
      add("logger", event.getLoggerName());
      add("thread", event.getThreadName());
      add("message", event.getFormattedMessage());
      List<KeyValuePair> pairs = event.getKeyValuePairs();
      if (pairs != null) {
        pairs.forEach(pair -> add(pair.key, pair.value));
      }
      for (Map.Entry<String, String> entry : event.getMDCPropertyMap().entrySet()) {
        if (!names.contains(entry.getKey())) {
          add(entry.getKey(), entry.getValue());
        }
      }
      IThrowableProxy thrown = event.getThrowableProxy();
      if (thrown != null) {
        out.writeStringProperty("stack", ThrowableProxyUtil.asString(thrown));
      }
    }

    private void add(String name, @Nullable Object value) {
      String unique = name;
      while (!names.add(unique)) {
        unique = "kv_" + unique;
      }
      switch (value) {
        case null -> out.writeNullProperty(unique);
        case Boolean flag -> out.writeBooleanProperty(unique, flag);
        case Integer number -> out.writeNumberProperty(unique, number);
        case Long number -> out.writeNumberProperty(unique, number);
        default -> out.writeStringProperty(unique, text(value));
      }
    }

    // The value may have a class of an application or a library, whose toString() throws.
    private static String text(Object value) {
      try {
        return String.valueOf(value);
      } catch (RuntimeException e) {
        return "(cannot be shown: " + e.getClass().getName() + ")";
      }
    }
  }
}
