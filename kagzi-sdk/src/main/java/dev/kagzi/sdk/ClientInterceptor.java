package dev.kagzi.sdk;

import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/** Stands around the starts of a client. Must be thread-safe and quick. */
public interface ClientInterceptor {
  /**
   * What is about to be started.
   *
   * @param workflowId the id given with {@link WorkflowStarter#id}; empty if none
   * @param version empty for the type's default
   */
  record Start(String type, String version, String queue, String workflowId) {}

  /**
   * Around one start.
   *
   * @param next makes the start, once
   * @return the run's id, as {@code next} gives it
   */
  CompletableFuture<String> start(Start start, Supplier<CompletableFuture<String>> next);
}
