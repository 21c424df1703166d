package dev.kagzi.spring;

import dev.kagzi.sdk.WorkerBuilder;

/**
 * A bean that sets options of a worker before it starts, after those of {@link
 * KagziProperties.Worker}: for example a limit for a type, or a handler of all failures.
 */
@FunctionalInterface
public interface KagziWorkerCustomizer {
  /**
   * Sets options.
   *
   * @param queue the queue that this worker serves
   */
  void customize(String queue, WorkerBuilder worker);
}
