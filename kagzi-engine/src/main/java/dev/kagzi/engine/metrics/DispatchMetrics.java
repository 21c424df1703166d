package dev.kagzi.engine.metrics;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.concurrent.atomic.LongAdder;

/** Counts how runs reached their workers. Thread-safe. */
public final class DispatchMetrics {
  public final LongAdder handedOver = new LongAdder();
  public final LongAdder claimed = new LongAdder();
  public final LongAdder claimRounds = new LongAdder();
  public final LongAdder fallbackClaimed = new LongAdder();
  public final LongAdder polls = new LongAdder();
  private final BoundedMeters<QueueMetrics> queues;

  DispatchMetrics(MeterRegistry registry, BoundedLabels labels) {
    this.queues = new BoundedMeters<>(labels, tags -> new QueueMetrics(registry, tags));
    FunctionCounter.builder("kagzi.claim.rounds", claimRounds, LongAdder::sum)
        .description("Rounds of claim queries")
        .register(registry);
    FunctionCounter.builder("kagzi.dispatch.missed", fallbackClaimed, LongAdder::sum)
        .description("Due runs that no event announced and that the fallback check found")
        .register(registry);
    FunctionCounter.builder("kagzi.polls.answered", polls, LongAdder::sum)
        .description("Polls that were answered with tasks")
        .register(registry);
  }

  public QueueMetrics queue(String namespace, String queue) {
    return queues.of(namespace, queue);
  }

  /** Runs that were given to a waiting worker when they started, without a claim query. */
  public long handedOver() {
    return handedOver.sum();
  }

  /** Runs that claim queries have claimed for a worker. */
  public long claimed() {
    return claimed.sum();
  }

  /** Claim rounds of all queues; a round has a query for each group of waiting workers. */
  public long claimRounds() {
    return claimRounds.sum();
  }

  /** How often the fallback check found a due run that no event had announced. */
  public long fallbackClaimed() {
    return fallbackClaimed.sum();
  }

  /** Polls that were answered with tasks. */
  public long polls() {
    return polls.sum();
  }
}
