package dev.kagzi.sdk.internal.worker;

import dev.kagzi.sdk.internal.run.FailureRecorder;
import dev.kagzi.sdk.internal.run.InterceptorChain;
import dev.kagzi.sdk.internal.run.Nondeterminism;
import dev.kagzi.sdk.internal.run.RegisteredWorkflow;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * What one queue's worker is to do.
 *
 * @param maxConcurrent runs at once
 * @param typeLimits runs at once of some types
 * @param version of the deployment, to be shown
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
    InterceptorChain around,
    Nondeterminism nondeterminism) {
  public WorkerSettings {
    codes = List.copyOf(codes);
    typeLimits = Map.copyOf(typeLimits);
    labels = Map.copyOf(labels);
  }
}
