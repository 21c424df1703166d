package dev.kagzi.engine.internal.run;

import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.value.RunId;
import java.sql.SQLException;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * Finds and deletes runs whose retention has passed. It scans the runs of a namespace in the order
 * of creation, because a run that ended long ago was created even earlier. An index on the end time
 * would cost every run an index insert.
 *
 * <p>A run stays as long as its parent or one of its children is open. The first run of a chain
 * stays as long as the last run, because the handles of clients have its id.
 */
public final class ExpiredRuns {
  /**
   * Prefix of a task in {@code maintenance_tasks}: a purge has deleted steps of the run whose id
   * follows, and will delete the rest. The run cannot be resumed.
   */
  public static final String PURGE_TASK = "PURGE ";

  // Scalar subqueries instead of EXISTS: for an EXISTS the planner would hash all open runs to
  // check a few.
  private static final String EXPIRED =
      """
      r.finished_at < kagzi.clock() - ? * interval '1 millisecond'
      AND r.cron_expr IS NULL
      AND coalesce((SELECT p.finished_at IS NOT NULL
                      FROM kagzi.workflow_runs p
                     WHERE p.run_id = r.parent_run_id), true)
      AND coalesce((SELECT false
                      FROM kagzi.workflow_runs c
                     WHERE c.parent_run_id = r.run_id AND c.finished_at IS NULL
                     LIMIT 1), true)
      AND coalesce((SELECT false
                      FROM kagzi.workflow_runs l
                     WHERE l.first_run_id = r.run_id AND l.continued_to IS NULL
                     LIMIT 1), true)
      """;

  static final String SCAN_SQL =
      """
      SELECT r.run_id, (extract(epoch FROM r.created_at) * 1000000)::bigint AS created_us,
             coalesce(%s, false) AS expired
        FROM kagzi.workflow_runs r
       WHERE r.namespace = ?
         AND (r.created_at, r.run_id) > (kagzi.at(?), ?)
         AND r.created_at < kagzi.clock() - ? * interval '1 millisecond'
       ORDER BY r.created_at, r.run_id
       LIMIT ?
      """
          .formatted(EXPIRED);

  /** Only one server deletes at a time; the others try again later. */
  static final String DELETION_LOCK_SQL = "SELECT pg_try_advisory_xact_lock(5422903174) AS locked";

  /** Checks under the lock that the runs are still expired; skips runs that others have locked. */
  static final String LOCK_SQL =
      """
      SELECT r.run_id
        FROM kagzi.workflow_runs r
       WHERE r.run_id = ANY (?::uuid[])
         AND %s
       ORDER BY r.run_id
         FOR UPDATE OF r SKIP LOCKED
      """
          .formatted(EXPIRED);

  // A large payload is stored in TOAST rows of about 2 KB each, which are deleted with it.
  static final String STORED_ROWS_SQL =
      """
      SELECT p.run_id, sum(1 + pg_column_size(p.data) / 2000)::int AS stored_rows
        FROM kagzi.workflow_payloads p
       WHERE p.run_id = ANY (?::uuid[])
       GROUP BY p.run_id
      """;

  static final String DELETE_PAYLOADS_SQL =
      "DELETE FROM kagzi.workflow_payloads WHERE run_id = ANY (?::uuid[])";

  private ExpiredRuns() {}

  public record Position(long createdUs, UUID runId) {
    public static final Position BEGIN = new Position(0, new UUID(0, 0));
  }

  public record Found(RunId runId, Position position, boolean expired) {}

  /** Reads the next runs that were created early enough to be expired, and whether they are. */
  public static List<Found> scan(
      Session session, String namespace, long keepMs, Position from, int max) throws SQLException {
    return session
        .query(SCAN_SQL)
        .bind(keepMs)
        .bind(namespace)
        .bind(from.createdUs)
        .bind(from.runId)
        .bind(keepMs)
        .bind(max)
        .list(
            row ->
                new Found(
                    row.runId("run_id"),
                    new Position(row.bigint("created_us"), row.uuid("run_id")),
                    row.bool("expired")));
  }

  /** Takes the deletion lock until the end of the transaction; false if another server has it. */
  public static boolean tryLockDeletion(Session tx) throws SQLException {
    return tx.query(DELETION_LOCK_SQL).first(row -> row.bool("locked")).orElse(false);
  }

  /** Returns the number of stored rows of each run's payloads, including TOAST rows. */
  public static Map<RunId, Integer> storedRows(Session session, Collection<RunId> runs)
      throws SQLException {
    Map<RunId, Integer> rows = new HashMap<>();
    session
        .query(STORED_ROWS_SQL)
        .bindUuids(runs, RunId::value)
        .list(row -> rows.put(row.runId("run_id"), row.integer("stored_rows")));
    return rows;
  }

  public static List<RunId> lock(Session tx, Collection<RunId> runs, long keepMs)
      throws SQLException {
    return tx.query(LOCK_SQL)
        .bindUuids(runs, RunId::value)
        .bind(keepMs)
        .list(row -> row.runId("run_id"));
  }

  public static void delete(Session tx, Collection<RunId> runs) throws SQLException {
    tx.query(DELETE_PAYLOADS_SQL).bindUuids(runs, RunId::value).update();
    tx.query(InsertRuns.DELETE_SQL).bindUuids(runs, RunId::value).update();
  }
}
