package dev.kagzi.engine;

import dev.kagzi.engine.db.StatementMetrics;
import dev.kagzi.engine.dispatch.DispatchMetrics;
import dev.kagzi.engine.journal.Journal;

/** What the engine counts of itself. */
public final class EngineMetrics {
  private final StatementMetrics statements;
  private final DispatchMetrics dispatch;
  private final Journal<?> journal;

  EngineMetrics(StatementMetrics statements, DispatchMetrics dispatch, Journal<?> journal) {
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

  /** Batches that the lanes have taken. */
  public long journalBatches() {
    return journal.batches();
  }

  /** Writes that the lanes have taken. */
  public long journalWrites() {
    return journal.written();
  }

  /** Writes that wait for a lane now. */
  public int journalWaiting() {
    return journal.waiting();
  }
}
