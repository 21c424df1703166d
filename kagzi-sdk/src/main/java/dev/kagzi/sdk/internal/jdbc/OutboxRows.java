package dev.kagzi.sdk.internal.jdbc;

import dev.kagzi.sdk.jdbc.Dialect;
import dev.kagzi.sdk.jdbc.RefusedMessage;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/** Statements about rows of the outbox. */
public final class OutboxRows {
  private static final int FETCH = 50;
  private static final int REASON_LENGTH_MAX = 2_000;

  private static final String INSERT =
      """
      INSERT INTO kagzi_outbox (namespace, order_key, run_id, kind, message)
      VALUES (?, ?, ?, ?, ?)
      """;

  // The first row of each key. A row is deleted when it is sent, so as long as an earlier row of
  // its key is there, a row waits. Rows that another relay has locked are skipped.
  private static final String LOCK =
      """
      SELECT o.id, o.kind, o.message
        FROM kagzi_outbox o
       WHERE o.namespace = ? AND o.refused_at IS NULL
         AND NOT EXISTS (SELECT 1 FROM kagzi_outbox p
                          WHERE p.namespace = o.namespace AND p.order_key = o.order_key
                            AND p.id < o.id)
       ORDER BY o.id
       LIMIT ?
         FOR UPDATE SKIP LOCKED
      """;

  /** How many rows a statement deletes; a list that is shorter repeats its last id. */
  private static final int DELETED_MAX = 100;

  private static final String DELETE =
      "DELETE FROM kagzi_outbox WHERE id IN (?" + ", ?".repeat(DELETED_MAX - 1) + ")";

  private static final String REFUSE =
      "UPDATE kagzi_outbox SET refused_at = CURRENT_TIMESTAMP, refusal = ? WHERE id = ?";

  private static final String REFUSED =
      """
      SELECT id, namespace, order_key, run_id, refused_at, refusal
        FROM kagzi_outbox
       WHERE refused_at IS NOT NULL
       ORDER BY id
       LIMIT ?
      """;

  private static final String RETRY =
      "UPDATE kagzi_outbox SET refused_at = NULL, refusal = NULL"
          + " WHERE id = ? AND refused_at IS NOT NULL";

  private static final String DISCARD =
      "DELETE FROM kagzi_outbox WHERE id = ? AND refused_at IS NOT NULL";

  private OutboxRows() {}

  /**
   * Adds a message in the transaction of the connection.
   *
   * @param key messages with an equal key are sent in the order of their ids
   */
  public static void insert(
      Connection connection,
      String namespace,
      String key,
      String runId,
      OutboxRow.Kind kind,
      byte[] message)
      throws SQLException {
    try (PreparedStatement insert = connection.prepareStatement(INSERT)) {
      insert.setString(1, namespace);
      insert.setString(2, key);
      if (Dialect.of(connection) == Dialect.MYSQL) {
        insert.setString(3, runId);
      } else {
        insert.setObject(3, UUID.fromString(runId));
      }
      insert.setString(4, kind.name());
      insert.setBytes(5, message);
      insert.executeUpdate();
    }
  }

  /** Locks rows that may be sent: at most {@code max}, and about {@code bytesMax} bytes. */
  static List<OutboxRow> lock(Connection connection, String namespace, int max, long bytesMax)
      throws SQLException {
    List<OutboxRow> rows = new ArrayList<>();
    try (PreparedStatement select = connection.prepareStatement(LOCK)) {
      select.setFetchSize(FETCH);
      select.setString(1, namespace);
      select.setInt(2, max);
      long bytes = 0;
      try (ResultSet found = select.executeQuery()) {
        while (bytes < bytesMax && found.next()) {
          byte[] message = found.getBytes(3);
          bytes += message.length;
          rows.add(
              new OutboxRow(found.getLong(1), OutboxRow.Kind.valueOf(found.getString(2)), message));
        }
      }
    }
    return rows;
  }

  static void delete(Connection connection, List<OutboxRow> sent) throws SQLException {
    try (PreparedStatement delete = connection.prepareStatement(DELETE)) {
      for (int first = 0; first < sent.size(); first += DELETED_MAX) {
        for (int i = 0; i < DELETED_MAX; i++) {
          delete.setLong(i + 1, sent.get(Math.min(first + i, sent.size() - 1)).id());
        }
        delete.addBatch();
      }
      delete.executeBatch();
    }
  }

  static void refuse(Connection connection, long id, String reason) throws SQLException {
    try (PreparedStatement update = connection.prepareStatement(REFUSE)) {
      update.setString(1, reason.substring(0, Math.min(REASON_LENGTH_MAX, reason.length())));
      update.setLong(2, id);
      update.executeUpdate();
    }
  }

  public static List<RefusedMessage> refused(Connection connection, int max) throws SQLException {
    List<RefusedMessage> refused = new ArrayList<>();
    try (PreparedStatement select = connection.prepareStatement(REFUSED)) {
      select.setInt(1, max);
      try (ResultSet row = select.executeQuery()) {
        while (row.next()) {
          refused.add(
              new RefusedMessage(
                  row.getLong(1),
                  row.getString(2),
                  row.getString(3),
                  row.getString(4),
                  row.getTimestamp(5).toInstant(),
                  row.getString(6)));
        }
      }
    }
    return refused;
  }

  public static boolean retry(Connection connection, long id) throws SQLException {
    return change(connection, RETRY, id);
  }

  public static boolean discard(Connection connection, long id) throws SQLException {
    return change(connection, DISCARD, id);
  }

  private static boolean change(Connection connection, String sql, long id) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.setLong(1, id);
      return statement.executeUpdate() == 1;
    }
  }
}
