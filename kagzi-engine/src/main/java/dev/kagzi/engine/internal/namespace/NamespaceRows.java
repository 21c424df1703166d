package dev.kagzi.engine.internal.namespace;

import dev.kagzi.engine.internal.db.Session;
import java.sql.SQLException;
import java.util.Objects;

/** Statements about namespaces in transactions of other packages. */
public final class NamespaceRows {
  private static final String RETENTION =
      "SELECT retention_ms FROM kagzi.namespaces WHERE namespace = ?";

  // Updates only a different value, because every worker with a failure handler sends it when it
  // registers.
  private static final String MARK_FAILURE_HANDLER =
      """
      UPDATE kagzi.namespaces
         SET failure_handler_task_queue = ?
       WHERE namespace = ?
         AND failure_handler_task_queue IS DISTINCT FROM ?
      """;

  private NamespaceRows() {}

  /**
   * Returns how long a namespace keeps its ended runs; 0 is forever. {@code usualMs} applies if the
   * namespace has no retention of its own.
   */
  public static long retentionMs(Session session, String namespace, long usualMs)
      throws SQLException {
    return session
        .query(RETENTION)
        .bind(namespace)
        .first(row -> Objects.requireNonNullElse(row.bigintOrNull("retention_ms"), usualMs))
        .orElse(usualMs);
  }

  /**
   * Stores the queue of the namespace's failure handler. A handler of the run or schedule takes
   * precedence over it.
   */
  public static void markFailureHandler(Session tx, String namespace, String queue)
      throws SQLException {
    tx.query(MARK_FAILURE_HANDLER).bind(queue).bind(namespace).bind(queue).update();
  }
}
