package dev.kagzi.sdk;

import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * Intercepts the starts of a client: {@link Kagzi.Builder#interceptor}. Implementations must be
 * thread-safe and must not block.
 */
public interface ClientInterceptor {
  /**
   * The start that is intercepted.
   *
   * @param workflowId the id set with {@link WorkflowStarter#id}; empty if none
   * @param version the workflow type's version; empty for the type's default
   * @param headers the start's headers ({@link WorkflowStarter#header}). An interceptor may change
   *     this map before it calls {@code next}.
   */
  record Start(
      String type, String version, String queue, String workflowId, Map<String, String> headers) {}

  /**
   * Intercepts one start.
   *
   * @param next sends the start; call it exactly once
   * @return the run's id that {@code next} returned
   */
  CompletableFuture<String> start(Start start, Supplier<CompletableFuture<String>> next);
}
