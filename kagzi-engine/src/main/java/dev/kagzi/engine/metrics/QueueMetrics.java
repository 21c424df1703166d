package dev.kagzi.engine.metrics;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.util.concurrent.TimeUnit;

/** Measures how the runs of one task queue reach workers. Thread-safe. */
public final class QueueMetrics {
  private final Counter direct;
  private final Counter query;
  private final Timer latency;

  QueueMetrics(MeterRegistry registry, Tags tags) {
    this.direct = claims(registry, tags, "direct");
    this.query = claims(registry, tags, "query");
    this.latency =
        Buckets.of(Timer.builder("kagzi.dispatch.latency"))
            .description("Time from the moment when a run is due until a worker receives it")
            .tags(tags)
            .register(registry);
  }

  private static Counter claims(MeterRegistry registry, Tags tags, String how) {
    return Counter.builder("kagzi.claims")
        .description("Claims: by direct hand-over at the start, or by a claim query")
        .tags(tags)
        .tag("how", how)
        .register(registry);
  }

  public void handedOver() {
    direct.increment();
  }

  public void claimed(int runs) {
    query.increment(runs);
  }

  /** A worker has received a run that is due since {@code dueNanos}. */
  public void handedOut(long dueNanos) {
    latency.record(System.nanoTime() - dueNanos, TimeUnit.NANOSECONDS);
  }
}
