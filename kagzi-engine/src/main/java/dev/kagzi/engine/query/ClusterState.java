package dev.kagzi.engine.query;

import dev.kagzi.engine.internal.db.Row;
import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.WorkerStatus;
import java.sql.SQLException;
import java.util.List;
import java.util.Set;

/** Queues and workers of all servers, as metrics show them. */
record ClusterState(List<Queue> queues, List<Workers> workers) {
  // How many pairs of queue and type, with version, are searched for their oldest due run.
  private static final int PROBES_MAX = 1_000;

  /**
   * The open runs of a queue.
   *
   * @param oldestDueMs since when its oldest due run waits; zero if no run is due
   */
  record Queue(
      String namespace, String name, long pending, long running, long sleeping, long oldestDueMs) {}

  /**
   * The workers of a queue that have the same status.
   *
   * @param slots the sum of their concurrency limits
   * @param used how many runs they execute, as their heartbeats say
   */
  record Workers(
      String namespace, String queue, WorkerStatus status, long workers, long slots, long used) {}

  static ClusterState read(Session session) throws SQLException {
    return new ClusterState(
        queueQuery().on(session).list(ClusterState::queue),
        session.query(WORKERS).list(ClusterState::workersOfQueue));
  }

  /**
   * Takes the numbers from the counts. For the oldest due run it probes the claim index, once for
   * each type and version that has open runs; it reads no ended runs.
   */
  static SqlBuilder queueQuery() {
    StatsQueries.Filter open =
        new StatsQueries.Filter(
            null,
            null,
            null,
            null,
            Set.of(RunStatus.PENDING, RunStatus.RUNNING, RunStatus.SLEEPING));
    return new SqlBuilder()
        .add("WITH n AS MATERIALIZED (")
        .add("  SELECT u.namespace, u.task_queue, u.workflow_type, u.version, u.status,")
        .add("         sum(u.runs)::bigint AS runs FROM (")
        .add(StatsQueries.counted(open))
        .add(") u GROUP BY u.namespace, u.task_queue, u.workflow_type, u.version, u.status")
        .add("HAVING sum(u.runs) > 0),")
        .add("k AS (")
        .add("  SELECT DISTINCT namespace, task_queue, workflow_type, version FROM n")
        .add("   LIMIT ?),", PROBES_MAX)
        .add(OLDEST);
  }

  private static final String OLDEST =
      """
      o AS (
        SELECT k.namespace, k.task_queue, min(d.available_at) AS due_at
          FROM k
         CROSS JOIN LATERAL (
               SELECT w.available_at
                 FROM kagzi.workflow_runs w
                WHERE w.namespace = k.namespace AND w.task_queue = k.task_queue
                  AND w.workflow_type = k.workflow_type AND w.version = k.version
                  AND w.available_at IS NOT NULL AND w.cron_expr IS NULL
                  AND w.available_at <= kagzi.clock()
                ORDER BY w.available_at
                LIMIT 1) AS d
         GROUP BY k.namespace, k.task_queue)
      SELECT n.namespace, n.task_queue,
             coalesce(sum(n.runs) FILTER (WHERE n.status = 'PENDING'), 0)::bigint AS pending,
             coalesce(sum(n.runs) FILTER (WHERE n.status = 'RUNNING'), 0)::bigint AS running,
             coalesce(sum(n.runs) FILTER (WHERE n.status = 'SLEEPING'), 0)::bigint AS sleeping,
             coalesce((extract(epoch FROM kagzi.clock() - min(o.due_at)) * 1000)::bigint, 0)
               AS oldest_due_ms
        FROM n
        LEFT JOIN o ON o.namespace = n.namespace AND o.task_queue = n.task_queue
       GROUP BY n.namespace, n.task_queue""";

  static final String WORKERS =
      """
      SELECT namespace, task_queue, status, count(*) AS workers,
             coalesce(sum(concurrency_limit), 0)::bigint AS slots,
             coalesce(sum(active_count), 0)::bigint AS used
        FROM kagzi.workers
       WHERE status <> 'OFFLINE'
       GROUP BY namespace, task_queue, status
      """;

  private static Queue queue(Row row) throws SQLException {
    return new Queue(
        row.text("namespace"),
        row.text("task_queue"),
        row.bigint("pending"),
        row.bigint("running"),
        row.bigint("sleeping"),
        Math.max(0, row.bigint("oldest_due_ms")));
  }

  private static Workers workersOfQueue(Row row) throws SQLException {
    return new Workers(
        row.text("namespace"),
        row.text("task_queue"),
        WorkerStatus.valueOf(row.text("status")),
        row.bigint("workers"),
        row.bigint("slots"),
        row.bigint("used"));
  }
}
