package dev.kagzi.sdk.internal.otel;

import dev.kagzi.protocol.v1.ErrorDetail;
import dev.kagzi.protocol.v1.StartWorkflowRequest;
import dev.kagzi.protocol.v1.Task;
import dev.kagzi.sdk.Failure;
import dev.kagzi.sdk.StepContext;
import dev.kagzi.sdk.internal.log.LogContext;
import dev.kagzi.sdk.internal.log.MdcScope;
import dev.kagzi.sdk.internal.trace.ClaimedTask;
import dev.kagzi.sdk.internal.trace.ExecutionTrace;
import dev.kagzi.sdk.internal.trace.TraceScope;
import dev.kagzi.sdk.internal.wire.ProtoMapper;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.AttributesBuilder;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.Scope;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The spans of one execution. {@code kagzi.claim} lasts from the arrival of the task until its code
 * begins. It is the parent of {@code kagzi.run}, which lasts until the execution ends, and of all
 * steps, sleeps, receives and starts of children. Thread-safe.
 */
final class OpenTelemetryExecution implements ExecutionTrace {
  /**
   * An execution that begins later than this after the run's creation also links to the start's
   * span. Many backends assemble a trace only from the spans of a limited time.
   */
  private static final Duration LONG_GONE = Duration.ofHours(1);

  private final Tracer tracer;
  private final ClaimedTask claimed;
  private final Instant arrivedAt = Instant.now();

  private final TraceHeaders.StartContext start;

  /** The parent of all that this execution does; the start's context until {@link #begin}. */
  private volatile Context context;

  private volatile Span run = Span.getInvalid();

  /**
   * Whether the start is not sampled: then this execution has no spans. The sampler is not asked,
   * because a span that it drops costs an id, a name, attributes and a context.
   */
  private final boolean isLeftOut;

  OpenTelemetryExecution(Tracer tracer, ClaimedTask claimed) {
    this.tracer = tracer;
    this.claimed = claimed;
    this.start = TraceHeaders.extract(claimed.task());
    this.context = start.context();
    this.isLeftOut = !Span.fromContext(context).getSpanContext().isSampled();
  }

  @Override
  public String traceId() {
    return Span.fromContext(start.context()).getSpanContext().getTraceId();
  }

  @Override
  public TraceScope begin() {
    if (isLeftOut) {
      return enter();
    }
    SpanBuilder claim =
        builder("kagzi.claim ", start.context())
            .setSpanKind(SpanKind.CONSUMER)
            .setStartTimestamp(arrivedAt);
    if (start.isTraced() && isLongGone()) {
      claim.addLink(Span.fromContext(start.context()).getSpanContext());
    }
    Span span = claim.startSpan();
    span.end();
    context = start.context().with(span);
    run = builder("kagzi.run ", context).startSpan();
    return enter();
  }

  private boolean isLongGone() {
    Instant createdAt = ProtoMapper.instant(claimed.task().getCreatedAt());
    return arrivedAt.isAfter(createdAt.plus(LONG_GONE));
  }

  private SpanBuilder builder(String name, Context parent) {
    Task task = claimed.task();
    return tracer
        .spanBuilder(name + task.getWorkflowType())
        .setParent(parent)
        .setAttribute(TraceNames.NAMESPACE, claimed.namespace())
        .setAttribute(TraceNames.TASK_QUEUE, claimed.queue())
        .setAttribute(TraceNames.WORKFLOW_TYPE, task.getWorkflowType())
        .setAttribute(TraceNames.WORKFLOW_VERSION, task.getVersion())
        .setAttribute(TraceNames.RUN_ID, task.getRunId())
        .setAttribute(TraceNames.RUN_ATTEMPT, (long) task.getAttempt())
        .setAttribute(TraceNames.RUN_EPOCH, (long) task.getEpoch())
        .setAttribute(TraceNames.WORKER_ID, claimed.workerId());
  }

  @Override
  public TraceScope enter() {
    return current(context);
  }

  // The scope and the ids must be closed in the thread that opened them.
  @SuppressWarnings("MustBeClosedChecker")
  private static TraceScope current(Context context) {
    SpanContext ids = Span.fromContext(context).getSpanContext();
    Scope scope = context.makeCurrent();
    MdcScope logged = LogContext.enterSpan(ids.getTraceId(), ids.getSpanId());
    return () -> {
      try {
        scope.close();
      } finally {
        logged.close();
      }
    };
  }

  @Override
  public StepTrace step(StepContext step) {
    if (isLeftOut) {
      return StepTrace.OFF;
    }
    Span span =
        stepBuilder("kagzi.step " + step.name(), step.step())
            .setAttribute(TraceNames.STEP_ATTEMPT, (long) step.attempt())
            .startSpan();
    // The current context may have more than the execution's: what interceptors and code have
    // added.
    return new Step(span, current(Context.current().with(span)));
  }

  private SpanBuilder stepBuilder(String name, String key) {
    Task task = claimed.task();
    return tracer
        .spanBuilder(name)
        .setParent(context)
        .setAttribute(TraceNames.RUN_ID, task.getRunId())
        .setAttribute(TraceNames.RUN_EPOCH, (long) task.getEpoch())
        .setAttribute(TraceNames.STEP_KEY, key);
  }

  private record Step(Span span, TraceScope scope) implements StepTrace {
    @Override
    public void leave() {
      scope.close();
    }

    @Override
    public void end(@Nullable ErrorDetail error) {
      if (error != null) {
        fail(span, error);
      }
      span.end();
    }

    @Override
    public void stopped() {
      span.setAttribute(TraceNames.STEP_STOPPED, true).end();
    }
  }

  @Override
  public TraceScope sleep(String name, String key) {
    return waitSpan("kagzi.sleep " + name, key);
  }

  @Override
  public TraceScope receive(String name, String key) {
    return waitSpan("kagzi.receive " + name, key);
  }

  private TraceScope waitSpan(String name, String key) {
    return isLeftOut ? TraceScope.NONE : stepBuilder(name, key).startSpan()::end;
  }

  @Override
  public void child(String key, StartWorkflowRequest.Builder child) {
    if (isLeftOut) {
      TraceHeaders.inject(Context.current().with(Span.fromContext(context)), child);
      return;
    }
    // Without a queue of its own, the child is started on that of its parent.
    String queue = child.getTaskQueue().isEmpty() ? claimed.queue() : child.getTaskQueue();
    Span span = OpenTelemetryTracing.startSpan(tracer, child, queue, context);
    span.setAttribute(TraceNames.STEP_KEY, key);
    TraceHeaders.inject(Context.current().with(span), child);
    span.end();
  }

  @Override
  public void end(String outcome, @Nullable ErrorDetail error) {
    run.setAttribute(TraceNames.RUN_OUTCOME, outcome);
    if (error != null) {
      fail(run, error);
    }
    run.end();
  }

  private static void fail(Span span, ErrorDetail error) {
    Failure failure = ProtoMapper.failure(error);
    AttributesBuilder exception =
        Attributes.builder()
            .put(TraceNames.EXCEPTION_TYPE, failure.type())
            .put(TraceNames.EXCEPTION_MESSAGE, failure.message());
    failure.stack().ifPresent(stack -> exception.put(TraceNames.EXCEPTION_STACK, stack));
    span.setStatus(StatusCode.ERROR, failure.message()).addEvent("exception", exception.build());
  }
}
