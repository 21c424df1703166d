package dev.kagzi.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.exporter.otlp.trace.OtlpGrpcSpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.export.BatchSpanProcessor;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class SpanCollectorTest {

  @Test
  void the_spans_of_the_sdk_are_counted_and_those_of_the_server_are_not() {
    SpanCounter ended = new SpanCounter();
    try (SpanCollector collector = SpanCollector.start();
        SdkTracerProvider provider =
            SdkTracerProvider.builder()
                .addSpanProcessor(ended)
                .addSpanProcessor(
                    BatchSpanProcessor.builder(
                            OtlpGrpcSpanExporter.builder()
                                .setEndpoint(collector.endpoint())
                                .build())
                        .build())
                .build()) {
      end(provider.get("dev.kagzi.sdk"), 3);
      end(provider.get("dev.kagzi.server"), 2);

      provider.forceFlush().join(10, TimeUnit.SECONDS);

      assertThat(collector.arrived()).isEqualTo(3);
      assertThat(ended.sum()).isEqualTo(5);
    }
  }

  private static void end(Tracer tracer, int spans) {
    for (int i = 0; i < spans; i++) {
      tracer.spanBuilder("span " + i).setAttribute("kagzi.step.key", "s").startSpan().end();
    }
  }
}
