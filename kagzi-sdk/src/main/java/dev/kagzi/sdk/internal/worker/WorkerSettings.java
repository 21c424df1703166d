package dev.kagzi.sdk.internal.worker;

import dev.kagzi.sdk.internal.run.FailureRecorder;
import dev.kagzi.sdk.internal.run.InterceptorChain;
import dev.kagzi.sdk.internal.run.Nondeterminism;
import dev.kagzi.sdk.internal.run.RegisteredWorkflow;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * The settings of the worker of one queue.
 *
 * @param maxConcurrent maximum number of concurrent runs
 * @param typeLimits maximum number of concurrent runs by workflow type
 * @param version of the deployment, for display
 */
public record WorkerSettings(
    String queue,
    List<RegisteredWorkflow<?, ?>> codes,
    int maxConcurrent,
    Map<String, Integer> typeLimits,
    Map<String, String> labels,
    String version,
    String hostname,
    Duration drainTimeout,
    FailureRecorder failures,
    InterceptorChain interceptors,
    Nondeterminism nondeterminism) {
  public WorkerSettings {
    codes = List.copyOf(codes);
    typeLimits = Map.copyOf(typeLimits);
    labels = Map.copyOf(labels);
  }
}
