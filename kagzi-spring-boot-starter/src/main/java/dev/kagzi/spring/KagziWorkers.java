package dev.kagzi.spring;

import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.Worker;
import dev.kagzi.sdk.WorkerBuilder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.springframework.context.SmartLifecycle;

/**
 * Starts a worker for each queue when everything else of the application has started, and drains
 * them before anything else stops: their phase is the last. Thread-safe.
 *
 * <p>All workers are drained at the same time, so a shutdown takes one drain timeout at most. A
 * restart of the context, for example by devtools, leaves no claims behind, because a drained
 * worker has finished or released its runs.
 */
final class KagziWorkers implements SmartLifecycle {
  private final Kagzi kagzi;
  private final KagziProperties properties;
  private final Map<String, List<WorkflowDefinition<?, ?>>> definitions;
  private final List<KagziWorkerCustomizer> customizers;

  /** By queue; empty while stopped. */
  private final Map<String, Worker> workers = new TreeMap<>();

  private boolean running;

  KagziWorkers(
      Kagzi kagzi,
      KagziProperties properties,
      List<WorkflowDefinition<?, ?>> definitions,
      List<KagziWorkerCustomizer> customizers) {
    this.kagzi = kagzi;
    this.properties = properties;
    this.definitions = byQueue(properties.worker(), definitions);
    this.customizers = List.copyOf(customizers);
  }

  private static Map<String, List<WorkflowDefinition<?, ?>>> byQueue(
      KagziProperties.Worker options, List<WorkflowDefinition<?, ?>> definitions) {
    Map<String, List<WorkflowDefinition<?, ?>>> byQueue = new TreeMap<>();
    for (WorkflowDefinition<?, ?> each : definitions) {
      byQueue.computeIfAbsent(each.type().queue(), unused -> new ArrayList<>()).add(each);
    }
    if (options.queues().isEmpty()) {
      return byQueue;
    }
    for (String queue : options.queues()) {
      if (!byQueue.containsKey(queue)) {
        throw new IllegalStateException(
            "kagzi.worker.queues: %s (expected: queues of WorkflowDefinition beans: %s)"
                .formatted(queue, byQueue.keySet()));
      }
    }
    byQueue.keySet().retainAll(options.queues());
    return byQueue;
  }

  @Override
  public synchronized void start() {
    Duration timeout = properties.startTimeout();
    if (timeout.isPositive()) {
      kagzi.ping(timeout);
    }
    if (properties.worker().enabled()) {
      definitions.forEach((queue, served) -> workers.put(queue, start(queue, served)));
    }
    running = true;
  }

  private Worker start(String queue, List<WorkflowDefinition<?, ?>> served) {
    KagziProperties.Worker options = properties.worker();
    WorkerBuilder worker =
        kagzi
            .worker(queue)
            .maxConcurrent(options.maxConcurrent())
            .drainTimeout(options.drainTimeout())
            .drainOnShutdown(false);
    options.labels().forEach(worker::label);
    String version = options.version();
    if (version != null) {
      worker.version(version);
    }
    served.forEach(each -> register(worker, each));
    customizers.forEach(each -> each.customize(queue, worker));
    return worker.start();
  }

  private static <I, O> void register(WorkerBuilder worker, WorkflowDefinition<I, O> definition) {
    worker.workflow(definition.type(), definition);
  }

  @Override
  public void stop(Runnable callback) {
    Thread.ofVirtual()
        .name("kagzi-drain")
        .start(
            () -> {
              try {
                stop();
              } finally {
                callback.run();
              }
            });
  }

  @Override
  public void stop() {
    List<Worker> stopped;
    synchronized (this) {
      stopped = List.copyOf(workers.values());
      workers.clear();
      running = false;
    }
    stopped.forEach(Worker::shutdown);
    stopped.forEach(Worker::close);
  }

  @Override
  public synchronized boolean isRunning() {
    return running;
  }

  /** Returns the names of the served workflow types by queue. */
  Map<String, List<String>> types() {
    Map<String, List<String>> types = new LinkedHashMap<>();
    definitions.forEach(
        (queue, served) ->
            types.put(queue, served.stream().map(each -> each.type().toString()).toList()));
    return types;
  }

  /** Returns the workers by queue. */
  synchronized Map<String, Worker> workers() {
    return new LinkedHashMap<>(workers);
  }
}
