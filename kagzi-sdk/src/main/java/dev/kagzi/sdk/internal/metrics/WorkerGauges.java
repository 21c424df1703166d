package dev.kagzi.sdk.internal.metrics;

import dev.kagzi.sdk.internal.metrics.ClientMetrics.WorkerNumbers;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * The gauges of all workers that serve one queue with one registry, even if the workers belong to
 * several clients. A registry has each gauge once, so it shows the sum of these workers.
 * Thread-safe.
 */
final class WorkerGauges {
  private record Key(MeterRegistry registry, String namespace, String queue) {}

  /** The last worker of a queue removes its entry when it closes. */
  private static final Map<Key, WorkerGauges> ALL = new ConcurrentHashMap<>();

  private final List<WorkerNumbers> workers = new CopyOnWriteArrayList<>();
  private final List<Meter> gauges = new ArrayList<>();

  private WorkerGauges() {}

  /** Adds a worker to the gauges of its queue, until the returned action is run. */
  static Runnable add(
      MeterRegistry registry, String namespace, String queue, WorkerNumbers numbers) {
    Key key = new Key(registry, namespace, queue);
    ALL.compute(key, (same, present) -> (present == null ? open(key) : present).with(numbers));
    return () -> ALL.computeIfPresent(key, (same, present) -> present.without(numbers, registry));
  }

  private static WorkerGauges open(Key key) {
    WorkerGauges opened = new WorkerGauges();
    try {
      opened.register(key);
    } catch (Throwable e) {
      // If a gauge stayed, the registry would not accept the gauge of the next worker.
      opened.gauges.forEach(key.registry::remove);
      throw e;
    }
    return opened;
  }

  private void register(Key key) {
    Tags tags = Tags.of("namespace", key.namespace, "queue", key.queue);
    gauges.add(
        slots(tags.and("state", "used"), worker -> worker.used().getAsInt())
            .register(key.registry));
    gauges.add(
        slots(
                tags.and("state", "free"),
                worker -> Math.max(0, worker.slots() - worker.used().getAsInt()))
            .register(key.registry));
    gauges.add(
        Gauge.builder("kagzi.worker.stuck", () -> sum(worker -> worker.stuck().getAsInt()))
            .description("Runs whose code ignores its interrupt")
            .tags(tags)
            .register(key.registry));
  }

  private Gauge.Builder<?> slots(Tags tags, ToIntFunction<WorkerNumbers> number) {
    return Gauge.builder("kagzi.worker.slots", () -> sum(number))
        .description("Slots of the workers of a queue, by state")
        .tags(tags);
  }

  private int sum(ToIntFunction<WorkerNumbers> number) {
    return workers.stream().mapToInt(number).sum();
  }

  private WorkerGauges with(WorkerNumbers numbers) {
    workers.add(numbers);
    return this;
  }

  private @Nullable WorkerGauges without(WorkerNumbers numbers, MeterRegistry registry) {
    workers.remove(numbers);
    if (!workers.isEmpty()) {
      return this;
    }
    gauges.forEach(registry::remove);
    return null;
  }
}
