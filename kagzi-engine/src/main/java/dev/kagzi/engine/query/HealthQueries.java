package dev.kagzi.engine.query;

import dev.kagzi.engine.internal.db.Row;
import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.value.WorkerId;
import dev.kagzi.engine.value.WorkerStatus;
import java.sql.SQLException;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

final class HealthQueries {
  private static final String NOT_OFFLINE =
      """
      SELECT worker_id, namespace, task_queue, status,
             (extract(epoch FROM kagzi.clock() - last_heartbeat_at) * 1000)::bigint AS silent_ms
        FROM kagzi.workers
       WHERE status <> 'OFFLINE'""";

  // Workers with the same types and versions on one queue are reported once, by the last of them.
  // Runs of a version that an online worker serves do not wait; '*' is any version. A run in its
  // delay after a crash counts as waiting.
  static final String DEAD =
      """
      SELECT d.worker_id, d.namespace, d.task_queue, d.status,
             (extract(epoch FROM kagzi.clock() - d.last_heartbeat_at) * 1000)::bigint AS silent_ms
        FROM (SELECT DISTINCT ON (w.namespace, w.task_queue, w.workflow_types, w.served_versions) w.*
                FROM kagzi.workers w
               WHERE w.died AND (?::text IS NULL OR w.namespace = ?)
               ORDER BY w.namespace, w.task_queue, w.workflow_types, w.served_versions,
                        w.last_heartbeat_at DESC) d
       WHERE EXISTS (
               SELECT 1
                 FROM unnest(d.workflow_types, d.served_versions) AS t (workflow_type, version)
                CROSS JOIN LATERAL (
                      SELECT coalesce(array_agg(s.version), '{}') AS versions
                        FROM kagzi.workers o
                       CROSS JOIN LATERAL unnest(o.workflow_types, o.served_versions)
                                    AS s (workflow_type, version)
                       WHERE o.namespace = d.namespace AND o.task_queue = d.task_queue
                         AND o.status = 'ONLINE' AND s.workflow_type = t.workflow_type) AS online
                WHERE '*' <> ALL (online.versions)
                  AND t.version <> ALL (online.versions)
                  AND EXISTS (
                        SELECT 1 FROM kagzi.workflow_runs r
                         WHERE r.namespace = d.namespace AND r.task_queue = d.task_queue
                           AND r.workflow_type = t.workflow_type
                           AND (t.version = '*' OR r.version = t.version)
                           AND r.version <> ALL (online.versions)
                           AND r.available_at IS NOT NULL AND r.cron_expr IS NULL
                           AND r.available_at <= kagzi.clock() + interval '1 minute'
                           AND (r.available_at <= kagzi.clock()
                                OR r.status = 'PENDING' AND r.crashes > 0)))
       ORDER BY d.last_heartbeat_at
       LIMIT ?
      """;

  private final Session session;
  private final Health.Rules rules;

  HealthQueries(Session session, Health.Rules rules) {
    this.session = session;
    this.rules = rules;
  }

  List<Health.Worker> dead(@Nullable String namespace) throws SQLException {
    return session
        .query(DEAD)
        .bind(namespace)
        .bind(namespace)
        .bind(Health.WORKERS_MAX)
        .list(row -> worker(row, Health.Level.UNHEALTHY));
  }

  List<Health.Worker> oldestHeartbeats(@Nullable String namespace) throws SQLException {
    return notOffline(namespace)
        .add(" ORDER BY last_heartbeat_at LIMIT ?", Health.WORKERS_MAX)
        .on(session)
        .list(row -> worker(row, null));
  }

  Map<Health.Level, Long> levels(@Nullable String namespace) throws SQLException {
    return new SqlBuilder()
        .add("SELECT count(*) FILTER (WHERE s.silent_ms < ?) AS healthy,", rules.lateMs())
        .add("       count(*) FILTER (WHERE s.silent_ms >= ?) AS dead,", rules.deadMs())
        .add("       count(*) AS workers")
        .add("  FROM (")
        .add(notOffline(namespace))
        .add(") s")
        .on(session)
        .first(HealthQueries::levels)
        .orElseThrow();
  }

  private static Map<Health.Level, Long> levels(Row row) throws SQLException {
    long healthy = row.bigint("healthy");
    long dead = row.bigint("dead");
    Map<Health.Level, Long> levels = new EnumMap<>(Health.Level.class);
    levels.put(Health.Level.HEALTHY, healthy);
    levels.put(Health.Level.UNHEALTHY, dead);
    levels.put(Health.Level.DEGRADED, row.bigint("workers") - healthy - dead);
    return levels;
  }

  private static SqlBuilder notOffline(@Nullable String namespace) {
    SqlBuilder sql = new SqlBuilder().add(NOT_OFFLINE);
    if (namespace != null) {
      sql.add("   AND namespace = ?", namespace);
    }
    return sql;
  }

  private Health.Worker worker(Row row, Health.@Nullable Level level) throws SQLException {
    long silentMs = Math.max(0, row.bigint("silent_ms"));
    return new Health.Worker(
        new WorkerId(row.uuid("worker_id")),
        row.text("namespace"),
        row.text("task_queue"),
        WorkerStatus.valueOf(row.text("status")),
        silentMs,
        level == null ? rules.of(silentMs) : level);
  }
}
