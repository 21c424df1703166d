package dev.kagzi.engine.query;

import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.query.Activity.Crashing;
import dev.kagzi.engine.query.Activity.DisabledNamespace;
import java.sql.SQLException;
import java.util.List;

/**
 * Finds runs that do not continue and that the numbers of queues do not show. The queues, types and
 * versions with open runs are in {@code run_counts}. For each of them, a limited number of runs is
 * read by the claim index.
 */
final class AttentionQueries {
  private static final int CRASHES_MIN = 2;
  private static final int KEYS_MAX = 200;
  private static final int SEARCHED_MAX = 500;
  private static final int NAMESPACES_MAX = 20;
  private static final int DUE_MAX = 100;

  // A crash makes a run due now or after a short delay. So of the due runs, those that became due
  // last are read: a crashed run must not be hidden by a long queue that waits before it.
  private static final String CRASHING =
      """
      WITH k AS MATERIALIZED (
        SELECT c.task_queue, c.workflow_type, c.version
          FROM (SELECT task_queue, workflow_type, version
                  FROM kagzi.run_counts
                 WHERE namespace = ? AND status IN ('PENDING', 'RUNNING', 'SLEEPING') AND runs > 0
                UNION
                SELECT task_queue, workflow_type, version
                  FROM kagzi.run_changes
                 WHERE namespace = ? AND to_status IN ('PENDING', 'RUNNING', 'SLEEPING')) c
         LIMIT ?)
      SELECT r.run_id, r.crashes
        FROM k
       CROSS JOIN LATERAL (
             (SELECT w.run_id, w.crashes
                FROM kagzi.workflow_runs w
               WHERE w.namespace = ? AND w.task_queue = k.task_queue
                 AND w.workflow_type = k.workflow_type AND w.version = k.version
                 AND w.available_at IS NOT NULL AND w.cron_expr IS NULL
                 AND w.available_at > kagzi.clock()
                 AND w.available_at <= kagzi.clock() + interval '10 minutes'
               ORDER BY w.available_at
               LIMIT ?)
             UNION ALL
             (SELECT w.run_id, w.crashes
                FROM kagzi.workflow_runs w
               WHERE w.namespace = ? AND w.task_queue = k.task_queue
                 AND w.workflow_type = k.workflow_type AND w.version = k.version
                 AND w.available_at IS NOT NULL AND w.cron_expr IS NULL
                 AND w.available_at <= kagzi.clock()
               ORDER BY w.available_at DESC
               LIMIT ?)) r
       WHERE r.crashes >= ?
       ORDER BY r.crashes DESC, r.run_id
       LIMIT ?
      """;

  private static final String DISABLED =
      """
      SELECT n.namespace, sum(least(d.runs, ?))::bigint AS due, max(d.runs) AS due_of_one,
             (extract(epoch FROM kagzi.clock() - min(d.oldest_at)) * 1000)::bigint AS due_ms
        FROM (SELECT namespace FROM kagzi.namespaces
               WHERE NOT enabled ORDER BY namespace LIMIT ?) n
       CROSS JOIN LATERAL (
             SELECT c.task_queue, c.workflow_type, c.version
               FROM (SELECT task_queue, workflow_type, version
                       FROM kagzi.run_counts
                      WHERE namespace = n.namespace
                        AND status IN ('PENDING', 'RUNNING', 'SLEEPING') AND runs > 0
                     UNION
                     SELECT task_queue, workflow_type, version
                       FROM kagzi.run_changes
                      WHERE namespace = n.namespace
                        AND to_status IN ('PENDING', 'RUNNING', 'SLEEPING')) c
              LIMIT ?) k
       CROSS JOIN LATERAL (
             SELECT count(*) AS runs, min(f.available_at) AS oldest_at
               FROM (SELECT w.available_at
                       FROM kagzi.workflow_runs w
                      WHERE w.namespace = n.namespace AND w.task_queue = k.task_queue
                        AND w.workflow_type = k.workflow_type AND w.version = k.version
                        AND w.available_at IS NOT NULL AND w.cron_expr IS NULL
                        AND w.available_at <= kagzi.clock()
                      ORDER BY w.available_at
                      LIMIT ?) f) d
       WHERE d.runs > 0
       GROUP BY n.namespace
       ORDER BY n.namespace
      """;

  private final Session session;

  AttentionQueries(Session session) {
    this.session = session;
  }

  /** Returns the runs that have lost two or more workers in a row, those with the most first. */
  List<Crashing> crashing(String namespace) throws SQLException {
    return crashingOf(namespace)
        .on(session)
        .list(row -> new Crashing(row.runId("run_id"), row.integer("crashes")));
  }

  static SqlBuilder crashingOf(String namespace) {
    return new SqlBuilder()
        .add(
            CRASHING,
            namespace,
            namespace,
            KEYS_MAX,
            namespace,
            SEARCHED_MAX,
            namespace,
            SEARCHED_MAX,
            CRASHES_MIN,
            Activity.CRASHING_MAX);
  }

  /** Returns the disabled namespaces that have due runs. */
  List<DisabledNamespace> disabled() throws SQLException {
    return disabledWithDue()
        .on(session)
        .list(
            row ->
                new DisabledNamespace(
                    row.text("namespace"),
                    new RunCount(row.bigint("due"), row.bigint("due_of_one") <= DUE_MAX),
                    Math.max(0, row.bigint("due_ms"))));
  }

  static SqlBuilder disabledWithDue() {
    return new SqlBuilder().add(DISABLED, DUE_MAX, NAMESPACES_MAX, KEYS_MAX, DUE_MAX + 1);
  }
}
