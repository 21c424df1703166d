package dev.kagzi.engine;

import dev.kagzi.engine.internal.journal.Journal;
import dev.kagzi.engine.metrics.DispatchMetrics;
import dev.kagzi.engine.metrics.StatementMetrics;

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
