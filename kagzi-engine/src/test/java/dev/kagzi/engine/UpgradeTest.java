package dev.kagzi.engine;

import static dev.kagzi.engine.TestEngine.await;
import static dev.kagzi.engine.TestEngine.done;
import static dev.kagzi.engine.TestEngine.stepDone;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kagzi.engine.db.Database;
import dev.kagzi.engine.db.DatabaseConfig;
import dev.kagzi.engine.task.Task;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.WorkerId;
import dev.kagzi.postgres.EmbeddedPostgres;
import dev.kagzi.postgres.SharedPostgres;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.flywaydb.core.Flyway;
import org.junit.jupiter.api.Test;

/** From the migration before the newest to the newest, with data, and with servers that run. */
class UpgradeTest {

  private static final String PENDING = "00000000-0000-7000-8000-0000000000a1";
  private static final String SLEEPING = "00000000-0000-7000-8000-0000000000a2";
  private static final String RUNNING = "00000000-0000-7000-8000-0000000000a3";
  private static final String COMPLETED = "00000000-0000-7000-8000-0000000000a4";

  /** As a server of the first version writes them; later columns are for later features. */
  private static final String RUNS =
      """
      INSERT INTO kagzi.workflow_runs
        (run_id, namespace, external_id, ended, task_queue, workflow_type, status, epoch,
         ended_epoch, locked_by, claimed_at, available_at, created_at, started_at, finished_at)
      VALUES
        ('%1$s', 'default', 'a', default, 'q', 'order', 'PENDING', 0, 0, NULL, NULL,
         now() - interval '1 minute', now() - interval '1 minute', NULL, NULL),
        ('%2$s', 'default', 'b', default, 'q', 'order', 'SLEEPING', 1, 1, NULL, NULL,
         now() - interval '1 second', now() - interval '1 day', now() - interval '1 day', NULL),
        ('%3$s', 'default', 'c', default, 'q', 'order', 'RUNNING', 1, 0,
         '00000000-0000-7000-8000-0000000000b1', now() - interval '2 minutes',
         now() - interval '1 minute', now() - interval '1 day', now() - interval '1 day', NULL),
        ('%4$s', 'default', 'd', '%4$s', 'q', 'order', 'COMPLETED', 1, 1, NULL, NULL,
         NULL, now() - interval '1 day', now() - interval '1 day', now() - interval '1 hour');
      INSERT INTO kagzi.workflow_payloads (run_id, kind, data, created_at)
      SELECT run_id, 'INPUT', '"in"', created_at FROM kagzi.workflow_runs;
      INSERT INTO kagzi.workflow_payloads (run_id, kind, data, created_at)
      VALUES ('%4$s', 'OUTPUT', '"out"', now() - interval '1 hour');
      INSERT INTO kagzi.step_runs
        (run_id, step_id, attempt, epoch, run_attempt, kind, status, output, due_at, created_at,
         started_at, finished_at)
      VALUES
        ('%2$s', 'nap', 1, 1, 1, 'SLEEP', 'RUNNING', NULL, now() - interval '1 second',
         now() - interval '1 day', now() - interval '1 day', NULL),
        ('%3$s', 'charge', 1, 1, 1, 'FUNCTION', 'COMPLETED', '"paid"', NULL,
         now() - interval '1 day', now() - interval '1 day', now() - interval '1 day')
      """
          .formatted(PENDING, SLEEPING, RUNNING, COMPLETED);

  private static final String WAITING =
      "SELECT count(*) FROM pg_locks"
          + " WHERE NOT granted AND relation = 'kagzi.workflow_runs'::regclass";

  @Test
  void what_an_older_server_left_goes_on_under_the_newest() throws Exception {
    String database = SharedPostgres.createDatabase();
    List<Integer> versions = versions();
    migrate(database, versions.get(versions.size() - 2));
    execute(database, RUNS);

    try (TestEngine engine = TestEngine.start(config(database), "q")) {
      WorkerId worker = engine.register();
      Map<String, Task> tasks = new HashMap<>();
      while (tasks.size() < 3) {
        await(engine.poll(worker, 3).tasks())
            .forEach(task -> tasks.put(task.claim().runId().toString(), task));
      }

      assertThat(tasks).containsOnlyKeys(PENDING, SLEEPING, RUNNING);
      assertThat(requireNonNull(tasks.get(RUNNING)).claim().epoch()).isEqualTo(2);
      assertThat(requireNonNull(tasks.get(RUNNING)).steps())
          .singleElement()
          .satisfies(step -> assertThat(step.stepKey()).isEqualTo("charge"));
      assertThat(requireNonNull(tasks.get(SLEEPING)).steps()).hasSize(1);
      tasks.values().forEach(task -> engine.report(stepDone(task.claim(), "last", "1")));
      tasks.values().forEach(task -> engine.report(done(task.claim(), "\"out\"")));
      for (String run : Set.of(PENDING, SLEEPING, RUNNING, COMPLETED)) {
        assertThat(engine.run(RunId.parse(run).orElseThrow()).status())
            .isEqualTo(RunStatus.COMPLETED);
      }
      assertThat(engine.start("d").existed()).isFalse();
    }
  }

  // What a server of the version before does not know it neither reads nor writes. So a migration
  // may add what can be left out, and nothing else.
  @Test
  void migrations_only_add_what_an_older_server_can_leave_out() throws Exception {
    List<Integer> versions = versions();
    for (int i = 1; i < versions.size(); i++) {
      int version = versions.get(i);
      String database = SharedPostgres.createDatabase();
      migrate(database, versions.get(i - 1));
      Set<String> before = columns(database, "true");
      migrate(database, version);

      Set<String> lost = new TreeSet<>(before);
      lost.removeAll(columns(database, "true"));
      assertThat(lost).as("gone or changed by V%d", version).isEmpty();
      Set<String> required = columns(database, "is_nullable = 'NO' AND column_default IS NULL");
      required.removeAll(before);
      required.removeIf(column -> !tables(before).contains(table(column)));
      assertThat(required).as("new and required in V%d", version).isEmpty();
    }
  }

  @Test
  void a_server_that_runs_goes_on_while_a_newer_one_migrates() throws Exception {
    String database = SharedPostgres.createDatabase();
    try (TestEngine engine = TestEngine.start(config(database), "q")) {
      WorkerId worker = engine.register();
      // Often enough that the statements are prepared on the server's side.
      for (int i = 0; i < 10; i++) {
        engine.start();
        finish(engine, worker);
      }
      RunId open = engine.start();

      execute(
          database,
          """
          ALTER TABLE kagzi.workflow_runs ADD COLUMN future text, ADD COLUMN later int DEFAULT 7;
          ALTER TABLE kagzi.step_runs ADD COLUMN future text;
          ALTER TABLE kagzi.workflow_payloads ADD COLUMN future text;
          ALTER TABLE kagzi.workers ADD COLUMN future text;
          ALTER TABLE kagzi.namespaces ADD COLUMN future text;
          ALTER TABLE kagzi.run_messages ADD COLUMN future text;
          CREATE TABLE kagzi.future (id int);
          CREATE INDEX ON kagzi.workflow_runs (later) WHERE future IS NOT NULL
          """);

      finish(engine, worker);
      assertThat(engine.run(open).status()).isEqualTo(RunStatus.COMPLETED);
      engine.start("after");
      finish(engine, worker);
      assertThat(engine.register()).isNotEqualTo(worker);
    }
  }

  @Test
  void a_migration_that_waits_for_a_backup_does_not_hold_up_the_servers() throws Exception {
    String database = SharedPostgres.createDatabase();
    migrate(database, 1);
    CompletableFuture<String> newer;
    try (Connection backup = connect(database);
        Connection server = connect(database)) {
      backup.setAutoCommit(false);
      execute(backup, "LOCK TABLE kagzi.workflow_runs IN ACCESS SHARE MODE");

      newer = CompletableFuture.supplyAsync(() -> migrateByEngine(database));
      await().atMost(Duration.ofSeconds(10)).until(() -> count(server, WAITING) > 0);

      execute(server, "SET statement_timeout = '5s'");
      assertThat(count(server, "SELECT count(*) FROM kagzi.workflow_runs")).isZero();
      assertThat(newer).isNotDone();
    }

    assertThat(newer.get(30, TimeUnit.SECONDS)).isEqualTo(Integer.toString(versions().getLast()));
  }

  private static String migrateByEngine(String database) {
    try (Database engine = Database.open(config(database))) {
      return engine.migrate();
    }
  }

  private static void execute(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private static long count(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(sql)) {
      row.next();
      return row.getLong(1);
    }
  }

  private static void finish(TestEngine engine, WorkerId worker) {
    Task task = engine.claimOne(worker);
    engine.report(stepDone(task.claim(), "s", "1"));
    engine.report(done(task.claim(), "1"));
  }

  /** Of all migrations, in order. */
  private static List<Integer> versions() throws IOException {
    Path migrations = Path.of("src/main/resources/dev/kagzi/engine/migration");
    try (Stream<Path> files = Files.list(migrations)) {
      return files
          .map(file -> file.getFileName().toString())
          .map(name -> Integer.valueOf(name.substring(1, name.indexOf("__"))))
          .sorted()
          .toList();
    }
  }

  private static void migrate(String database, int version) {
    DatabaseConfig config = config(database);
    Flyway.configure()
        .dataSource(config.jdbcUrl(), config.user(), config.password())
        .locations("classpath:dev/kagzi/engine/migration")
        .schemas("kagzi")
        .defaultSchema("kagzi")
        .createSchemas(true)
        .table("schema_history")
        .target(Integer.toString(version))
        .load()
        .migrate();
  }

  private static Set<String> columns(String database, String condition) throws SQLException {
    Set<String> columns = new HashSet<>();
    try (Connection connection = connect(database);
        Statement statement = connection.createStatement();
        ResultSet rows =
            statement.executeQuery(
                "SELECT table_name || '.' || column_name || ' ' || udt_name"
                    + " FROM information_schema.columns WHERE table_schema = 'kagzi' AND "
                    + condition)) {
      while (rows.next()) {
        columns.add(rows.getString(1));
      }
    }
    return columns;
  }

  private static Set<String> tables(Set<String> columns) {
    Set<String> tables = new HashSet<>();
    columns.forEach(column -> tables.add(table(column)));
    return tables;
  }

  private static String table(String column) {
    return column.substring(0, column.indexOf('.'));
  }

  private static void execute(String database, String sql) throws SQLException {
    try (Connection connection = connect(database);
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private static Connection connect(String database) throws SQLException {
    DatabaseConfig config = config(database);
    return DriverManager.getConnection(config.jdbcUrl(), config.user(), config.password());
  }

  private static DatabaseConfig config(String database) {
    EmbeddedPostgres server = SharedPostgres.server();
    return new DatabaseConfig(server.jdbcUrl(database), server.user(), server.password()).unsafe();
  }
}
