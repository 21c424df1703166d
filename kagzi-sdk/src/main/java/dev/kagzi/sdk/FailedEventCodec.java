package dev.kagzi.sdk;

import java.lang.reflect.Type;
import java.time.Instant;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.databind.json.JsonMapper;

/**
 * Encodes and decodes {@link WorkflowFailedEvent}s, which the server writes; every other value goes
 * to the application's codec. The events are JSON with the protocol's field names, because workers
 * in all languages read them.
 */
final class FailedEventCodec implements PayloadCodec {
  private static final JsonMapper MAPPER =
      JsonMapper.builder()
          .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
          .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
          .build();

  private final PayloadCodec application;

  FailedEventCodec(PayloadCodec application) {
    this.application = application;
  }

  /** The JSON form of the event. Empty fields may be missing. */
  private record Wire(
      @Nullable String failedRunId,
      @Nullable String namespaceId,
      @Nullable String workflowType,
      @Nullable String taskQueue,
      @Nullable String error,
      @Nullable String originalInput,
      @Nullable Integer attempts,
      @Nullable Instant startedAt,
      @Nullable Instant failedAt,
      @Nullable String status,
      @Nullable WireError errorDetail,
      @Nullable Map<String, String> originalInputMetadata,
      @Nullable String externalId) {}

  private record WireError(
      @Nullable String message,
      @Nullable Boolean nonRetryable,
      @Nullable Map<String, String> metadata) {}

  @Override
  public Encoded encode(@Nullable Object value, Type type) {
    if (!(value instanceof WorkflowFailedEvent event)) {
      return application.encode(value, type);
    }
    return new Encoded(
        MAPPER.writeValueAsBytes(wire(event)), Map.of("content-type", "application/json"));
  }

  @Override
  public @Nullable Object decodeInput(Encoded payload, Type type) {
    return type == WorkflowFailedEvent.class
        ? decode(payload, type)
        : application.decodeInput(payload, type);
  }

  @Override
  public @Nullable Object decode(Encoded payload, Type type) {
    if (type != WorkflowFailedEvent.class) {
      return application.decode(payload, type);
    }
    try {
      return event(required("event", MAPPER.readValue(payload.data(), Wire.class)));
    } catch (JacksonException | IllegalArgumentException e) {
      throw new PayloadException(
          "payload of %d bytes is no event of a failed workflow: %s"
              .formatted(payload.data().length, e.getMessage()),
          e);
    }
  }

  @Override
  public String fingerprint(@Nullable Object value, Type type) {
    return application.fingerprint(value, type);
  }

  @Override
  public boolean hasFingerprint(@Nullable Object value, Type type, String fingerprint) {
    return application.hasFingerprint(value, type, fingerprint);
  }

  private WorkflowFailedEvent event(Wire wire) {
    Failure failure = failure(wire);
    return new WorkflowFailedEvent(
        required("failed_run_id", wire.failedRunId),
        text(wire.externalId),
        orEmpty(wire.namespaceId),
        orEmpty(wire.workflowType),
        orEmpty(wire.taskQueue),
        wire.error == null ? failure.message() : wire.error,
        input(wire),
        wire.attempts == null ? 1 : wire.attempts,
        Optional.ofNullable(wire.startedAt),
        required("failed_at", wire.failedAt),
        RunStatus.valueOf(required("status", wire.status)),
        failure);
  }

  private static <T> T required(String field, @Nullable T value) {
    if (value == null) {
      throw new IllegalArgumentException(field + ": none (expected: one)");
    }
    return value;
  }

  private static Failure failure(Wire wire) {
    WireError error = wire.errorDetail;
    if (error == null) {
      return new Failure("", orEmpty(wire.error), false, Map.of());
    }
    Map<String, String> metadata = error.metadata == null ? Map.of() : error.metadata;
    return new Failure(
        metadata.getOrDefault("type", ""),
        orEmpty(error.message),
        Boolean.TRUE.equals(error.nonRetryable),
        metadata);
  }

  private Optional<Encoded> input(Wire wire) {
    if (wire.originalInput == null) {
      return Optional.empty();
    }
    Map<String, String> metadata =
        wire.originalInputMetadata == null ? Map.of() : wire.originalInputMetadata;
    return Optional.of(
        new Encoded(Base64.getDecoder().decode(wire.originalInput), metadata, application));
  }

  private static Wire wire(WorkflowFailedEvent event) {
    Failure failure = event.failure();
    Map<String, String> metadata = new HashMap<>(failure.metadata());
    if (!failure.type().isEmpty()) {
      metadata.put("type", failure.type());
    }
    return new Wire(
        event.failedRunId(),
        event.namespace(),
        event.workflowType(),
        event.queue(),
        event.error(),
        event.originalInput().map(FailedEventCodec::base64).orElse(null),
        event.attempts(),
        event.startedAt().orElse(null),
        event.failedAt(),
        event.status().name(),
        new WireError(failure.message(), failure.nonRetryable(), metadata),
        event.originalInput().map(Encoded::metadata).orElse(null),
        event.workflowId().orElse(null));
  }

  private static String base64(Encoded input) {
    return Base64.getEncoder().encodeToString(input.data());
  }

  private static Optional<String> text(@Nullable String text) {
    return text == null || text.isEmpty() ? Optional.empty() : Optional.of(text);
  }

  private static String orEmpty(@Nullable String text) {
    return text == null ? "" : text;
  }
}
