package dev.kagzi.engine.internal.step;

import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.value.StepRef;
import java.sql.SQLException;
import java.util.List;

public final class OverdueSteps {
  public static final String SQL =
      """
      SELECT run_id, step_id, attempt, epoch
        FROM kagzi.step_runs
       WHERE timeout_at IS NOT NULL AND status = 'RUNNING'
         AND timeout_at <= kagzi.clock() - ? * interval '1 millisecond'
       ORDER BY timeout_at
       LIMIT ?
      """;

  private OverdueSteps() {}

  /** Finds attempts whose timeout passed at least {@code graceMs} ago. */
  public static List<StepRef> find(Session session, long graceMs, int max) throws SQLException {
    return session
        .query(SQL)
        .bind(graceMs)
        .bind(max)
        .list(
            row ->
                new StepRef(
                    row.runId("run_id"),
                    row.text("step_id"),
                    row.integer("attempt"),
                    row.integer("epoch")));
  }
}
