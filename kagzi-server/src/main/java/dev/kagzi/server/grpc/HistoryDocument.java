package dev.kagzi.server.grpc;

import com.google.protobuf.ByteString;
import com.google.protobuf.Descriptors.EnumDescriptor;
import com.google.protobuf.Descriptors.EnumValueDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.MapEntry;
import com.google.protobuf.Message;
import com.google.protobuf.Timestamp;
import dev.kagzi.engine.query.RunView;
import dev.kagzi.engine.query.StepView;
import dev.kagzi.protocol.v1.Payload;
import java.io.ByteArrayOutputStream;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.PrettyPrinter;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.core.util.DefaultPrettyPrinter;

/**
 * Writes the history of a run as the JSON document that the SDK exports and replays, described in
 * {@code docs/testing.md}. It is in this package because its names are those of the protocol. Not
 * thread-safe.
 */
public final class HistoryDocument {
  private static final String FORMAT = "kagzi-history/1";
  private static final JsonFactory FACTORY = new JsonFactory();

  /** Fields that the file omits: equal for all steps of a run, or only used by the server. */
  private static final Set<String> NOT_OF_A_STEP = Set.of("namespace", "step_id", "run_id");

  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
  private final JsonGenerator json = FACTORY.createGenerator(new Indented(), bytes);

  private static final class Indented extends ObjectWriteContext.Base {
    private final PrettyPrinter printer = new DefaultPrettyPrinter();

    @Override
    public PrettyPrinter getPrettyPrinter() {
      return printer;
    }

    @Override
    public boolean hasPrettyPrinter() {
      return true;
    }
  }

  /** Begins the document of a run that was read with its payloads. */
  public HistoryDocument(RunView run) {
    json.writeStartObject();
    json.writeName("format");
    json.writeString(FORMAT);
    json.writeName("run");
    write(ResponseMapper.workflow(run), Set.of());
    json.writeName("steps");
    json.writeStartArray();
  }

  /**
   * Adds an attempt that was read with its payloads. Add the attempts in the order in which they
   * began.
   */
  public void add(StepView step) {
    write(ResponseMapper.step(step), NOT_OF_A_STEP);
  }

  /** Returns the number of bytes that were written until now. */
  public int size() {
    json.flush();
    return bytes.size();
  }

  public byte[] finish() {
    json.writeEndArray();
    json.writeEndObject();
    json.close();
    bytes.write('\n');
    return bytes.toByteArray();
  }

  private void write(Message message, Set<String> without) {
    json.writeStartObject();
    for (FieldDescriptor field : message.getDescriptorForType().getFields()) {
      boolean isThere =
          field.isRepeated()
              ? message.getRepeatedFieldCount(field) > 0
              : message.hasField(field)
                  && !Payload.getDefaultInstance().equals(message.getField(field));
      if (isThere && !without.contains(field.getName())) {
        json.writeName(field.getJsonName());
        writeField(field, message.getField(field));
      }
    }
    json.writeEndObject();
  }

  private void writeField(FieldDescriptor field, Object value) {
    if (field.isMapField()) {
      Map<String, String> texts = new TreeMap<>();
      for (Object entry : (List<?>) value) {
        MapEntry<?, ?> pair = (MapEntry<?, ?>) entry;
        texts.put(String.valueOf(pair.getKey()), String.valueOf(pair.getValue()));
      }
      write(texts);
    } else if (field.isRepeated()) {
      json.writeStartArray();
      ((List<?>) value).forEach(this::writeOne);
      json.writeEndArray();
    } else {
      writeOne(value);
    }
  }

  private void write(Map<String, String> texts) {
    json.writeStartObject();
    texts.forEach(
        (name, text) -> {
          json.writeName(name);
          json.writeString(text);
        });
    json.writeEndObject();
  }

  private void writeOne(Object value) {
    switch (value) {
      case Timestamp time ->
          json.writeString(Instant.ofEpochSecond(time.getSeconds(), time.getNanos()).toString());
      case Payload payload -> write(payload);
      case Message message -> write(message, Set.of());
      case EnumValueDescriptor constant ->
          json.writeString(constant.getName().substring(prefix(constant.getType()).length()));
      case Boolean truth -> json.writeBoolean(truth);
      case Integer number -> json.writeNumber(number);
      case Long number -> json.writeNumber(number);
      case Double number -> json.writeNumber(number);
      default -> json.writeString(String.valueOf(value));
    }
  }

  /** For example WORKFLOW_STATUS_ for WorkflowStatus. */
  private static String prefix(EnumDescriptor type) {
    return type.getName().replaceAll("(?<=[a-z])(?=[A-Z])", "_").toUpperCase(Locale.ROOT) + "_";
  }

  private void write(Payload payload) {
    json.writeStartObject();
    ByteString data = payload.getData();
    if (ExactJson.isExact(data.toByteArray())) {
      json.writeName("json");
      ExactJson.copy(data.toByteArray(), json);
    } else {
      json.writeName("data");
      json.writeString(Base64.getEncoder().encodeToString(data.toByteArray()));
    }
    if (payload.getMetadataCount() > 0) {
      json.writeName("metadata");
      write(new TreeMap<>(payload.getMetadataMap()));
    }
    json.writeEndObject();
  }
}
