package dev.kagzi.server.trace;

import dev.kagzi.engine.dispatch.Task;
import dev.kagzi.engine.run.StartRequest;
import dev.kagzi.engine.run.StartResult;
import dev.kagzi.engine.value.Refusal;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapGetter;
import io.opentelemetry.exporter.otlp.trace.OtlpGrpcSpanExporter;
import io.opentelemetry.exporter.otlp.trace.OtlpGrpcSpanExporterBuilder;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.export.BatchSpanProcessor;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Exports spans by OTLP over gRPC, in batches. If the collector is unreachable, spans are dropped.
 */
final class OtlpTracing implements ServerTracing {
  private static final int TRACEPARENT_LENGTH =
      "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".length();
  private static final AttributeKey<String> RUN_ID = AttributeKey.stringKey("kagzi.run.id");
  private static final AttributeKey<Long> RUN_EPOCH = AttributeKey.longKey("kagzi.run.epoch");
  private static final AttributeKey<Boolean> RUN_EXISTED =
      AttributeKey.booleanKey("kagzi.run.existed");
  private static final AttributeKey<String> WORKFLOW_TYPE =
      AttributeKey.stringKey("kagzi.workflow.type");
  private static final AttributeKey<String> TASK_QUEUE = AttributeKey.stringKey("kagzi.task_queue");

  private static final TextMapGetter<Map<String, String>> HEADERS =
      new TextMapGetter<>() {
        @Override
        public Iterable<String> keys(Map<String, String> headers) {
          return headers.keySet();
        }

        @Override
        public @Nullable String get(@Nullable Map<String, String> headers, String name) {
          return headers == null ? null : headers.get(name);
        }
      };

  private final SdkTracerProvider provider;
  private final Tracer tracer;

  OtlpTracing(SdkTracerProvider provider, String version) {
    this.provider = provider;
    this.tracer =
        provider.tracerBuilder("dev.kagzi.server").setInstrumentationVersion(version).build();
  }

  static OtlpTracing open(TraceConfig config, String version) {
    OtlpGrpcSpanExporterBuilder exporter =
        OtlpGrpcSpanExporter.builder().setEndpoint(config.endpoint());
    config.headers().forEach(exporter::addHeader);
    Resource resource =
        Resource.getDefault()
            .merge(
                Resource.create(
                    Attributes.of(
                        AttributeKey.stringKey("service.name"),
                        "kagzi-server",
                        AttributeKey.stringKey("service.version"),
                        version)));
    return new OtlpTracing(
        SdkTracerProvider.builder()
            .setResource(resource)
            .addSpanProcessor(BatchSpanProcessor.builder(exporter.build()).build())
            .build(),
        version);
  }

  @Override
  public void started(List<StartRequest> requests, List<CompletableFuture<StartResult>> answers) {
    Instant arrivedAt = Instant.now();
    for (int i = 0; i < requests.size(); i++) {
      StartRequest request = requests.get(i);
      Context parent = contextOf(request.options().headers());
      if (parent != null) {
        answers
            .get(i)
            .whenComplete((answer, thrown) -> endStart(request, parent, arrivedAt, answer, thrown));
      }
    }
  }

  private void endStart(
      StartRequest request,
      Context parent,
      Instant arrivedAt,
      @Nullable StartResult answer,
      @Nullable Throwable thrown) {
    Span span =
        builder("kagzi.server.start ", request.workflowType(), parent)
            .setSpanKind(SpanKind.SERVER)
            .setStartTimestamp(arrivedAt)
            .setAttribute(TASK_QUEUE, request.taskQueue())
            .startSpan();
    if (answer != null) {
      span.setAttribute(RUN_ID, answer.runId().toString())
          .setAttribute(RUN_EXISTED, answer.existed());
    }
    if (thrown != null) {
      span.setStatus(StatusCode.ERROR, "start refused: " + code(thrown));
    }
    span.end();
  }

  /** Only the code: the message of a refusal contains the refused value, which may be a secret. */
  private static Refusal.Code code(Throwable thrown) {
    Throwable cause =
        thrown instanceof CompletionException && thrown.getCause() != null
            ? thrown.getCause()
            : thrown;
    return cause instanceof Refusal refusal ? refusal.code() : Refusal.Code.INTERNAL;
  }

  @Override
  public void dispatched(List<Task> tasks) {
    Instant now = Instant.now();
    for (Task task : tasks) {
      Context parent = contextOf(task.headers());
      if (parent != null) {
        builder("kagzi.server.dispatch ", task.workflowType(), parent)
            .setSpanKind(SpanKind.PRODUCER)
            .setStartTimestamp(dueAt(task, now))
            .setAttribute(RUN_ID, task.claim().runId().toString())
            .setAttribute(RUN_EPOCH, (long) task.claim().epoch())
            .startSpan()
            .end(now);
      }
    }
  }

  /**
   * Returns since when the task was due. The first claim of a run was due since the run's start.
   * For a later claim the time is not known here, so its span has no length.
   */
  private static Instant dueAt(Task task, Instant now) {
    return task.claim().isFirst() && task.createdAt().isBefore(now) ? task.createdAt() : now;
  }

  private SpanBuilder builder(String name, String type, Context parent) {
    return tracer.spanBuilder(name + type).setParent(parent).setAttribute(WORKFLOW_TYPE, type);
  }

  /**
   * Returns the trace context of the run's headers; null if they have none, or if it is not
   * sampled.
   */
  private static @Nullable Context contextOf(Map<String, String> headers) {
    String parent = headers.get("traceparent");
    if (parent == null || isNotSampled(parent)) {
      return null;
    }
    Context context =
        W3CTraceContextPropagator.getInstance().extract(Context.root(), headers, HEADERS);
    return Span.fromContext(context).getSpanContext().isSampled() ? context : null;
  }

  /** Whether the last flag is 0, in the form of the W3C; the extraction checks all the rest. */
  private static boolean isNotSampled(String traceparent) {
    return traceparent.length() == TRACEPARENT_LENGTH
        && Character.digit(traceparent.charAt(TRACEPARENT_LENGTH - 1), 16) % 2 == 0;
  }

  @Override
  public void close(Duration timeout) {
    provider.shutdown().join(timeout.toMillis(), TimeUnit.MILLISECONDS);
  }
}
