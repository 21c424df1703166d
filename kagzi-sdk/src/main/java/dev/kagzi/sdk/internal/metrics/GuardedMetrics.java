package dev.kagzi.sdk.internal.metrics;

import dev.kagzi.sdk.internal.log.TelemetryGuard;
import io.grpc.Status;

/** Metrics of an application that may throw: its registry, filters and listeners. Thread-safe. */
public final class GuardedMetrics implements ClientMetrics {
  private final TelemetryGuard guard = new TelemetryGuard("metrics");
  private final ClientMetrics metrics;

  public GuardedMetrics(ClientMetrics metrics) {
    this.metrics = metrics;
  }

  @Override
  public void callEnded(String method, Status.Code status, long nanos) {
    guard.run("call ended", () -> metrics.callEnded(method, status, nanos));
  }

  @Override
  public void runEnded(String queue, String type, String outcome) {
    guard.run("run ended", () -> metrics.runEnded(queue, type, outcome));
  }

  @Override
  public void stepEnded(String type, boolean completed, long nanos) {
    guard.run("step ended", () -> metrics.stepEnded(type, completed, nanos));
  }

  @Override
  public Runnable workerStarted(String queue, WorkerNumbers numbers) {
    Runnable stop =
        guard.get("worker started", () -> metrics.workerStarted(queue, numbers), () -> {});
    return () -> guard.run("worker stopped", stop);
  }
}
