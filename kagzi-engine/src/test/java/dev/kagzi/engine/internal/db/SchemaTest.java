package dev.kagzi.engine.internal.db;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.kagzi.engine.VersionedDatabase;
import dev.kagzi.engine.value.SchemaException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.flywaydb.core.api.FlywayException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which databases are migrated, and which are refused. */
class SchemaTest {
  private static final String HISTORY =
      """
      CREATE SCHEMA kagzi;
      CREATE TABLE kagzi.schema_history (
        installed_rank integer PRIMARY KEY,
        version        varchar(50),
        description    varchar(200) NOT NULL,
        type           varchar(20) NOT NULL,
        script         varchar(1000) NOT NULL,
        checksum       integer,
        installed_by   varchar(100) NOT NULL,
        installed_on   timestamp NOT NULL DEFAULT now(),
        execution_time integer NOT NULL,
        success        boolean NOT NULL
      );
      """;

  private static final String WAITING =
      "SELECT count(*) FROM pg_locks"
          + " WHERE NOT granted AND relation = 'kagzi.workflow_runs'::regclass";

  @TempDir Path folder;

  private static String applied(int version, String description, int checksum) {
    return """
        INSERT INTO kagzi.schema_history
          (installed_rank, version, description, type, script, checksum, installed_by,
           execution_time, success)
        VALUES (%1$d, '%1$d', '%2$s', 'SQL', 'V%1$d__%2$s.sql', %3$d, 'somebody', 1, true);
        """
        .formatted(version, description, checksum);
  }

  @Test
  void a_schema_of_a_build_before_the_first_release_is_refused_with_what_to_do() throws Exception {
    VersionedDatabase database = VersionedDatabase.empty();
    database.execute(
        HISTORY
            + applied(1, "engine", 17)
            + applied(2, "failure", 18)
            + applied(9, "views", 19)
            + "CREATE TABLE kagzi.duties (duty text)");

    assertRefused(database, "version 9, whose migration 1 has checksum 17");
  }

  @Test
  void a_first_migration_with_another_text_is_refused_with_what_to_do() throws Exception {
    VersionedDatabase database = VersionedDatabase.empty();
    new Schema(database.config()).migrate();
    database.execute("UPDATE kagzi.schema_history SET checksum = 17 WHERE version = '1'");

    assertRefused(database, "version " + newest() + ", whose migration 1 has checksum 17");
  }

  private static String newest() {
    return VersionedDatabase.versions().getLast().toString();
  }

  private static void assertRefused(VersionedDatabase database, String found) throws Exception {
    String tables = "SELECT tablename FROM pg_tables WHERE schemaname = 'kagzi'";
    var before = database.values(tables);

    for (Runnable open : openings(database)) {
      assertThatThrownBy(open::run)
          .isInstanceOf(SchemaException.class)
          .hasMessageStartingWith("database schema: " + found + " (expected: checksum ")
          .hasMessageContaining("a build before the first release made this schema")
          .hasMessageEndingWith(
              "export what you need, drop the schema kagzi or use another database, then start"
                  + " again)")
          .hasMessageNotContaining("\n");
    }
    assertThat(database.values(tables)).isEqualTo(before);
  }

  private static Runnable[] openings(VersionedDatabase database) {
    Schema schema = new Schema(database.config());
    return new Runnable[] {schema::migrate, schema::check};
  }

  @Test
  void a_dropped_schema_is_created_again() throws Exception {
    VersionedDatabase database = VersionedDatabase.empty();
    database.execute(HISTORY + applied(1, "engine", 17));
    assertThatThrownBy(() -> new Schema(database.config()).migrate())
        .isInstanceOf(SchemaException.class);

    database.execute("DROP SCHEMA kagzi CASCADE");

    assertThat(new Schema(database.config()).migrate()).isEqualTo(newest());
    new Schema(database.config()).check();
  }

  @Test
  void a_migration_that_failed_is_not_taken_for_applied() throws Exception {
    VersionedDatabase database = VersionedDatabase.empty();
    new Schema(database.config()).migrate();
    assertThat(new Schema(database.config()).migrate()).isEqualTo(newest());

    database.execute(
        "UPDATE kagzi.schema_history SET success = false WHERE version = '%s'".formatted(newest()));

    assertThatThrownBy(() -> new Schema(database.config()).migrate())
        .isInstanceOf(FlywayException.class)
        .hasMessageContaining("failed migration to version " + newest());
  }

  @Test
  void a_server_that_does_not_migrate_refuses_an_older_schema() throws Exception {
    VersionedDatabase database = VersionedDatabase.at(1);

    assertThatThrownBy(() -> new Schema(database.config(), future()).check())
        .isInstanceOf(SchemaException.class)
        .hasMessageStartingWith("database schema: version 1 (expected: version 1000, ")
        .hasMessageContaining("kagzi migrate");
    assertThat(new Schema(database.config(), future()).migrate()).isEqualTo("1000");
    assertThatThrownBy(() -> new Schema(database.config()).check())
        .isInstanceOf(SchemaException.class)
        .hasMessageStartingWith("database schema: version 1000 (expected: version ");
  }

  @Test
  void a_migration_that_waits_for_a_backup_does_not_block_running_servers() throws Exception {
    VersionedDatabase database = VersionedDatabase.at(1);
    Schema newer = new Schema(database.config(), future());
    CompletableFuture<String> migrated;
    try (Connection backup = database.connect();
        Connection server = database.connect()) {
      backup.setAutoCommit(false);
      execute(backup, "LOCK TABLE kagzi.workflow_runs IN ACCESS SHARE MODE");

      migrated = CompletableFuture.supplyAsync(newer::migrate);
      await().atMost(Duration.ofSeconds(10)).until(() -> count(server, WAITING) > 0);

      execute(server, "SET statement_timeout = '5s'");
      assertThat(count(server, "SELECT count(*) FROM kagzi.workflow_runs")).isZero();
      assertThat(migrated).isNotDone();
    }

    assertThat(migrated.get(30, TimeUnit.SECONDS)).isEqualTo("1000");
  }

  /** The location of a migration that a later version could have. */
  private String future() throws IOException {
    Files.writeString(
        folder.resolve("V1000__future.sql"),
        "ALTER TABLE kagzi.workflow_runs ADD COLUMN future text;");
    return "filesystem:" + folder;
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
}
