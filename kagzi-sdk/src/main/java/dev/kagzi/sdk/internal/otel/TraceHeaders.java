package dev.kagzi.sdk.internal.otel;

import dev.kagzi.protocol.v1.StartWorkflowRequest;
import dev.kagzi.protocol.v1.Task;
import io.opentelemetry.api.baggage.propagation.W3CBaggagePropagator;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapGetter;
import io.opentelemetry.context.propagation.TextMapPropagator;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Trace contexts in the headers of a run: {@code traceparent}, {@code tracestate} and {@code
 * baggage} of the W3C. The format is fixed, and not that of the application's propagators: the
 * client and the workers of a run may be configured differently.
 */
final class TraceHeaders {
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

  /** Replaces the trace context in the request's headers. */
  static void inject(Context context, StartWorkflowRequest.Builder request) {
    PROPAGATOR.fields().forEach(request::removeHeaders);
    PROPAGATOR.inject(context, request, (carrier, name, value) -> set(carrier, name, value));
  }

  private static void set(
      StartWorkflowRequest.@Nullable Builder request, String name, String value) {
    if (request != null) {
      request.putHeaders(name, value);
    }
  }

  /** Returns the context of the run's start; derived from the run id if the start had none. */
  static Context extract(Task task) {
    Context context = PROPAGATOR.extract(Context.root(), task.getHeadersMap(), HEADERS);
    return Span.fromContext(context).getSpanContext().isValid()
        ? context
        : context.with(Span.wrap(derived(task.getRunId())));
  }

  // All executions of a run derive the same trace. Its root span does not exist.
  private static SpanContext derived(String runId) {
    String hex = runId.replace("-", "");
    return SpanContext.createFromRemoteParent(
        hex, hex.substring(16), TraceFlags.getSampled(), TraceState.getDefault());
  }
}
