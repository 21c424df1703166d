package dev.kagzi.engine.query;

import dev.kagzi.engine.internal.db.Session;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads which types and versions the online workers serve. */
final class ServedQueries {
  private final Session session;

  ServedQueries(Session session) {
    this.session = session;
  }

  List<ServedType> read(String namespace, @Nullable String queue, @Nullable String type)
      throws SQLException {
    return served(namespace, queue, type)
        .on(session)
        .list(
            row ->
                new ServedType(
                    row.text("task_queue"),
                    row.text("workflow_type"),
                    row.text("version"),
                    row.integer("workers")));
  }

  static SqlBuilder served(String namespace, @Nullable String queue, @Nullable String type) {
    SqlBuilder sql =
        new SqlBuilder()
            .add("SELECT w.task_queue, t.workflow_type, t.version, count(*)::int AS workers")
            .add("  FROM kagzi.workers w")
            .add(" CROSS JOIN LATERAL unnest(w.workflow_types, w.served_versions)")
            .add("         AS t (workflow_type, version)")
            .add(" WHERE w.namespace = ? AND w.status = 'ONLINE'", namespace);
    if (queue != null) {
      sql.add("   AND w.task_queue = ?", queue);
    }
    if (type != null) {
      sql.add("   AND t.workflow_type = ?", type);
    }
    return sql.add(" GROUP BY w.task_queue, t.workflow_type, t.version")
        .add(" ORDER BY w.task_queue, t.workflow_type, t.version LIMIT ?", ServedType.SERVED_MAX);
  }
}
