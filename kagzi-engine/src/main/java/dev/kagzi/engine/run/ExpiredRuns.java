package dev.kagzi.engine.run;

import dev.kagzi.engine.db.Session;
import dev.kagzi.engine.value.RunId;
import java.sql.SQLException;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * Finds and deletes runs that ended long ago. They are found by a walk through the runs of a
 * namespace in the order of their creation, since a run that has ended so long ago was created even
 * longer ago: an index by the time of the end would cost every run an insert.
 *
 * <p>A run stays as long as its parent or one of its children is open.
 */
public final class ExpiredRuns {
  // Asked by subqueries that yield a value: in place of an EXISTS the planner would gather all open
  // runs there are, to look through a handful.
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
      """;

  static final String WALK_SQL =
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

  /** One server at a time deletes; the other comes back later. */
  static final String TURN_SQL = "SELECT pg_try_advisory_xact_lock(5422903174) AS turn";

  /** Looks again under the lock; one that somebody has is left for the next time. */
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

  // A large payload lies in rows of its own, of about 2 KB each, which all go with it.
  static final String WEIGH_SQL =
      """
      SELECT p.run_id, sum(1 + pg_column_size(p.data) / 2000)::int AS weight
        FROM kagzi.workflow_payloads p
       WHERE p.run_id = ANY (?::uuid[])
       GROUP BY p.run_id
      """;

  static final String DELETE_PAYLOADS_SQL =
      "DELETE FROM kagzi.workflow_payloads WHERE run_id = ANY (?::uuid[])";

  private ExpiredRuns() {}

  /** A place in the walk: behind this run. */
  public record Place(long createdUs, UUID runId) {
    public static final Place BEGIN = new Place(0, new UUID(0, 0));
  }

  /** A run that the walk came by. */
  public record Found(RunId runId, Place place, boolean expired) {}

  /** The next so many runs that are old enough to have expired, whether they have or not. */
  public static List<Found> walk(
      Session session, String namespace, long keepMs, Place from, int max) throws SQLException {
    return session
        .query(WALK_SQL)
        .bind(keepMs)
        .bind(namespace)
        .bind(from.createdUs)
        .bind(from.runId)
        .bind(keepMs)
        .bind(max)
        .list(
            row ->
                new Found(
                    new RunId(row.uuid("run_id")),
                    new Place(row.bigint("created_us"), row.uuid("run_id")),
                    row.bool("expired")));
  }

  /** True when nobody else deletes at the moment; until the end of the transaction. */
  public static boolean takeTurn(Session tx) throws SQLException {
    return tx.query(TURN_SQL).first(row -> row.bool("turn")).orElse(false);
  }

  /** How many rows go with the payloads of each. */
  public static Map<RunId, Integer> weigh(Session session, Collection<RunId> runs)
      throws SQLException {
    Map<RunId, Integer> weights = new HashMap<>();
    session
        .query(WEIGH_SQL)
        .bindUuids(runs, RunId::value)
        .list(row -> weights.put(new RunId(row.uuid("run_id")), row.integer("weight")));
    return weights;
  }

  /** Locks those that have expired indeed. */
  public static List<RunId> lock(Session tx, Collection<RunId> runs, long keepMs)
      throws SQLException {
    return tx.query(LOCK_SQL)
        .bindUuids(runs, RunId::value)
        .bind(keepMs)
        .list(row -> new RunId(row.uuid("run_id")));
  }

  /** Deletes locked runs with their payloads. */
  public static void delete(Session tx, Collection<RunId> runs) throws SQLException {
    tx.query(DELETE_PAYLOADS_SQL).bindUuids(runs, RunId::value).update();
    tx.query(InsertRuns.DELETE_SQL).bindUuids(runs, RunId::value).update();
  }
}
