package dev.kagzi.server.trace;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.engine.run.StartOptions;
import dev.kagzi.engine.run.StartRequest;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.Refusal;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.trace.ReadWriteSpan;
import io.opentelemetry.sdk.trace.ReadableSpan;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.SpanProcessor;
import io.opentelemetry.sdk.trace.data.StatusData;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class OtlpTracingTest {
  private static final String IDS = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-";
  private static final Map<String, String> SAMPLED = Map.of("traceparent", IDS + "01");

  /** Keeps the spans that end. */
  private static final class EndedSpans implements SpanProcessor {
    private final List<ReadableSpan> spans = new CopyOnWriteArrayList<>();

    @Override
    public void onStart(Context parent, ReadWriteSpan span) {}

    @Override
    public boolean isStartRequired() {
      return false;
    }

    @Override
    public void onEnd(ReadableSpan span) {
      spans.add(span);
    }

    @Override
    public boolean isEndRequired() {
      return true;
    }
  }

  private static StatusData statusOfStart(Throwable thrown) {
    return spansOfStart(SAMPLED, thrown).getFirst().toSpanData().getStatus();
  }

  private static List<ReadableSpan> spansOfStart(Map<String, String> headers, Throwable thrown) {
    EndedSpans ended = new EndedSpans();
    try (SdkTracerProvider provider = SdkTracerProvider.builder().addSpanProcessor(ended).build()) {
      StartRequest request =
          new StartRequest(
              "default",
              "",
              "q",
              "order",
              "",
              new Payload("1".getBytes(StandardCharsets.UTF_8), Map.of()),
              null,
              null,
              StartOptions.NONE.withHeaders(headers));

      new OtlpTracing(provider, "1")
          .started(List.of(request), List.of(CompletableFuture.failedFuture(thrown)));

      return ended.spans;
    }
  }

  @ParameterizedTest
  @CsvSource({
    IDS + "00, 0",
    IDS + "01, 1",
    IDS + "02, 0",
    IDS + "03, 1",
    IDS + "0, 0",
    IDS + "0x, 0",
    "'', 0",
    "no trace context, 0"
  })
  void only_a_sampled_trace_context_has_a_span(String traceparent, int spans) {
    Map<String, String> headers = Map.of("traceparent", traceparent, "tenant", "acme");

    assertThat(spansOfStart(headers, new IllegalStateException("down"))).hasSize(spans);
    assertThat(spansOfStart(Map.of(), new IllegalStateException("down"))).isEmpty();
  }

  @Test
  void the_span_of_a_refused_start_has_the_code_and_no_value() {
    Refusal refusal = Refusal.invalid("external_id", "s3cret", "another one");

    StatusData refused = statusOfStart(new CompletionException(refusal));
    StatusData bug = statusOfStart(new IllegalStateException("s3cret"));

    assertThat(refused.getStatusCode()).isEqualTo(StatusCode.ERROR);
    assertThat(refused.getDescription()).isEqualTo("start refused: INVALID_ARGUMENT");
    assertThat(bug.getDescription()).isEqualTo("start refused: INTERNAL");
  }
}
