package dev.kagzi.engine.query;

import dev.kagzi.engine.internal.db.Row;
import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import java.sql.SQLException;
import java.util.List;

/**
 * Finds runs in all namespaces. No index has external ids without the namespace, so each namespace
 * is searched by its own index entries; the number of namespaces is limited.
 */
final class RunPlaceQueries {
  /** How many runs are returned. */
  static final int PLACES_MAX = 20;

  private static final int NAMESPACES_MAX = 1_000;

  // The ends of ids have no index, so the newest runs of a few namespaces are compared.
  private static final int COMPARED_NAMESPACES_MAX = 10;
  private static final int COMPARED_RUNS_MAX = 10_000;

  private static final String COLUMNS =
      "SELECT r.namespace, r.run_id, r.workflow_type, r.external_id, r.status, r.created_at";

  private static final String BY_ID =
      """
        FROM kagzi.workflow_runs r
       WHERE r.run_id = ?
      """;

  // An active run, and the ended ones with the highest ids, which are the newest.
  private static final String BY_EXTERNAL_ID =
      """
        FROM (SELECT namespace FROM kagzi.namespaces ORDER BY namespace LIMIT ?) n
       CROSS JOIN LATERAL (
             (SELECT w.*
                FROM kagzi.workflow_runs w
               WHERE w.namespace = n.namespace AND w.external_id = ?
                 AND w.ended = '00000000-0000-0000-0000-000000000000'
                 AND NOT (w.cron_expr IS NOT NULL AND w.status IN ('SCHEDULED', 'PAUSED')))
             UNION ALL
             (SELECT w.*
                FROM kagzi.workflow_runs w
               WHERE w.namespace = n.namespace AND w.external_id = ?
                 AND w.ended > '00000000-0000-0000-0000-000000000000'
               ORDER BY w.ended DESC
               LIMIT ?)) r
       ORDER BY r.created_at DESC, r.run_id DESC
       LIMIT ?
      """;

  private static final String BY_END_OF_ID =
      """
        FROM (SELECT f.run_id
                FROM (SELECT namespace FROM kagzi.namespaces
                       ORDER BY namespace <> ?, namespace LIMIT ?) n
               CROSS JOIN LATERAL (
                     SELECT w.run_id
                       FROM kagzi.workflow_runs w
                      WHERE w.namespace = n.namespace
                      ORDER BY w.created_at DESC, w.run_id DESC
                      LIMIT ?) f
               WHERE right(f.run_id::text, ?) = ?
               LIMIT ?) e
        JOIN kagzi.workflow_runs r ON r.run_id = e.run_id
       ORDER BY r.created_at DESC, r.run_id DESC
      """;

  private final Session session;

  RunPlaceQueries(Session session) {
    this.session = session;
  }

  List<RunPlace> byId(RunId id) throws SQLException {
    return ofId(id).on(session).list(RunPlaceQueries::place);
  }

  static SqlBuilder ofId(RunId id) {
    return new SqlBuilder().add(COLUMNS).add(BY_ID, id.value());
  }

  List<RunPlace> byExternalId(String externalId) throws SQLException {
    return ofExternalId(externalId).on(session).list(RunPlaceQueries::place);
  }

  static SqlBuilder ofExternalId(String externalId) {
    return new SqlBuilder()
        .add(COLUMNS)
        .add(BY_EXTERNAL_ID, NAMESPACES_MAX, externalId, externalId, PLACES_MAX, PLACES_MAX);
  }

  List<RunPlace> byEndOfId(String namespace, String end) throws SQLException {
    return ofEndOfId(namespace, end).on(session).list(RunPlaceQueries::place);
  }

  static SqlBuilder ofEndOfId(String namespace, String end) {
    return new SqlBuilder()
        .add(COLUMNS)
        .add(
            BY_END_OF_ID,
            namespace,
            COMPARED_NAMESPACES_MAX,
            COMPARED_RUNS_MAX,
            end.length(),
            end,
            PLACES_MAX);
  }

  private static RunPlace place(Row row) throws SQLException {
    return new RunPlace(
        row.text("namespace"),
        row.runId("run_id"),
        row.text("workflow_type"),
        row.textOrEmpty("external_id"),
        RunStatus.valueOf(row.text("status")),
        row.time("created_at"));
  }
}
