package dev.kagzi.engine.internal.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.engine.Engine;
import dev.kagzi.engine.config.DatabaseConfig;
import dev.kagzi.engine.diagnosis.Check;
import dev.kagzi.engine.diagnosis.Diagnosis;
import dev.kagzi.engine.diagnosis.Finding;
import dev.kagzi.engine.internal.db.Database;
import dev.kagzi.postgres.EmbeddedPostgres;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** A migrated database on a durable PostgreSQL, without an engine. */
final class DiagnosedDatabase implements AutoCloseable {
  private static final AtomicInteger COUNT = new AtomicInteger();
  private static final long CRASH_DELAY_MS_MAX = 21_600_000;

  private final EmbeddedPostgres postgres;
  private final String name = "diagnosed_" + COUNT.incrementAndGet();
  private final Database database;
  private final Connection connection;

  /** {@code postgres} must be durable: the shared one of other tests has faults on purpose. */
  DiagnosedDatabase(EmbeddedPostgres postgres) throws SQLException {
    this.postgres = postgres;
    postgres.createDatabase(name);
    Engine.migrate(config());
    this.database = Database.open(config());
    this.connection = connect();
    execute(
        "INSERT INTO kagzi.servers VALUES"
            + " (gen_random_uuid(), 'host-a', kagzi.clock(), 'infinity')");
  }

  DatabaseConfig config() {
    return new DatabaseConfig(postgres.jdbcUrl(name), postgres.user(), postgres.password());
  }

  Database database() {
    return database;
  }

  Connection connect() throws SQLException {
    return postgres.connect(name);
  }

  void execute(String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  /** Moves the clock of the database, so that what exists looks older. */
  void clockAhead(Duration by) throws SQLException {
    execute(
        "CREATE OR REPLACE FUNCTION kagzi.clock() RETURNS timestamptz LANGUAGE sql STABLE AS"
            + " 'SELECT now() + interval ''"
            + by.toSeconds()
            + " seconds'''");
  }

  /** Inserts a run, due since ten minutes. */
  void insertRun(String id, String further, String values) throws SQLException {
    execute(
        """
        INSERT INTO kagzi.workflow_runs
               (run_id, namespace, task_queue, workflow_type, status, created_at, available_at%s)
        VALUES ('%s', 'default', 'q', 'order', 'PENDING', now(), now() - interval '10 minutes'%s);
        INSERT INTO kagzi.run_changes
               (namespace, task_queue, workflow_type, version, to_status, runs)
        VALUES ('default', 'q', 'order', '', 'PENDING', 1)
        """
            .formatted(further, id, values));
  }

  List<Finding> findings() {
    return new Diagnosis(database, CRASH_DELAY_MS_MAX, (namespace, run) -> "")
        .findings(InstantSource.system());
  }

  Finding finding(Check check) {
    return findings().stream().filter(each -> each.check() == check).findFirst().orElseThrow();
  }

  /** Asserts that everything else is as it should be, so that the check under test decides. */
  void assertHealthy() {
    assertThat(findings())
        .allSatisfy(
            finding -> assertThat(finding.status()).as("%s", finding).isEqualTo(Finding.Status.OK));
  }

  @Override
  public void close() throws SQLException {
    connection.close();
    database.close();
    postgres.dropDatabase(name);
  }
}
