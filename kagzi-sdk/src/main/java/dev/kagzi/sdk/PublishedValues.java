package dev.kagzi.sdk;

import dev.kagzi.protocol.v1.GetPublishedResponse;
import dev.kagzi.sdk.internal.client.RunCalls;
import dev.kagzi.sdk.internal.wire.ProtoMapper;
import java.lang.reflect.Type;
import java.util.List;
import java.util.Optional;
import java.util.Spliterators.AbstractSpliterator;
import java.util.function.Consumer;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;

/** Reads and follows what a run has published. */
final class PublishedValues {
  private final RunCalls runs;
  private final String runId;

  PublishedValues(RunCalls runs, String runId) {
    this.runs = runs;
    this.runId = runId;
  }

  List<PublishedValue> all() {
    return runs.published(runId, "").getValuesList().stream().map(this::value).toList();
  }

  private PublishedValue value(dev.kagzi.protocol.v1.PublishedValue message) {
    return new PublishedValue(
        message.getName(),
        new Encoded(
            message.getValue().getData().toByteArray(),
            message.getValue().getMetadataMap(),
            runs.payloads().codec()),
        ProtoMapper.instant(message.getPublishedAt()));
  }

  <T> Optional<T> last(String name, Type type) {
    return decode(runs.published(runId, name), type);
  }

  // The codec returns a value of exactly this type.
  @SuppressWarnings("unchecked")
  private <T> Optional<T> decode(GetPublishedResponse response, Type type) {
    return response.getValuesCount() == 0
        ? Optional.empty()
        : Optional.ofNullable((T) runs.payloads().decode(response.getValues(0).getValue(), type));
  }

  <T> Stream<T> watch(String name, Type type) {
    return StreamSupport.stream(new Following<T>(name, type), false);
  }

  /** Ends when the run has ended and its last value was consumed. Not thread-safe. */
  private final class Following<T> extends AbstractSpliterator<T> {
    private final String name;
    private final Type type;
    private long version;
    private boolean ended;

    Following(String name, Type type) {
      super(Long.MAX_VALUE, ORDERED | NONNULL);
      this.name = name;
      this.type = type;
    }

    @Override
    public boolean tryAdvance(Consumer<? super T> consumer) {
      while (!ended) {
        GetPublishedResponse response = runs.awaitPublished(runId, name, version);
        ended = ProtoMapper.status(response.getStatus()).isFinished();
        if (response.getValuesCount() > 0) {
          version = response.getValues(0).getVersion();
        }
        @Nullable T value = PublishedValues.this.<T>decode(response, type).orElse(null);
        if (value != null) {
          consumer.accept(value);
          return true;
        }
      }
      return false;
    }
  }
}
