package dev.kagzi.sdk.internal.otel;

import dev.kagzi.protocol.v1.StartWorkflowRequest;
import dev.kagzi.protocol.v1.StartWorkflowResponse;
import dev.kagzi.sdk.internal.log.EventLog;
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
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** Traces with an {@link OpenTelemetry} of the application. Thread-safe. */
public final class OpenTelemetryTracing implements Tracing {
  private static final EventLog log = EventLog.of(OpenTelemetryTracing.class);
  private static final StartTrace NOT_TRACED = (answer, thrown) -> {};

  private final Tracer tracer;
  private final TraceLimit limit;
  private final AtomicBoolean limitLogged = new AtomicBoolean();

  /**
   * @param tracesPerSecondMax how many starts per second may begin a trace of their own
   */
  public OpenTelemetryTracing(OpenTelemetry openTelemetry, int tracesPerSecondMax) {
    this(openTelemetry, new TraceLimit(tracesPerSecondMax, System::nanoTime));
  }

  OpenTelemetryTracing(OpenTelemetry openTelemetry, TraceLimit limit) {
    this.tracer = openTelemetry.getTracer("dev.kagzi.sdk");
    this.limit = limit;
  }

  @Override
  public StartTrace start(StartWorkflowRequest.Builder request) {
    Context caller = Context.current();
    boolean isInTrace = Span.fromContext(caller).getSpanContext().isValid();
    if (!isInTrace && !limit.tryTake()) {
      logLimit();
      TraceHeaders.injectNotSampled(caller, request);
      return NOT_TRACED;
    }
    Span span = startSpan(tracer, request, request.getTaskQueue(), caller);
    if (!isInTrace && !span.getSpanContext().isSampled()) {
      limit.giveBack();
    }
    if (!request.getExternalId().isEmpty()) {
      span.setAttribute(TraceNames.WORKFLOW_ID, request.getExternalId());
    }
    TraceHeaders.inject(caller.with(span), request);
    return (answer, thrown) -> endStart(span, answer, thrown);
  }

  private void logLimit() {
    if (limit.perSecondMax() > 0 && limitLogged.compareAndSet(false, true)) {
      log.warn(
              "runs are started faster than traces may begin, so some are not traced;"
                  + " Kagzi.Builder.tracesPerSecondMax changes the limit (logged once)")
          .with("traces_per_second_max", limit.perSecondMax())
          .write();
    }
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
