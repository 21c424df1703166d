package dev.kagzi.bench;

import dev.kagzi.engine.config.DatabaseConfig;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.locks.LockSupport;

/**
 * Inserts the rows that a database has after years, with statements that insert many rows at once:
 * finished runs with steps and payloads, sleeping runs, and pending runs that no worker serves.
 */
@SuppressWarnings("InlineFormatString") // Statements are constants.
final class GrowthTables {
  private static final int PART = 100_000;
  private static final int ENDED_PER_FAILED = 50;
  private static final Duration PURGE_MAX = Duration.ofHours(1);
  private static final long POLL_NANOS = 20_000_000;

  // When the i-th of the finished runs ended, and its id. The first ended 20 days ago and the last
  // just now, so none expires meanwhile. Ids are UUIDv7, like the server's.
  private static final String FUNCTIONS =
      """
      CREATE FUNCTION pg_temp.ended_at(i int) RETURNS timestamptz LANGUAGE sql IMMUTABLE AS
      $$ SELECT timestamptz '%2$s' - (%1$d - i) * (interval '20 days' / %1$d) $$;
      CREATE FUNCTION pg_temp.id(at timestamptz, i int) RETURNS uuid LANGUAGE sql IMMUTABLE AS
      $$ SELECT (lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') || '7'
                 || left(md5(i::text), 3) || '8' || right(md5(i::text), 15))::uuid $$
      """;

  // In the queue and with the type of the measured runs.
  private static final String ENDED =
      """
      INSERT INTO kagzi.workflow_runs
             (run_id, namespace, external_id, ended, task_queue, workflow_type, status, created_at,
              started_at, finished_at)
      SELECT id, 'default', 'order-' || i, id, 'bench', 'bench-steps',
             CASE WHEN i %% %4$d = 0 THEN 'FAILED' ELSE 'COMPLETED' END, at, at, at
        FROM (SELECT i, pg_temp.id(pg_temp.ended_at(i), i) AS id, pg_temp.ended_at(i) AS at
                FROM generate_series(%1$d, %2$d) i) g;
      INSERT INTO kagzi.workflow_payloads (run_id, kind, data, created_at)
      SELECT pg_temp.id(pg_temp.ended_at(i), i), kind, '"ok"', pg_temp.ended_at(i)
        FROM generate_series(%1$d, %2$d) i, (VALUES ('INPUT'), ('OUTPUT')) k (kind);
      INSERT INTO kagzi.step_runs
             (run_id, step_id, attempt, epoch, run_attempt, kind, status, output, created_at,
              started_at, finished_at)
      SELECT pg_temp.id(at, i), 's#' || s, 1, 1, 1, 'FUNCTION', 'COMPLETED',
             convert_to('"' || repeat('x', 100) || '"', 'UTF8'), at, at, at
        FROM generate_series(%1$d, %2$d) i, pg_temp.ended_at(i) at, generate_series(1, %3$d) s
      """;

  // In the claim index of the measured queue and type, due in a year.
  private static final String SLEEPING =
      """
      INSERT INTO kagzi.workflow_runs
             (run_id, namespace, task_queue, workflow_type, status, created_at, started_at, epoch,
              available_at)
      SELECT pg_temp.id(now(), i), 'default', 'bench', 'bench-steps', 'SLEEPING', now(), now(), 1,
             now() + interval '1 year'
        FROM generate_series(1, %d) i
      """;

  // In the measured queue, of a type that no worker serves.
  private static final String PENDING =
      """
      INSERT INTO kagzi.workflow_runs
             (run_id, namespace, task_queue, workflow_type, status, created_at, available_at)
      SELECT pg_temp.id(now(), -i), 'default', 'bench', 'bench-unserved', 'PENDING', now(), now()
        FROM generate_series(1, %d) i
      """;

  // Due in years: they fire at a second of 2190.
  private static final String SCHEDULES =
      """
      INSERT INTO kagzi.workflow_runs
             (run_id, namespace, schedule_name, task_queue, workflow_type, status, cron_expr,
              time_zone, overlap_policy, max_catchup, jitter_ms, fire_at, available_at, total_runs,
              missed_runs, created_at, updated_at)
      SELECT md5('schedule' || i)::uuid, 'default', 'idle-' || i, 'bench', 'bench-steps', 'SCHEDULED',
             '0 0 0 1 1 * 2190', 'UTC', 'ALLOW', 100, 0, '2190-01-01', '2190-01-01', 0, 0, now(),
             now()
        FROM generate_series(1, %d) i
      """;

  private static final String COUNTS =
      """
      INSERT INTO kagzi.run_counts (namespace, workflow_type, task_queue, version, status, runs)
      SELECT namespace, workflow_type, task_queue, version, status, count(*)
        FROM kagzi.workflow_runs
       GROUP BY namespace, workflow_type, task_queue, version, status
      ON CONFLICT (namespace, workflow_type, task_queue, version, status)
      DO UPDATE SET runs = excluded.runs
      """;

  // Beyond the default retention of 30 days.
  private static final String EXPIRED =
      """
      INSERT INTO kagzi.workflow_runs
             (run_id, namespace, ended, task_queue, workflow_type, status, created_at, started_at,
              finished_at)
      SELECT id, 'default', id, 'bench', 'bench-expired', 'COMPLETED', at, at, at
        FROM (SELECT gen_random_uuid() AS id, now() - interval '60 days' AS at
                FROM generate_series(1, %1$d)) g;
      INSERT INTO kagzi.step_runs
             (run_id, step_id, attempt, epoch, run_attempt, kind, status, output, created_at,
              started_at, finished_at)
      SELECT r.run_id, 's#' || s, 1, 1, 1, 'FUNCTION', 'COMPLETED', '"x"', r.created_at,
             r.created_at, r.created_at
        FROM kagzi.workflow_runs r, generate_series(1, %2$d) s
       WHERE r.namespace = 'default' AND r.created_at < now() - interval '50 days';
      INSERT INTO kagzi.run_counts (namespace, workflow_type, task_queue, version, status, runs)
      VALUES ('default', 'bench-expired', 'bench', '', 'COMPLETED', %1$d)
      ON CONFLICT (namespace, workflow_type, task_queue, version, status)
      DO UPDATE SET runs = run_counts.runs + excluded.runs
      """;

  private static final String EXPIRED_LEFT =
      """
      SELECT EXISTS (SELECT FROM kagzi.workflow_runs
                      WHERE namespace = 'default' AND created_at < now() - interval '50 days')
      """;

  private GrowthTables() {}

  private static Connection connect(BenchDatabase database) throws SQLException {
    DatabaseConfig config = database.config();
    return DriverManager.getConnection(config.jdbcUrl(), config.user(), config.password());
  }

  static void fill(BenchDatabase database, GrowthSizes sizes, Progress progress) {
    try (Connection connection = connect(database);
        Statement statement = connection.createStatement()) {
      statement.execute(FUNCTIONS.formatted(sizes.ended(), Instant.now()));
      for (int from = 1; from <= sizes.ended(); from += PART) {
        int to = Math.min(sizes.ended(), from + PART - 1);
        statement.execute(ENDED.formatted(from, to, GrowthSizes.STEPS_PER_RUN, ENDED_PER_FAILED));
        progress.print("GROWTH: %,d of %,d finished runs".formatted(to, sizes.ended()));
      }
      statement.execute(SLEEPING.formatted(sizes.sleeping()));
      statement.execute(PENDING.formatted(sizes.pending()));
      statement.execute(COUNTS);
    } catch (SQLException e) {
      throw new BenchException("cannot fill the tables: " + e.getMessage(), e);
    }
    database.vacuum();
  }

  /**
   * Inserts finished runs, of which {@code failed} have failed, into empty tables. They are like
   * those of {@link #fill}, so that a page of them costs the same.
   */
  static void addFailed(BenchDatabase database, int failed) {
    int ended = failed * ENDED_PER_FAILED;
    execute(
        database,
        "cannot insert failed runs",
        FUNCTIONS.formatted(ended, Instant.now())
            + ";"
            + ENDED.formatted(1, ended, GrowthSizes.STEPS_PER_RUN, ENDED_PER_FAILED));
  }

  /** Inserts schedules that are not due, and vacuums: nothing is left to do for an idle server. */
  static void addSchedules(BenchDatabase database, int count) {
    execute(database, "cannot insert schedules", SCHEDULES.formatted(count));
    database.vacuum();
  }

  private static void execute(BenchDatabase database, String failure, String sql) {
    try (Connection connection = connect(database);
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    } catch (SQLException e) {
      throw new BenchException(failure + ": " + e.getMessage(), e);
    }
  }

  /** Inserts expired runs, and returns the time until the server has deleted all of them. */
  static Duration purge(BenchDatabase database, int runs) {
    try (Connection connection = connect(database);
        Statement statement = connection.createStatement()) {
      statement.execute(EXPIRED.formatted(runs, GrowthSizes.STEPS_PER_RUN));
      long begunNanos = System.nanoTime();
      while (hasExpired(statement)) {
        if (System.nanoTime() - begunNanos > PURGE_MAX.toNanos()) {
          throw new BenchException("expired runs are left after " + PURGE_MAX);
        }
        LockSupport.parkNanos(POLL_NANOS);
      }
      return Duration.ofNanos(System.nanoTime() - begunNanos);
    } catch (SQLException e) {
      throw new BenchException("cannot insert expired runs: " + e.getMessage(), e);
    }
  }

  private static boolean hasExpired(Statement statement) throws SQLException {
    try (ResultSet row = statement.executeQuery(EXPIRED_LEFT)) {
      row.next();
      return row.getBoolean(1);
    }
  }

  /** Opens a transaction with a snapshot, which keeps vacuum from removing rows until closed. */
  static Connection openTransaction(BenchDatabase database) {
    try {
      Connection connection = connect(database);
      connection.setAutoCommit(false);
      connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
      try (Statement statement = connection.createStatement()) {
        statement.execute("SELECT count(*) FROM kagzi.namespaces");
      }
      return connection;
    } catch (SQLException e) {
      throw new BenchException("cannot open a transaction: " + e.getMessage(), e);
    }
  }
}
