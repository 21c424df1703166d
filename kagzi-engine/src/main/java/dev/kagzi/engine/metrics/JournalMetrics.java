package dev.kagzi.engine.metrics;

import dev.kagzi.engine.value.Refusal;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;

/** Measures a journal. Thread-safe. */
public final class JournalMetrics {
  private static final double[] BATCHES = {1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000};

  private final MeterRegistry registry;
  private final String journal;
  private final DistributionSummary batches;
  private final Timer commits;
  private final Counter full;
  private final Counter unavailable;
  private final Counter refused;

  JournalMetrics(MeterRegistry registry, String journal) {
    this.registry = registry;
    this.journal = journal;
    this.batches =
        DistributionSummary.builder("kagzi.journal.batch.writes")
            .description("Writes in one batch of the journal")
            .tag("journal", journal)
            .serviceLevelObjectives(BATCHES)
            .register(registry);
    this.commits =
        Buckets.of(Timer.builder("kagzi.journal.commit"))
            .description("Time to execute and commit a batch of the journal")
            .tag("journal", journal)
            .register(registry);
    this.full = rejects("full");
    this.unavailable = rejects("unavailable");
    this.refused = rejects("refused");
  }

  private Counter rejects(String reason) {
    return Counter.builder("kagzi.journal.rejected.writes")
        .description("Writes that the journal could not make durable, by reason")
        .tag("journal", journal)
        .tag("reason", reason)
        .register(registry);
  }

  /** Binds the gauges of what waits to be written. */
  public <J> void bindQueue(J source, ToDoubleFunction<J> writes, ToDoubleFunction<J> bytes) {
    Gauge.builder("kagzi.journal.queue.writes", source, writes)
        .description("Writes that wait for a lane of the journal")
        .tag("journal", journal)
        .register(registry);
    Gauge.builder("kagzi.journal.queue.bytes", source, bytes)
        .description("Bytes that wait for a lane of the journal")
        .tag("journal", journal)
        .register(registry);
  }

  public void batch(int writes) {
    batches.record(writes);
  }

  public void committed(long nanos) {
    commits.record(nanos, TimeUnit.NANOSECONDS);
  }

  public void rejected(Refusal.Reason reason, int writes) {
    Counter counter =
        switch (reason) {
          case RESOURCE_EXHAUSTED -> full;
          case UNAVAILABLE -> unavailable;
          default -> refused;
        };
    counter.increment(writes);
  }
}
