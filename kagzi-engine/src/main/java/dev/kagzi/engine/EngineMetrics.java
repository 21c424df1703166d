package dev.kagzi.engine;

import dev.kagzi.engine.internal.journal.Journal;
import dev.kagzi.engine.metrics.DispatchMetrics;
import dev.kagzi.engine.metrics.StatementMetrics;

/** Counters of the engine. */
public final class EngineMetrics {
  private final StatementMetrics statements;
  private final DispatchMetrics dispatch;
  private final Journal<?> journal;

  public EngineMetrics(StatementMetrics statements, DispatchMetrics dispatch, Journal<?> journal) {
    this.statements = statements;
    this.dispatch = dispatch;
    this.journal = journal;
  }

  public StatementMetrics statements() {
    return statements;
  }

  public DispatchMetrics dispatch() {
    return dispatch;
  }

  /** Batches that the lanes have taken from their queues. */
  public long journalBatches() {
    return journal.batches();
  }

  /** Writes that the lanes have taken from their queues. */
  public long journalWrites() {
    return journal.written();
  }

  /** Writes in the queues of the lanes now. */
  public int journalWaiting() {
    return journal.waiting();
  }
}
