package dev.kagzi.engine;

import dev.kagzi.engine.db.StatementMeter;
import dev.kagzi.engine.journal.Journal;
import dev.kagzi.engine.task.DispatchMeter;

/** What the engine counts of itself. */
public final class EngineMeter {
  private final StatementMeter statements;
  private final DispatchMeter dispatch;
  private final Journal<?> journal;

  EngineMeter(StatementMeter statements, DispatchMeter dispatch, Journal<?> journal) {
    this.statements = statements;
    this.dispatch = dispatch;
    this.journal = journal;
  }

  public StatementMeter statements() {
    return statements;
  }

  public DispatchMeter dispatch() {
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
