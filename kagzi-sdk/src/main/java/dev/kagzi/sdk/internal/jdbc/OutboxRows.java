package dev.kagzi.sdk.internal.jdbc;

import dev.kagzi.sdk.jdbc.Dialect;
import dev.kagzi.sdk.jdbc.RefusedMessage;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Statements about rows of the outbox. */
public final class OutboxRows {
  private static final int FETCH = 50;

  /** A batch ends when its rows have this many bytes. */
  static final long BATCH_BYTES_MAX = 8 << 20;

  private static final int REASON_LENGTH_MAX = 2_000;

  private static final String INSERT =
      """
      INSERT INTO kagzi_outbox (namespace, order_key, run_id, kind, message)
      VALUES (?, ?, ?, ?, ?)
      """;

  // Selects the first row of each key. A row is deleted when it is sent, so a row waits as long as
  // an earlier row of its key exists. Rows that another relay has locked are skipped. Large
  // messages are not read here, because the driver fetches many rows at once.
  private static final String LOCK =
      """
      SELECT o.id, o.kind, o.run_id, OCTET_LENGTH(o.message),
             CASE WHEN OCTET_LENGTH(o.message) <= 65536 THEN o.message END
        FROM kagzi_outbox o
       WHERE o.namespace = ? AND o.refused_at IS NULL AND o.id > ?
         AND NOT EXISTS (SELECT 1 FROM kagzi_outbox p
                          WHERE p.namespace = o.namespace AND p.order_key = o.order_key
                            AND p.id < o.id)
       ORDER BY o.id
       LIMIT ?
         FOR UPDATE SKIP LOCKED
      """;

  private static final String MESSAGE = "SELECT message FROM kagzi_outbox WHERE id = ?";

  private static final String REFUSED_COUNT =
      """
      SELECT COUNT(*), MIN(r.id)
        FROM (SELECT id FROM kagzi_outbox
               WHERE namespace = ? AND refused_at IS NOT NULL
               ORDER BY id
               LIMIT 1000) r
      """;

  /** The number of ids in a statement. A shorter list is filled with its last id. */
  private static final int IDS_MAX = 100;

  private static final String IDS = "(?" + ", ?".repeat(IDS_MAX - 1) + ")";

  private static final String DELETE = "DELETE FROM kagzi_outbox WHERE id IN " + IDS;

  private static final String STARTS =
      "SELECT DISTINCT run_id FROM kagzi_outbox"
          + " WHERE namespace = ? AND kind = 'START' AND run_id IN "
          + IDS;

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
    CallerTransaction.check(
        connection, kind == OutboxRow.Kind.START ? "startInOutbox" : "signalInOutbox");
    try (PreparedStatement insert = connection.prepareStatement(INSERT)) {
      insert.setString(1, namespace);
      insert.setString(2, key);
      setRunId(connection, insert, 3, runId);
      insert.setString(4, kind.name());
      insert.setBytes(5, message);
      insert.executeUpdate();
    } catch (SQLException e) {
      throw MissingObjects.outbox(e);
    }
  }

  private static void setRunId(
      Connection connection, PreparedStatement statement, int index, String runId)
      throws SQLException {
    if (Dialect.of(connection) == Dialect.MYSQL) {
      statement.setString(index, runId);
    } else {
      statement.setObject(index, UUID.fromString(runId));
    }
  }

  /**
   * A row that this transaction has locked.
   *
   * @param kind the name of an {@link OutboxRow.Kind}, unless a newer client wrote it
   * @param message null if it is large: {@link #message}
   */
  @SuppressWarnings("ArrayRecordComponent") // It is not compared.
  record Locked(long id, String kind, String runId, long bytes, byte @Nullable [] message) {}

  /**
   * Rows that this transaction has locked, in the order of their ids.
   *
   * @param isLast whether there are no more behind them
   */
  record Page(List<Locked> rows, boolean isLast) {}

  /**
   * Locks at most {@code max} rows behind this id that may be sent. Stops when the messages that it
   * has read have {@link #BATCH_BYTES_MAX} bytes.
   */
  static Page lock(Connection connection, String namespace, long after, int max)
      throws SQLException {
    List<Locked> rows = new ArrayList<>();
    try (PreparedStatement select = connection.prepareStatement(LOCK)) {
      select.setFetchSize(FETCH);
      select.setString(1, namespace);
      select.setLong(2, after);
      select.setInt(3, max);
      long bytes = 0;
      try (ResultSet found = select.executeQuery()) {
        while (bytes < BATCH_BYTES_MAX && found.next()) {
          byte[] message = found.getBytes(5);
          bytes += message == null ? 0 : message.length;
          rows.add(
              new Locked(
                  found.getLong(1),
                  found.getString(2),
                  found.getString(3),
                  found.getLong(4),
                  message));
        }
      }
      return new Page(rows, bytes < BATCH_BYTES_MAX && rows.size() < max);
    }
  }

  /** Reads one message, of any size. */
  static byte[] message(Connection connection, long id) throws SQLException {
    try (PreparedStatement select = connection.prepareStatement(MESSAGE)) {
      select.setLong(1, id);
      try (ResultSet found = select.executeQuery()) {
        found.next();
        return found.getBytes(1);
      }
    }
  }

  /** Returns which of these runs have their start in the outbox, even if it was refused. */
  static Set<String> withStart(Connection connection, String namespace, List<String> runIds)
      throws SQLException {
    Set<String> found = new HashSet<>();
    try (PreparedStatement select = connection.prepareStatement(STARTS)) {
      for (int first = 0; first < runIds.size(); first += IDS_MAX) {
        select.setString(1, namespace);
        for (int i = 0; i < IDS_MAX; i++) {
          String runId = runIds.get(Math.min(first + i, runIds.size() - 1));
          setRunId(connection, select, i + 2, runId);
        }
        try (ResultSet row = select.executeQuery()) {
          while (row.next()) {
            found.add(row.getString(1));
          }
        }
      }
    }
    return found;
  }

  /**
   * How many rows of a namespace the server has refused, counted up to 1,000.
   *
   * @param firstId the lowest id of them
   */
  record RefusedCount(long count, long firstId) {}

  static RefusedCount countRefused(Connection connection, String namespace) throws SQLException {
    try (PreparedStatement select = connection.prepareStatement(REFUSED_COUNT)) {
      select.setString(1, namespace);
      try (ResultSet found = select.executeQuery()) {
        found.next();
        return new RefusedCount(found.getLong(1), found.getLong(2));
      }
    }
  }

  static void delete(Connection connection, List<Long> sent) throws SQLException {
    try (PreparedStatement delete = connection.prepareStatement(DELETE)) {
      for (int first = 0; first < sent.size(); first += IDS_MAX) {
        for (int i = 0; i < IDS_MAX; i++) {
          delete.setLong(i + 1, sent.get(Math.min(first + i, sent.size() - 1)));
        }
        delete.addBatch();
      }
      delete.executeBatch();
    }
  }

  static void refuse(Connection connection, long id, String reason) throws SQLException {
    try (PreparedStatement update = connection.prepareStatement(REFUSE)) {
      update.setString(1, storable(reason));
      update.setLong(2, id);
      update.executeUpdate();
    }
  }

  /** A reason that the column cannot store would fail this transaction, and each later one. */
  private static String storable(String reason) {
    int length = Math.min(REASON_LENGTH_MAX, reason.length());
    if (length > 0 && Character.isHighSurrogate(reason.charAt(length - 1))) {
      length--;
    }
    return reason.substring(0, length).replace('\0', '?');
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
