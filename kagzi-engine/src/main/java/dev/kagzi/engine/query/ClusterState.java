package dev.kagzi.engine.query;

import dev.kagzi.engine.internal.db.Row;
import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.WorkerStatus;
import java.sql.SQLException;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Queues and workers of all servers, as metrics show them. */
record ClusterState(List<Queue> queues, List<Workers> workers) {
  // How many combinations of queue, type and version are searched for their oldest due run. Those
  // with the most pending runs come first.
  private static final int PROBES_MAX = 10_000;

  /**
   * The open runs of a queue.
   *
   * @param oldestDueMs how long its oldest due run has waited; zero if no run is due or the
   *     namespace is disabled; null if unknown, because not all types and versions of the queue
   *     were searched
   */
  record Queue(
      String namespace,
      String name,
      long pending,
      long running,
      long sleeping,
      @Nullable Long oldestDueMs) {}

  /**
   * The workers of a queue that have the same status.
   *
   * @param used how many runs they execute, without workers that do not report it in heartbeats
   * @param free how many more runs they could take, without workers that do not report their load,
   *     have no limit, or drain
   */
  record Workers(
      String namespace, String queue, WorkerStatus status, long workers, long used, long free) {}

  static ClusterState read(Session session) throws SQLException {
    return new ClusterState(
        queueQuery(PROBES_MAX).on(session).list(ClusterState::queue),
        session.query(WORKERS).list(ClusterState::workersOfQueue));
  }

  /**
   * Takes the numbers from the counts. For the oldest due run it probes the claim index, once for
   * each type and version that has open runs; it reads no ended runs.
   */
  static SqlBuilder queueQuery(int probesMax) {
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
        .add("k AS MATERIALIZED (")
        .add("  SELECT namespace, task_queue, workflow_type, version FROM n")
        .add("   GROUP BY namespace, task_queue, workflow_type, version")
        .add("   ORDER BY sum(runs) FILTER (WHERE status = 'PENDING') DESC NULLS LAST")
        .add("   LIMIT ?),", probesMax)
        .add(OLDEST);
  }

  // A queue counts as searched if all its types and versions were searched. A disabled namespace
  // dispatches no runs on purpose, so its runs do not count as waiting.
  private static final String OLDEST =
      """
      o AS (
        SELECT k.namespace, k.task_queue, count(*) AS probes, min(d.available_at) AS due_at
          FROM k
          LEFT JOIN LATERAL (
               SELECT w.available_at
                 FROM kagzi.workflow_runs w
                WHERE w.namespace = k.namespace AND w.task_queue = k.task_queue
                  AND w.workflow_type = k.workflow_type AND w.version = k.version
                  AND w.available_at IS NOT NULL AND w.cron_expr IS NULL
                  AND w.available_at <= kagzi.clock()
                  AND NOT EXISTS (SELECT 1 FROM kagzi.namespaces m
                                   WHERE m.namespace = k.namespace AND NOT m.enabled)
                ORDER BY w.available_at
                LIMIT 1) AS d ON true
         GROUP BY k.namespace, k.task_queue)
      SELECT n.namespace, n.task_queue,
             coalesce(sum(n.runs) FILTER (WHERE n.status = 'PENDING'), 0)::bigint AS pending,
             coalesce(sum(n.runs) FILTER (WHERE n.status = 'RUNNING'), 0)::bigint AS running,
             coalesce(sum(n.runs) FILTER (WHERE n.status = 'SLEEPING'), 0)::bigint AS sleeping,
             coalesce(min(o.probes), 0) = count(DISTINCT (n.workflow_type, n.version)) AS searched,
             coalesce((extract(epoch FROM kagzi.clock() - min(o.due_at)) * 1000)::bigint, 0)
               AS oldest_due_ms
        FROM n
        LEFT JOIN o ON o.namespace = n.namespace AND o.task_queue = n.task_queue
       GROUP BY n.namespace, n.task_queue""";

  // A draining worker receives no runs, so its other slots are not free. A worker without a limit,
  // and one that does not report its load, have no slots.
  static final String WORKERS =
      """
      SELECT namespace, task_queue, status, count(*) AS workers,
             coalesce(sum(active_count) FILTER (WHERE sends_count), 0)::bigint AS used,
             coalesce(sum(greatest(concurrency_limit - active_count, 0))
                        FILTER (WHERE sends_count AND status = 'ONLINE'), 0)::bigint AS free
        FROM kagzi.workers
       WHERE status <> 'OFFLINE'
       GROUP BY namespace, task_queue, status
      """;

  static Queue queue(Row row) throws SQLException {
    long oldestDueMs = Math.max(0, row.bigint("oldest_due_ms"));
    return new Queue(
        row.text("namespace"),
        row.text("task_queue"),
        row.bigint("pending"),
        row.bigint("running"),
        row.bigint("sleeping"),
        row.bool("searched") || oldestDueMs > 0 ? oldestDueMs : null);
  }

  private static Workers workersOfQueue(Row row) throws SQLException {
    return new Workers(
        row.text("namespace"),
        row.text("task_queue"),
        WorkerStatus.valueOf(row.text("status")),
        row.bigint("workers"),
        row.bigint("used"),
        row.bigint("free"));
  }
}
