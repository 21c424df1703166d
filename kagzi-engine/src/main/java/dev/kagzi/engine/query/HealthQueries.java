package dev.kagzi.engine.query;

import dev.kagzi.engine.db.Row;
import dev.kagzi.engine.db.Session;
import dev.kagzi.engine.value.WorkerId;
import dev.kagzi.engine.value.WorkerStatus;
import java.sql.SQLException;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads how silent workers are. */
final class HealthQueries {
  private static final int WORKERS_MAX = 100;

  private static final String SILENT =
      """
      SELECT worker_id, namespace, task_queue, status,
             (extract(epoch FROM kagzi.clock() - last_heartbeat_at) * 1000)::bigint AS silent_ms
        FROM kagzi.workers
       WHERE status <> 'OFFLINE'""";

  private final Session session;
  private final Health.Rules rules;

  HealthQueries(Session session, Health.Rules rules) {
    this.session = session;
    this.rules = rules;
  }

  List<Health.Worker> mostSilent(@Nullable String namespace) throws SQLException {
    return silent(namespace)
        .add(" ORDER BY last_heartbeat_at LIMIT ?", q -> q.bind(WORKERS_MAX))
        .on(session)
        .list(this::worker);
  }

  Map<Health.Level, Long> levels(@Nullable String namespace) throws SQLException {
    return new Sql()
        .add(
            "SELECT count(*) FILTER (WHERE s.silent_ms < ?) AS healthy,",
            q -> q.bind(rules.lateMs()))
        .add(
            "       count(*) FILTER (WHERE s.silent_ms >= ?) AS dead,", q -> q.bind(rules.deadMs()))
        .add("       count(*) AS workers")
        .add("  FROM (")
        .add(silent(namespace))
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

  private static Sql silent(@Nullable String namespace) {
    Sql sql = new Sql().add(SILENT);
    if (namespace != null) {
      sql.add("   AND namespace = ?", q -> q.bind(namespace));
    }
    return sql;
  }

  private Health.Worker worker(Row row) throws SQLException {
    long silentMs = Math.max(0, row.bigint("silent_ms"));
    return new Health.Worker(
        new WorkerId(row.uuid("worker_id")),
        row.text("namespace"),
        row.text("task_queue"),
        WorkerStatus.valueOf(row.text("status")),
        silentMs,
        rules.of(silentMs));
  }
}
