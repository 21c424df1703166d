package dev.kagzi.sdk.internal.trace;

import dev.kagzi.protocol.v1.ErrorDetail;
import dev.kagzi.protocol.v1.StartWorkflowRequest;
import dev.kagzi.sdk.StepContext;
import dev.kagzi.sdk.internal.log.TelemetryGuard;
import org.jspecify.annotations.Nullable;

/**
 * Tracing by code of the application that may throw: samplers, span processors, exporters. A call
 * that throws traces nothing, and the SDK continues as without tracing. Thread-safe.
 */
public final class GuardedTracing implements Tracing {
  private final TelemetryGuard guard = new TelemetryGuard("tracing");
  private final Tracing tracing;

  public GuardedTracing(Tracing tracing) {
    this.tracing = tracing;
  }

  @Override
  public StartTrace start(StartWorkflowRequest.Builder request) {
    StartTrace start =
        guard.get("start begins", () -> tracing.start(request), (answer, thrown) -> {});
    return (answer, thrown) -> guard.run("start ends", () -> start.end(answer, thrown));
  }

  @Override
  public ExecutionTrace execution(ClaimedTask claimed) {
    return new Execution(
        guard.get("task arrives", () -> tracing.execution(claimed), ExecutionTrace.OFF));
  }

  private TraceScope guarded(TraceScope scope) {
    return () -> guard.run("scope closes", scope::close);
  }

  private final class Execution implements ExecutionTrace {
    private final ExecutionTrace execution;

    Execution(ExecutionTrace execution) {
      this.execution = execution;
    }

    @Override
    public String traceId() {
      return guard.get("trace id", execution::traceId, "");
    }

    @Override
    public TraceScope begin() {
      return guarded(guard.get("run begins", execution::begin, TraceScope.NONE));
    }

    @Override
    public TraceScope enter() {
      return guarded(guard.get("branch begins", execution::enter, TraceScope.NONE));
    }

    @Override
    public StepTrace step(StepContext step) {
      return new Step(guard.get("step begins", () -> execution.step(step), StepTrace.OFF));
    }

    @Override
    public TraceScope sleep(String name, String key) {
      return guarded(guard.get("sleep begins", () -> execution.sleep(name, key), TraceScope.NONE));
    }

    @Override
    public TraceScope receive(String name, String key) {
      return guarded(
          guard.get("receive begins", () -> execution.receive(name, key), TraceScope.NONE));
    }

    @Override
    public void child(String key, StartWorkflowRequest.Builder start) {
      guard.run("child starts", () -> execution.child(key, start));
    }

    @Override
    public void end(String outcome, @Nullable ErrorDetail error) {
      guard.run("run ends", () -> execution.end(outcome, error));
    }
  }

  private final class Step implements ExecutionTrace.StepTrace {
    private final ExecutionTrace.StepTrace step;

    Step(ExecutionTrace.StepTrace step) {
      this.step = step;
    }

    @Override
    public void leave() {
      guard.run("step leaves", step::leave);
    }

    @Override
    public void end(@Nullable ErrorDetail error) {
      guard.run("step ends", () -> step.end(error));
    }

    @Override
    public void stopped() {
      guard.run("step stops", step::stopped);
    }
  }
}
