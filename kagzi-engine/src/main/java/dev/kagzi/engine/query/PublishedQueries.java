package dev.kagzi.engine.query;

import dev.kagzi.engine.internal.db.Row;
import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Reads the published values of a run. */
final class PublishedQueries {
  // One statement, so that status and values are of one moment: a run that has ended publishes
  // nothing more.
  private static final String OF_RUN =
      """
      SELECT r.status, v.name, v.data, v.metadata, v.version, v.published_at
        FROM kagzi.workflow_runs r
        LEFT JOIN kagzi.published_values v
               ON v.run_id = r.run_id AND v.data IS NOT NULL AND v.version > ?
      """;

  private final Session session;

  PublishedQueries(Session session) {
    this.session = session;
  }

  private record Found(RunStatus status, PublishedView.@Nullable Value value) {}

  /** Empty if the run is not in the namespace. */
  Optional<PublishedView> find(String namespace, RunId run, String name, long after)
      throws SQLException {
    List<Found> rows = ofRun(namespace, run, name, after).on(session).list(PublishedQueries::map);
    if (rows.isEmpty()) {
      return Optional.empty();
    }
    List<PublishedView.Value> values = new ArrayList<>(rows.size());
    for (Found row : rows) {
      if (row.value != null) {
        values.add(row.value);
      }
    }
    return Optional.of(new PublishedView(values, rows.getFirst().status));
  }

  static SqlBuilder ofRun(String namespace, RunId run, String name, long after) {
    SqlBuilder sql = new SqlBuilder().add(OF_RUN, after);
    if (!name.isEmpty()) {
      sql.add("               AND v.name = ?", name);
    }
    return sql.add(" WHERE r.run_id = ? AND r.namespace = ?", run.value(), namespace)
        .add(" AND r.cron_expr IS NULL ORDER BY v.name");
  }

  private static Found map(Row row) throws SQLException {
    RunStatus status = RunStatus.valueOf(row.text("status"));
    Payload payload = row.payloadOrNull("data", "metadata");
    return payload == null
        ? new Found(status, null)
        : new Found(
            status,
            new PublishedView.Value(
                row.text("name"), payload, row.bigint("version"), row.time("published_at")));
  }
}
