package dev.kagzi.sdk.internal.trace;

import dev.kagzi.protocol.v1.ErrorDetail;
import dev.kagzi.protocol.v1.StartWorkflowRequest;
import dev.kagzi.sdk.StepContext;
import org.jspecify.annotations.Nullable;

/** Traces nothing and allocates nothing. */
final class NoTracing implements Tracing, ExecutionTrace, ExecutionTrace.StepTrace {
  private static final StartTrace NOT_TRACED = (answer, thrown) -> {};

  @Override
  public StartTrace start(StartWorkflowRequest.Builder request) {
    return NOT_TRACED;
  }

  @Override
  public ExecutionTrace execution(ClaimedTask claimed) {
    return this;
  }

  @Override
  public String traceId() {
    return "";
  }

  @Override
  public TraceScope begin() {
    return TraceScope.NONE;
  }

  @Override
  public TraceScope enter() {
    return TraceScope.NONE;
  }

  @Override
  public StepTrace step(StepContext step) {
    return this;
  }

  @Override
  public TraceScope sleep(String name, String key) {
    return TraceScope.NONE;
  }

  @Override
  public TraceScope receive(String name, String key) {
    return TraceScope.NONE;
  }

  @Override
  public void child(String key, StartWorkflowRequest.Builder start) {}

  @Override
  public void end(String outcome, @Nullable ErrorDetail error) {}

  @Override
  public void leave() {}

  @Override
  public void end(@Nullable ErrorDetail error) {}

  @Override
  public void stopped() {}
}
