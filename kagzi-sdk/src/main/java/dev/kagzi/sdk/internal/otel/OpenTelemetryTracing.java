package dev.kagzi.sdk.internal.otel;

import dev.kagzi.protocol.v1.StartWorkflowRequest;
import dev.kagzi.protocol.v1.StartWorkflowResponse;
import dev.kagzi.sdk.internal.trace.ClaimedTask;
import dev.kagzi.sdk.internal.trace.ExecutionTrace;
import dev.kagzi.sdk.internal.trace.StartTrace;
import dev.kagzi.sdk.internal.trace.Tracing;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/** Traces with an {@link OpenTelemetry} of the application. Thread-safe. */
public final class OpenTelemetryTracing implements Tracing {
  private final Tracer tracer;

  public OpenTelemetryTracing(OpenTelemetry openTelemetry) {
    this.tracer = openTelemetry.getTracer("dev.kagzi.sdk");
  }

  @Override
  public StartTrace start(StartWorkflowRequest.Builder request) {
    Span span = startSpan(tracer, request, request.getTaskQueue(), Context.current());
    if (!request.getExternalId().isEmpty()) {
      span.setAttribute(TraceNames.WORKFLOW_ID, request.getExternalId());
    }
    TraceHeaders.inject(Context.current().with(span), request);
    return (answer, thrown) -> endStart(span, answer, thrown);
  }

  /** Begins the span of a start, by a client or by a workflow. */
  static Span startSpan(
      Tracer tracer, StartWorkflowRequest.Builder request, String queue, Context parent) {
    return tracer
        .spanBuilder("kagzi.start " + request.getWorkflowType())
        .setParent(parent)
        .setSpanKind(SpanKind.PRODUCER)
        .setAttribute(TraceNames.WORKFLOW_TYPE, request.getWorkflowType())
        .setAttribute(TraceNames.WORKFLOW_VERSION, request.getVersion())
        .setAttribute(TraceNames.TASK_QUEUE, queue)
        .startSpan();
  }

  private static void endStart(
      Span span, @Nullable StartWorkflowResponse answer, @Nullable Throwable thrown) {
    if (answer != null) {
      span.setAttribute(TraceNames.RUN_ID, answer.getRunId())
          .setAttribute(TraceNames.RUN_EXISTED, answer.getAlreadyExists());
    }
    if (thrown != null) {
      Throwable cause =
          thrown instanceof CompletionException && thrown.getCause() != null
              ? thrown.getCause()
              : thrown;
      span.setStatus(StatusCode.ERROR, String.valueOf(cause.getMessage())).recordException(cause);
    }
    span.end();
  }

  @Override
  public ExecutionTrace execution(ClaimedTask claimed) {
    return new OpenTelemetryExecution(tracer, claimed);
  }
}
