package dev.kagzi.engine.query;

import dev.kagzi.engine.internal.db.Row;
import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.query.WaitCause.Code;
import dev.kagzi.engine.value.RunId;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * Explains a run that an application has requested in its own transaction and that no server has
 * started.
 */
final class StartRequestCauses {
  static final String SQL =
      """
      SELECT requested_at, refused_at, refusal_code, refusal, attempts
        FROM kagzi.start_requests
       WHERE run_id = ? AND namespace = ?
       LIMIT 1
      """;

  private StartRequestCauses() {}

  static Optional<Explanation> explain(Session session, String namespace, RunId id)
      throws SQLException {
    return session
        .query(SQL)
        .bind(id.value())
        .bind(namespace)
        .first(row -> new Explanation(null, List.of(cause(row))));
  }

  private static WaitCause cause(Row row) throws SQLException {
    Instant refusedAt = row.timeOrNull("refused_at");
    if (refusedAt == null && row.integer("attempts") > 0) {
      return WaitCause.of(
          Code.START_REQUESTED,
          row.time("requested_at"),
          WaitText.sentence(
                  "The start was requested by kagzi.start_workflow, and attempt %d failed (%s): %s"
                      .formatted(
                          row.integer("attempts"),
                          row.text("refusal_code"),
                          WaitText.brief(row.text("refusal"))))
              + " It is tried again within 10 s.");
    }
    if (refusedAt == null) {
      return WaitCause.of(
          Code.START_REQUESTED,
          row.time("requested_at"),
          "The start was requested by kagzi.start_workflow, and no server has executed it yet."
              + " If this stays, check that a server runs, and its log.");
    }
    return WaitCause.of(
        Code.START_REFUSED,
        refusedAt,
        WaitText.sentence(
                "The start that kagzi.start_workflow requested was refused (%s): %s"
                    .formatted(row.text("refusal_code"), WaitText.brief(row.text("refusal"))))
            + " Its row in kagzi.start_requests stays for 30 days.");
  }
}
