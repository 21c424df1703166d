package dev.kagzi.engine;

import dev.kagzi.engine.internal.journal.Journal;
import dev.kagzi.engine.metrics.DispatchMetrics;
import dev.kagzi.engine.metrics.Meters;
import dev.kagzi.engine.metrics.StatementMetrics;
import io.micrometer.core.instrument.MeterRegistry;

/** The counters of an engine; all its meters are in {@link #registry}. Thread-safe. */
public final class EngineMetrics {
  private final StatementMetrics statements;
  private final DispatchMetrics dispatch;
  private final Journal<?> journal;
  private final MeterRegistry registry;

  public EngineMetrics(StatementMetrics statements, Meters meters, Journal<?> journal) {
    this.statements = statements;
    this.dispatch = meters.dispatch();
    this.registry = meters.registry();
    this.journal = journal;
  }

  public MeterRegistry registry() {
    return registry;
  }

  public StatementMetrics statements() {
    return statements;
  }

  public DispatchMetrics dispatch() {
    return dispatch;
  }

  public long journalBatches() {
    return journal.batches();
  }

  public long journalWrites() {
    return journal.written();
  }

  public int journalWaiting() {
    return journal.waiting();
  }
}
