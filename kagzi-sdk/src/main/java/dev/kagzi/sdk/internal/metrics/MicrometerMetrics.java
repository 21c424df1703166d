package dev.kagzi.sdk.internal.metrics;

import io.grpc.Status;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/** Metrics in the application's registry. Thread-safe. */
public final class MicrometerMetrics implements ClientMetrics {
  private final MeterRegistry registry;
  private final String namespace;
  private final Map<String, Map<Status.Code, Timer>> calls = new ConcurrentHashMap<>();
  private final Map<String, Map<Boolean, Timer>> steps = new ConcurrentHashMap<>();
  private final Map<Run, Counter> runs = new ConcurrentHashMap<>();

  private record Run(String queue, String type, String outcome) {}

  public MicrometerMetrics(MeterRegistry registry, String namespace) {
    this.registry = registry;
    this.namespace = namespace;
  }

  @Override
  public void callEnded(String method, Status.Code status, long nanos) {
    timer(method, status).record(nanos, TimeUnit.NANOSECONDS);
  }

  private Timer timer(String method, Status.Code code) {
    return cached(
        cached(calls, method, name -> new ConcurrentHashMap<>()),
        code,
        status ->
            Timer.builder("kagzi.client.calls")
                .description("Calls to the server, by method and status")
                .tag("namespace", namespace)
                .tag("method", method.substring(method.lastIndexOf('.') + 1))
                .tag("status", status.name())
                .register(registry));
  }

  @Override
  public void runEnded(String queue, String type, String outcome) {
    cached(
            runs,
            new Run(queue, type, outcome),
            run ->
                Counter.builder("kagzi.worker.runs")
                    .description("Executions of runs, by outcome")
                    .tag("namespace", namespace)
                    .tags("queue", run.queue, "type", run.type, "outcome", run.outcome)
                    .register(registry))
        .increment();
  }

  @Override
  public void stepEnded(String type, boolean completed, long nanos) {
    cached(
            cached(steps, type, name -> new ConcurrentHashMap<>()),
            completed,
            result ->
                Timer.builder("kagzi.worker.steps")
                    .description("Attempts of steps, by outcome")
                    .tag("namespace", namespace)
                    .tags("type", type, "outcome", result ? "completed" : "failed")
                    .register(registry))
        .record(nanos, TimeUnit.NANOSECONDS);
  }

  // computeIfAbsent alone may lock, also if the key is present.
  private static <K, V> V cached(Map<K, V> all, K key, Function<K, V> create) {
    V found = all.get(key);
    return found == null ? all.computeIfAbsent(key, create) : found;
  }

  @Override
  public Runnable workerStarted(String queue, WorkerNumbers numbers) {
    return WorkerGauges.add(registry, namespace, queue, numbers);
  }
}
