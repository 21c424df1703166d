package dev.kagzi.sdk.internal.trace;

import dev.kagzi.protocol.v1.StartWorkflowRequest;

/** Traces starts and executions. Thread-safe. */
public interface Tracing {
  Tracing OFF = new NoTracing();

  /** Begins the trace of a start and adds its trace context to the headers of the request. */
  StartTrace start(StartWorkflowRequest.Builder request);

  /** Returns the trace of an execution that has just been claimed and does not run yet. */
  ExecutionTrace execution(ClaimedTask claimed);
}
