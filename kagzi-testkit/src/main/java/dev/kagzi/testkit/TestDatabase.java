package dev.kagzi.testkit;

import dev.kagzi.embedded.EmbeddedServer;
import dev.kagzi.postgres.EmbeddedPostgres;
import dev.kagzi.postgres.SharedPostgres;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** The database of one environment, with its movable clock. Thread-safe. */
final class TestDatabase implements AutoCloseable {
  /** A lost worker that has not registered again within this time counts as closed. */
  private static final long REGISTER_NANOS_MAX = TimeUnit.SECONDS.toNanos(5);

  /**
   * Waits release their run, nothing is purged, and few threads and connections are used, so that
   * many tests can share one PostgreSQL.
   */
  private static final Map<String, String> OPTIONS =
      Map.ofEntries(
          Map.entry("short-wait", "0s"),
          Map.entry("retention-runs", "0s"),
          Map.entry("retention-workers", "0s"),
          Map.entry("auto-create-namespaces", "true"),
          Map.entry("journal-lanes", "1"),
          Map.entry("dispatch-claimers", "1"),
          Map.entry("db-pool-size", "3"),
          Map.entry("close-timeout", "2s"),
          Map.entry("migrate-on-start", "false"),
          // Tests answer callbacks without HTTP.
          Map.entry("public-url", "http://callbacks.invalid"),
          Map.entry("callback-keys", "the key of callbacks in tests: it is no secret"),
          Map.entry("port", "0"));

  /** A vacuum may hold a table for longer than a statement of the server does. */
  private static final long LOCK_NANOS_MAX = TimeUnit.SECONDS.toNanos(30);

  private static final long LOCK_RETRY_MS = 2;
  private static final String LOCK_NOT_AVAILABLE = "55P03";

  // Without these locks, a statement that was planned before the clock moves would write the former
  // time, and a worker whose heartbeat has that time would count as lost. NOWAIT: a wait for the
  // second table with a lock on the first one could be a deadlock with the server.
  private static final String LOCK =
      "LOCK TABLE kagzi.workers, kagzi.workflow_runs, kagzi.servers IN SHARE MODE NOWAIT";

  // Connected workers send heartbeats in real time, so a move of the clock shifts their heartbeats
  // and leases by the same amount. One transaction, so that no chore sees a partial change.
  private static final String KEEP_WORKERS =
      """
      WITH shift AS (SELECT greatest(?::timestamptz - kagzi.clock(), interval '0') AS by),
      alive AS (
        UPDATE kagzi.workers SET last_heartbeat_at = last_heartbeat_at + shift.by
          FROM shift
         WHERE status <> 'OFFLINE' AND attach_id IS NOT NULL
        RETURNING worker_id),
      held AS (
        UPDATE kagzi.workflow_runs SET available_at = available_at + shift.by
          FROM shift
         WHERE status = 'RUNNING' AND available_at < 'infinity'
           AND locked_by IN (SELECT worker_id FROM alive))
      UPDATE kagzi.servers SET heartbeat_at = heartbeat_at + shift.by FROM shift
      """;

  // One statement reads the current activity and the next due time, both at the same moment: the
  // clock keeps running, and something that becomes due between two statements would be missed. A
  // run held by an offline worker is no activity until its lease ends. The delay of a blocked run
  // is no due time, because time does not unblock it.
  private static final String LOOK =
      """
      WITH runs AS (
        SELECT 'run ' || r.run_id || ' of ' || r.workflow_type || ' is ' || r.status AS what,
               r.namespace, r.run_id
          FROM kagzi.workflow_runs r
          JOIN kagzi.namespaces n ON n.namespace = r.namespace AND n.enabled
         WHERE r.available_at IS NOT NULL
           AND CASE
                 WHEN r.cron_expr IS NOT NULL
                   THEN r.status = 'SCHEDULED' AND r.available_at <= kagzi.clock()
                 WHEN r.deadline_at <= kagzi.clock() THEN true
                 WHEN r.status = 'RUNNING' AND EXISTS (
                        SELECT FROM kagzi.workers w
                         WHERE w.worker_id = r.locked_by AND w.status <> 'OFFLINE'
                           AND w.attach_id IS NOT NULL) THEN true
                 WHEN EXISTS (SELECT FROM kagzi.run_messages m
                               WHERE m.to_run = r.run_id AND m.step_id = ANY (r.waits_for))
                   THEN true
                 ELSE r.available_at <= kagzi.clock() AND EXISTS (
                        SELECT FROM kagzi.workers w, unnest(w.workflow_types, w.served_versions)
                                                       AS served (type, version)
                         WHERE w.namespace = r.namespace AND w.task_queue = r.task_queue
                           AND w.status = 'ONLINE' AND served.type = r.workflow_type
                           AND served.version IN ('*', r.version))
               END
         LIMIT 5),
      connecting AS (
        SELECT 'worker ' || worker_id || ' of queue ' || task_queue || ' is connecting' AS what
          FROM kagzi.workers
         WHERE status = 'ONLINE' AND attach_id IS NULL
           AND registered_at > kagzi.clock() - interval '1 second'
         LIMIT 5),
      due AS (
        SELECT available_at AS at FROM kagzi.workflow_runs
         WHERE available_at IS NOT NULL AND blocked_by IS NULL AND status <> 'PAUSED'
        UNION ALL
        SELECT deadline_at FROM kagzi.workflow_runs
         WHERE available_at IS NOT NULL AND deadline_at IS NOT NULL)
      SELECT what AS busy, namespace, run_id, NULL::timestamptz AS next_due FROM runs
      UNION ALL
      SELECT what, NULL, NULL, NULL FROM connecting
      UNION ALL
      SELECT NULL, NULL, NULL, min(at) FROM due WHERE at > kagzi.clock() AND at < 'infinity'
      """;

  // The same worker object, registered again.
  private static final String IS_BACK =
      """
      SELECT FROM kagzi.workers gone
        JOIN kagzi.workers back USING (namespace, task_queue, hostname, pid, instance_id)
       WHERE gone.worker_id = ?::uuid AND back.worker_id <> gone.worker_id
         AND back.status <> 'OFFLINE' AND back.attach_id IS NOT NULL
      """;

  private static final class Template {
    static final String NAME = create();

    private static String create() {
      String name = SharedPostgres.createDatabase();
      String unused = server(name).migrate();
      return name;
    }
  }

  private final String name;
  private final Connection connection;

  /** Workers that the test marked offline, and since when. */
  private final Map<String, Long> lostSinceNanos = new HashMap<>();

  private TestDatabase(String name, Connection connection) {
    this.name = name;
    this.connection = connection;
  }

  static void prepare() {
    String unused = Template.NAME;
  }

  static TestDatabase create() {
    String name = SharedPostgres.createDatabaseFrom(Template.NAME);
    EmbeddedPostgres postgres = SharedPostgres.server();
    try {
      return new TestDatabase(
          name,
          DriverManager.getConnection(
              postgres.jdbcUrl(name), postgres.user(), postgres.password()));
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  private static EmbeddedServer.Builder server(String name) {
    EmbeddedPostgres postgres = SharedPostgres.server();
    EmbeddedServer.Builder server = EmbeddedServer.builder();
    OPTIONS.forEach(server::option);
    return server
        .option("db-url", postgres.jdbcUrl(name))
        .option("db-user", postgres.user())
        .option("db-password", postgres.password())
        .unsafeDatabase()
        .withoutHttp();
  }

  String name() {
    return name;
  }

  /** Starts a server on this database. */
  EmbeddedServer startServer() {
    return server(name).start();
  }

  synchronized Instant now() {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("SELECT kagzi.clock() AS now")) {
      row.next();
      return row.getObject("now", OffsetDateTime.class).toInstant();
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  /**
   * What happens in an environment.
   *
   * @param busy descriptions of current activity
   * @param runs the runs and schedules among the activity
   * @param nextDue when something is due next, if anything is; this time may have passed since
   */
  record Activity(List<String> busy, List<BusyRun> runs, Optional<Instant> nextDue) {}

  record BusyRun(String namespace, String runId) {}

  synchronized Activity activity() {
    List<String> busy = new ArrayList<>();
    List<BusyRun> runs = new ArrayList<>();
    // This comes before the query. After the query, a worker that registers in between would be
    // missed twice: the query has not seen it, and it no longer counts as lost.
    lostSinceNanos
        .values()
        .removeIf(sinceNanos -> System.nanoTime() - sinceNanos > REGISTER_NANOS_MAX);
    lostSinceNanos.keySet().removeIf(this::isRegisteredAgain);
    lostSinceNanos.keySet().forEach(worker -> busy.add("worker " + worker + " was lost"));
    Optional<Instant> nextDue = Optional.empty();
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(LOOK)) {
      while (rows.next()) {
        Optional.ofNullable(rows.getString("busy")).ifPresent(busy::add);
        String run = rows.getString("run_id");
        if (run != null) {
          runs.add(new BusyRun(rows.getString("namespace"), run));
        }
        OffsetDateTime next = rows.getObject("next_due", OffsetDateTime.class);
        nextDue = nextDue.or(() -> Optional.ofNullable(next).map(OffsetDateTime::toInstant));
      }
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
    return new Activity(busy, runs, nextDue);
  }

  /**
   * Records that the test marks this worker offline. Unless the worker is closed, it registers
   * again soon.
   */
  synchronized void recordLost(String worker) {
    lostSinceNanos.put(worker, System.nanoTime());
  }

  private boolean isRegisteredAgain(String worker) {
    try (PreparedStatement query = connection.prepareStatement(IS_BACK)) {
      query.setString(1, worker);
      try (ResultSet row = query.executeQuery()) {
        return row.next();
      }
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  synchronized List<String> workers() {
    return texts("SELECT worker_id::text FROM kagzi.workers WHERE status <> 'OFFLINE'");
  }

  private List<String> texts(String sql) {
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      List<String> texts = new ArrayList<>();
      while (rows.next()) {
        texts.add(rows.getString(1));
      }
      return texts;
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Moves the clock forward to this time. The clock never goes back. */
  synchronized void moveClock(Instant to) {
    try {
      connection.setAutoCommit(false);
      try (PreparedStatement keep = connection.prepareStatement(KEEP_WORKERS);
          Statement replace = connection.createStatement()) {
        lockTables(replace);
        keep.setObject(1, to.atOffset(ZoneOffset.UTC));
        keep.executeUpdate();
        replace.execute(replaceClockSql(aheadUs(to)));
        connection.commit();
      } finally {
        connection.rollback();
        connection.setAutoCommit(true);
      }
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Waits until no other transaction writes, and keeps others from writing. */
  private void lockTables(Statement statement) throws SQLException {
    long begun = System.nanoTime();
    while (true) {
      try {
        statement.execute(LOCK);
        return;
      } catch (SQLException e) {
        connection.rollback();
        if (!LOCK_NOT_AVAILABLE.equals(e.getSQLState())) {
          throw e;
        }
        if (System.nanoTime() - begun > LOCK_NANOS_MAX) {
          throw new IllegalStateException(
              "the clock cannot move while other transactions write (expected: an end of them within"
                  + " 30 s)",
              e);
        }
        pause();
      }
    }
  }

  private static void pause() {
    try {
      Thread.sleep(LOCK_RETRY_MS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while the clock was moved", e);
    }
  }

  private long aheadUs(Instant to) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("SELECT now(), kagzi.clock() AS clock")) {
      row.next();
      Instant clock = row.getObject("clock", OffsetDateTime.class).toInstant();
      Instant now = row.getObject("now", OffsetDateTime.class).toInstant();
      return ChronoUnit.MICROS.between(now, clock.isAfter(to) ? clock : to);
    }
  }

  private static String replaceClockSql(long us) {
    return """
    CREATE OR REPLACE FUNCTION kagzi.clock() RETURNS timestamptz LANGUAGE sql STABLE AS
    $$ SELECT now() + %d * interval '1 microsecond' $$
    """
        .formatted(us);
  }

  @Override
  public synchronized void close() {
    try {
      connection.close();
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
    SharedPostgres.server().dropDatabase(name);
  }
}
