package dev.kagzi.sdk.internal.otel;

import dev.kagzi.protocol.v1.StartWorkflowRequest;
import dev.kagzi.protocol.v1.Task;
import dev.kagzi.sdk.internal.log.EventLog;
import dev.kagzi.sdk.internal.log.RepeatLimiter;
import io.opentelemetry.api.baggage.propagation.W3CBaggagePropagator;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanId;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceId;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapGetter;
import io.opentelemetry.context.propagation.TextMapPropagator;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * Trace contexts in the headers of a run: {@code traceparent}, {@code tracestate} and {@code
 * baggage} of the W3C. The format is fixed, and not that of the application's propagators: the
 * client and the workers of a run may be configured differently.
 */
final class TraceHeaders {
  private static final EventLog log = EventLog.of(TraceHeaders.class);
  private static final RepeatLimiter LEFT_OUT = new RepeatLimiter();

  /** The server's limits of a run's headers. */
  private static final int HEADERS_MAX = 64;

  private static final int HEADERS_BYTES_MAX = 16 << 10;

  private static final TextMapPropagator PROPAGATOR =
      TextMapPropagator.composite(
          W3CTraceContextPropagator.getInstance(), W3CBaggagePropagator.getInstance());

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

  private TraceHeaders() {}

  /** The context of a run's start; if it is not traced, derived from the run id. */
  record StartContext(Context context, boolean isTraced) {}

  /**
   * Replaces the trace context in the request's headers. A part that does not fit beside the
   * headers of the application is left out, because the server would refuse the start.
   */
  static void inject(Context context, StartWorkflowRequest.Builder request) {
    // In the order of importance: traceparent, tracestate, baggage.
    Map<String, String> trace = new LinkedHashMap<>();
    PROPAGATOR.inject(context, trace, (carrier, name, value) -> put(carrier, name, value));
    if (request.getHeadersCount() > 0) {
      PROPAGATOR.fields().forEach(request::removeHeaders);
    }
    trace.forEach(
        (name, value) -> {
          int bytes = bytes(request.getHeadersMap()) + bytes(Map.of(name, value));
          if (request.getHeadersCount() < HEADERS_MAX && bytes <= HEADERS_BYTES_MAX) {
            request.putHeaders(name, value);
          } else {
            logLeftOut(name, bytes, request);
          }
        });
  }

  /**
   * Injects a new context that is not sampled. Without any, a worker would derive one that is
   * sampled from the run id.
   */
  static void injectNotSampled(Context caller, StartWorkflowRequest.Builder request) {
    ThreadLocalRandom random = ThreadLocalRandom.current();
    SpanContext ids =
        SpanContext.create(
            // An id of zeros would be invalid.
            TraceId.fromLongs(random.nextLong(), random.nextLong() | 1),
            SpanId.fromLong(random.nextLong() | 1),
            TraceFlags.getDefault(),
            TraceState.getDefault());
    inject(caller.with(Span.wrap(ids)), request);
  }

  private static void put(@Nullable Map<String, String> trace, String name, String value) {
    if (trace != null) {
      trace.put(name, value);
    }
  }

  private static int bytes(Map<String, String> headers) {
    int bytes = 0;
    for (Map.Entry<String, String> header : headers.entrySet()) {
      bytes += header.getKey().getBytes(StandardCharsets.UTF_8).length;
      bytes += header.getValue().getBytes(StandardCharsets.UTF_8).length;
    }
    return bytes;
  }

  private static void logLeftOut(String name, int bytes, StartWorkflowRequest.Builder request) {
    if (LEFT_OUT.isNew(name)) {
      log.warn("a run is started without a part of its trace context, which does not fit")
          .with("header", name)
          .with("type", request.getWorkflowType())
          .with("headers", request.getHeadersCount() + 1)
          .with("headers_max", HEADERS_MAX)
          .with("bytes", bytes)
          .with("bytes_max", HEADERS_BYTES_MAX)
          .write();
    }
  }

  static StartContext extract(Task task) {
    Context context = PROPAGATOR.extract(Context.root(), task.getHeadersMap(), HEADERS);
    return Span.fromContext(context).getSpanContext().isValid()
        ? new StartContext(context, true)
        : new StartContext(context.with(Span.wrap(derived(task.getRunId()))), false);
  }

  // All executions of a run derive the same trace. Its root span does not exist.
  private static SpanContext derived(String runId) {
    String hex = runId.replace("-", "");
    return SpanContext.createFromRemoteParent(
        hex, hex.substring(16), TraceFlags.getSampled(), TraceState.getDefault());
  }
}
