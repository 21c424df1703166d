package dev.kagzi.sdk.internal.jdbc;

import dev.kagzi.sdk.jdbc.Dialect;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.Function;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Deletes rows of runs that the server confirms to be over. */
public final class StepPurge {
  private static final int PAGE_MAX = 500;

  /** If the server knows none of this number of runs, it is taken for the wrong server. */
  private static final int NEWEST_MAX = 100;

  private static final String NEWEST =
      """
      SELECT DISTINCT run_id FROM kagzi_steps
       WHERE namespace = ?
       ORDER BY run_id DESC
       LIMIT ?
      """;

  private static final String FIRST_PAGE =
      """
      SELECT run_id FROM kagzi_steps
       WHERE namespace = ?
       GROUP BY run_id HAVING max(created_at) < ?
       ORDER BY run_id
       LIMIT ?
      """;

  private static final String NEXT_PAGE =
      """
      SELECT run_id FROM kagzi_steps
       WHERE namespace = ? AND run_id > ?
       GROUP BY run_id HAVING max(created_at) < ?
       ORDER BY run_id
       LIMIT ?
      """;

  private static final String DELETE = "DELETE FROM kagzi_steps WHERE run_id = ? AND namespace = ?";

  private final DataSource dataSource;
  private final String namespace;
  private final Duration age;
  private final Function<String, RunState> server;

  /** What the server returns about a run. */
  public sealed interface RunState {
    /** It is open, or can be resumed. */
    record CanContinue() implements RunState {}

    record Ended(Instant at) implements RunState {}

    /** The server has no such run: it was deleted after its retention, or is another server's. */
    record Unknown() implements RunState {}
  }

  public StepPurge(
      DataSource dataSource, String namespace, Duration age, Function<String, RunState> server) {
    this.dataSource = dataSource;
    this.namespace = namespace;
    this.age = age;
    this.server = server;
  }

  public long purge() throws SQLException {
    Instant before = Instant.now().minus(age);
    long deleted = 0;
    List<String> page = page(null, before);
    if (!page.isEmpty()) {
      checkServer();
    }
    while (!page.isEmpty()) {
      deleted += delete(page.stream().filter(runId -> isOver(runId, before)).toList());
      page = page(page.getLast(), before);
    }
    return deleted;
  }

  /**
   * Throws if the server knows none of the newest runs. It is then another server than the one
   * whose runs wrote the table, and must not decide that they were deleted. The right server knows
   * some of the newest: run ids begin with the time at which they were made.
   */
  private void checkServer() throws SQLException {
    List<String> newest = newest();
    if (newest.stream().allMatch(runId -> server.apply(runId) instanceof RunState.Unknown)) {
      throw new IllegalStateException(
          "kagzi_steps: the server knows none of the newest %d runs of namespace %s (expected: at least one; is the client connected to the right server?)"
              .formatted(newest.size(), namespace));
    }
  }

  private boolean isOver(String runId, Instant before) {
    return switch (server.apply(runId)) {
      case RunState.CanContinue() -> false;
      case RunState.Ended(Instant at) -> at.isBefore(before);
      case RunState.Unknown() -> true;
    };
  }

  private List<String> newest() throws SQLException {
    try (Connection connection = dataSource.getConnection();
        PreparedStatement select = connection.prepareStatement(NEWEST)) {
      select.setString(1, namespace);
      select.setInt(2, NEWEST_MAX);
      return runIds(select);
    }
  }

  private List<String> page(@Nullable String after, Instant before) throws SQLException {
    try (Connection connection = dataSource.getConnection();
        PreparedStatement select =
            connection.prepareStatement(after == null ? FIRST_PAGE : NEXT_PAGE)) {
      int next = 1;
      select.setString(next++, namespace);
      if (after != null) {
        bindRun(select, next++, Dialect.of(connection), after);
      }
      select.setTimestamp(next++, Timestamp.from(before));
      select.setInt(next, PAGE_MAX);
      return runIds(select);
    }
  }

  private static List<String> runIds(PreparedStatement select) throws SQLException {
    List<String> runIds = new ArrayList<>();
    try (ResultSet rows = select.executeQuery()) {
      while (rows.next()) {
        runIds.add(rows.getString(1));
      }
    }
    return runIds;
  }

  private long delete(List<String> runIds) throws SQLException {
    if (runIds.isEmpty()) {
      return 0;
    }
    try (Connection connection = dataSource.getConnection();
        PreparedStatement delete = connection.prepareStatement(DELETE)) {
      Dialect dialect = Dialect.of(connection);
      for (String runId : runIds) {
        bindRun(delete, 1, dialect, runId);
        delete.setString(2, namespace);
        delete.addBatch();
      }
      long deleted = 0;
      for (int each : delete.executeBatch()) {
        deleted += each;
      }
      if (!connection.getAutoCommit()) {
        connection.commit();
      }
      return deleted;
    }
  }

  private static void bindRun(PreparedStatement statement, int at, Dialect dialect, String runId)
      throws SQLException {
    if (dialect == Dialect.MYSQL) {
      statement.setString(at, runId);
    } else {
      statement.setObject(at, UUID.fromString(runId));
    }
  }
}
