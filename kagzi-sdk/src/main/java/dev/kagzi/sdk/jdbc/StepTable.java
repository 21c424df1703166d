package dev.kagzi.sdk.jdbc;

import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.RunInfo;
import dev.kagzi.sdk.RunNotFoundException;
import dev.kagzi.sdk.RunStatus;
import dev.kagzi.sdk.internal.jdbc.StepPurge;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Objects;
import javax.sql.DataSource;

/**
 * The table {@code kagzi_steps} of an application's database, which has the results of
 * transactional steps. Thread-safe.
 */
public final class StepTable {
  private final DataSource dataSource;

  private StepTable(DataSource dataSource) {
    this.dataSource = dataSource;
  }

  /** Returns the table in the database of this data source, without a call to the database. */
  public static StepTable in(DataSource dataSource) {
    return new StepTable(Objects.requireNonNull(dataSource, "dataSource"));
  }

  /**
   * Creates the table if it does not exist, in the default schema of the connection. For a database
   * with migrations, {@code kagzi sql steps} prints the statement instead.
   */
  public void create() throws SQLException {
    try (Connection connection = dataSource.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(Dialect.of(connection).stepTable());
      if (!connection.getAutoCommit()) {
        connection.commit();
      }
    }
  }

  /**
   * Deletes the rows of runs that can never continue: runs that are COMPLETED or CANCELLED, and
   * runs that the server has deleted after their retention. Rows of open, FAILED and TIMED_OUT runs
   * stay, because a replay or a resume needs them.
   *
   * <p>It reads the rows of the client's namespace in the order of run ids, and asks the server
   * about each run whose rows are old enough. Call it regularly, for example once a day.
   *
   * @param age how long ago the run must have ended, and how old its rows must be; at least an
   *     hour. Choose more than a worker process may be paused: a worker that continues after a
   *     pause, and has not noticed that it lost its run, must still find the rows
   * @return the number of deleted rows
   * @throws IllegalStateException if the server knows none of the newest 100 runs, which happens if
   *     the client is connected to another server than the one whose runs wrote the table; nothing
   *     is deleted
   */
  public long purge(Kagzi kagzi, Duration age) throws SQLException {
    if (age.compareTo(Duration.ofHours(1)) < 0) {
      throw new IllegalArgumentException("age: " + age + " (expected: at least PT1H)");
    }
    return new StepPurge(dataSource, kagzi.namespace(), age, runId -> state(kagzi, runId)).purge();
  }

  private static StepPurge.RunState state(Kagzi kagzi, String runId) {
    try {
      RunInfo run = kagzi.get(runId);
      boolean canContinue =
          run.status() != RunStatus.COMPLETED && run.status() != RunStatus.CANCELLED;
      return canContinue || run.finishedAt().isEmpty()
          ? new StepPurge.RunState.CanContinue()
          : new StepPurge.RunState.Ended(run.finishedAt().get());
    } catch (RunNotFoundException e) {
      return new StepPurge.RunState.Unknown();
    }
  }
}
