package dev.kagzi.sdk.internal.run;

import dev.kagzi.protocol.v1.ErrorDetail;
import dev.kagzi.sdk.internal.metrics.ClientMetrics;
import dev.kagzi.sdk.internal.trace.ExecutionTrace;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * The span and the metrics of one attempt of a step. Only its first end counts: an attempt that is
 * cut off has failed, even if its code returns a result afterwards. Thread-safe.
 */
final class StepTelemetry {
  /** Of a step that is not traced and not measured. */
  static final StepTelemetry NONE =
      new StepTelemetry("", ClientMetrics.NONE, ExecutionTrace.StepTrace.OFF);

  private final String workflowType;
  private final ClientMetrics metrics;
  private final ExecutionTrace.StepTrace trace;
  private final AtomicBoolean ended = new AtomicBoolean();

  StepTelemetry(String workflowType, ClientMetrics metrics, ExecutionTrace.StepTrace trace) {
    this.workflowType = workflowType;
    this.metrics = metrics;
    this.trace = trace;
  }

  /** The step's code has returned. Called by its own thread. */
  void leave() {
    trace.leave();
  }

  /** Without an error, the attempt has completed. */
  void ended(@Nullable ErrorDetail error, long nanos) {
    if (ended.compareAndSet(false, true)) {
      metrics.stepEnded(workflowType, error == null, nanos);
      trace.end(error);
    }
  }

  /** The run or the branch was stopped, so the attempt's result does not count. */
  void stopped() {
    if (ended.compareAndSet(false, true)) {
      trace.stopped();
    }
  }
}
