package dev.kagzi.sdk.internal.trace;

import dev.kagzi.protocol.v1.StartWorkflowRequest;
import dev.kagzi.protocol.v1.StartWorkflowResponse;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/** Traces starts and executions. Thread-safe. */
public interface Tracing {
  Tracing OFF = new NoTracing();

  /**
   * Traces a start and adds its trace context to the headers of the request.
   *
   * @param send sends the request; called once, after the headers are set
   */
  CompletableFuture<StartWorkflowResponse> start(
      StartWorkflowRequest.Builder request,
      Supplier<CompletableFuture<StartWorkflowResponse>> send);

  /** Returns the trace of an execution that has just been claimed and does not run yet. */
  ExecutionTrace execution(ClaimedTask claimed);
}
