package dev.kagzi.engine.internal.signal;

import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.value.RunId;
import java.sql.SQLException;
import java.util.List;

/** Moves the buffered signals of runs that continue as new to their successors. */
public final class MoveSignals {
  /** Signals keep their numbers, and so their order. */
  public static final String SQL =
      """
      UPDATE kagzi.run_signals s
         SET run_id = n.to_run, chain_id = n.chain_id
        FROM unnest(?::uuid[], ?::uuid[], ?::uuid[]) AS n (run_id, to_run, chain_id)
       WHERE s.run_id = n.run_id AND s.step_id IS NULL AND s.answer IS NULL
      """;

  private MoveSignals() {}

  /**
   * A run and its successor, under whose locks the signals move.
   *
   * @param chain the first run of their chain
   */
  public record Move(RunId from, RunId to, RunId chain) {}

  public static void apply(Session tx, List<Move> moves) throws SQLException {
    tx.query(SQL)
        .bindUuids(moves, move -> move.from().value())
        .bindUuids(moves, move -> move.to().value())
        .bindUuids(moves, move -> move.chain().value())
        .update();
  }
}
