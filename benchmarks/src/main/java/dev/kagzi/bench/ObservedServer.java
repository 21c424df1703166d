package dev.kagzi.bench;

import dev.kagzi.sdk.Kagzi;
import io.grpc.ManagedChannel;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.propagation.ContextPropagators;
import io.opentelemetry.exporter.otlp.trace.OtlpGrpcSpanExporter;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.export.BatchSpanProcessor;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * A server and clients with metrics and traces on: a share of the runs is sampled, and as many of
 * them as the client's default limit allows are traced, each with its steps, and exported to a
 * collector by the defaults of OpenTelemetry. Spans that do not fit its queue are dropped.
 */
final class ObservedServer implements MeasuredServer {
  private static final long FLUSH_SECONDS_MAX = 10;

  private final SpanCollector collector;
  private final SpanCounter ended;
  private final OpenTelemetrySdk telemetry;
  private final MeterRegistry meters = new SimpleMeterRegistry();
  private final ServerProcess server;

  private ObservedServer(
      SpanCollector collector,
      SpanCounter ended,
      OpenTelemetrySdk telemetry,
      ServerProcess server) {
    this.collector = collector;
    this.ended = ended;
    this.telemetry = telemetry;
    this.server = server;
  }

  static ObservedServer start(BenchDatabase database, double sampled) {
    SpanCollector collector = SpanCollector.start();
    SpanCounter ended = new SpanCounter();
    OpenTelemetrySdk telemetry = telemetry(collector, ended, sampled);
    try {
      ServerProcess server =
          ServerProcess.start(database, Map.of("KAGZI_OTLP_ENDPOINT", collector.endpoint()));
      return new ObservedServer(collector, ended, telemetry, server);
    } catch (RuntimeException e) {
      telemetry.close();
      collector.close();
      throw e;
    }
  }

  private static OpenTelemetrySdk telemetry(
      SpanCollector collector, SpanCounter ended, double sampled) {
    OtlpGrpcSpanExporter exporter =
        OtlpGrpcSpanExporter.builder().setEndpoint(collector.endpoint()).build();
    return OpenTelemetrySdk.builder()
        .setTracerProvider(
            SdkTracerProvider.builder()
                .setSampler(Sampler.parentBased(Sampler.traceIdRatioBased(sampled)))
                .addSpanProcessor(ended)
                .addSpanProcessor(BatchSpanProcessor.builder(exporter).build())
                .build())
        .setPropagators(ContextPropagators.create(W3CTraceContextPropagator.getInstance()))
        .build();
  }

  @Override
  public String system() {
    return "observed";
  }

  @Override
  public Kagzi.Builder client() {
    return server.client().openTelemetry(telemetry).meterRegistry(meters);
  }

  @Override
  public ManagedChannel openChannel() {
    return server.openChannel();
  }

  @Override
  public int httpPort() {
    return server.httpPort();
  }

  @Override
  public long statements() {
    return server.statements();
  }

  /** Exports what is queued, so that a span that has not arrived was dropped. */
  @Override
  public SpanCounts spans() {
    telemetry.getSdkTracerProvider().forceFlush().join(FLUSH_SECONDS_MAX, TimeUnit.SECONDS);
    return new SpanCounts(ended.sum(), collector.arrived());
  }

  @Override
  public long pid() {
    return server.pid();
  }

  @Override
  public void close() {
    server.close();
    telemetry.close();
    collector.close();
    meters.close();
  }
}
