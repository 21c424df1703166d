package dev.kagzi.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kagzi.postgres.SharedPostgres;
import dev.kagzi.protocol.v1.WorkflowStatus;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import org.junit.jupiter.api.Test;

class SchemaTest {

  /** Copied from docs/operating.md. */
  private static final String ROLES =
      """
      CREATE SCHEMA kagzi AUTHORIZATION NAME_migrate;
      GRANT USAGE ON SCHEMA kagzi TO NAME_run;
      ALTER DEFAULT PRIVILEGES FOR ROLE NAME_migrate IN SCHEMA kagzi
        GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO NAME_run;
      ALTER DEFAULT PRIVILEGES FOR ROLE NAME_migrate IN SCHEMA kagzi
        GRANT USAGE ON SEQUENCES TO NAME_run;
      """;

  @Test
  void a_server_refuses_a_schema_that_is_newer_and_names_both_versions() throws Exception {
    String database = SharedPostgres.createDatabase();
    TestServer.start(database, config -> config).close();
    String known = query(database, "SELECT max(version::int) FROM kagzi.schema_history");
    execute(
        database,
        """
        INSERT INTO kagzi.schema_history
               (installed_rank, version, description, type, script, installed_by, execution_time,
                success)
        VALUES (900, '900', 'of the future', 'SQL', 'V900__future.sql', 'somebody', 1, true)
        """);

    for (boolean migrate : new boolean[] {true, false}) {
      assertThatThrownBy(() -> TestServer.start(database, config -> config.migrateOnStart(migrate)))
          .isInstanceOf(ServerStartException.class)
          .hasMessage(
              "database schema: version 900 (expected: version "
                  + known
                  + " or older, which this server knows; start a newer server)");
    }
  }

  @Test
  void a_server_that_does_not_migrate_refuses_a_missing_schema() throws Exception {
    String empty = SharedPostgres.createDatabase();

    assertThatThrownBy(() -> TestServer.start(empty, config -> config.migrateOnStart(false)))
        .isInstanceOf(ServerStartException.class)
        .hasMessageStartingWith("database schema: none (expected: version ")
        .hasMessageContaining("kagzi migrate");
    assertThat(query(empty, "SELECT count(*) FROM pg_namespace WHERE nspname = 'kagzi'"))
        .isEqualTo("0");
  }

  @Test
  void a_server_refuses_a_schema_of_a_build_before_the_first_release() throws Exception {
    String database = SharedPostgres.createDatabase();
    TestServer.start(database, config -> config).close();
    execute(
        database,
        "UPDATE kagzi.schema_history SET checksum = 17, description = 'engine' WHERE version = '1'");

    for (boolean migrate : new boolean[] {true, false}) {
      assertThatThrownBy(() -> TestServer.start(database, config -> config.migrateOnStart(migrate)))
          .isInstanceOf(ServerStartException.class)
          .hasMessageContaining("whose migration 1 has checksum 17")
          .hasMessageContaining("drop the schema kagzi or use another database");
    }
  }

  @Test
  void one_role_migrates_and_one_with_fewer_rights_runs_the_server() throws Exception {
    String database = SharedPostgres.createDatabase();
    createRoles(database);
    execute(database, ROLES.replace("NAME", database));
    ServerConfig.Builder migrating =
        TestServer.config(database).dbUser(database + "_migrate").dbPassword("m");

    assertThatThrownBy(() -> TestServer.start(database, config -> running(database, config)))
        .hasMessageStartingWith("database schema: none ");
    KagziServer.migrate(migrating);

    try (TestServer server = TestServer.start(database, config -> running(database, config));
        BatchWorker worker = new BatchWorker(server, "queue", "order")) {
      String run = server.startRun("queue", "order");
      worker.poll(1).forEach(task -> worker.report(BatchWorker.done(task)));
      assertThat(server.run(run).getStatus()).isEqualTo(WorkflowStatus.WORKFLOW_STATUS_COMPLETED);
    }
    assertThatThrownBy(
            () ->
                KagziServer.migrate(
                    TestServer.config(SharedPostgres.createDatabase())
                        .dbUser(database + "_run")
                        .dbPassword("r")))
        .isInstanceOf(ServerStartException.class)
        .hasMessageContaining("permission denied")
        .hasMessageContaining("a role that may migrate");
  }

  @Test
  void an_unreachable_or_refusing_database_is_reported_in_one_line_without_the_password() {
    assertThatThrownBy(
            () ->
                TestServer.start(
                    SharedPostgres.createDatabase(), config -> config.dbPassword("wr0ng")))
        .isInstanceOf(ServerStartException.class)
        .hasMessageContaining("password authentication failed")
        .hasMessageNotContaining("wr0ng")
        .hasMessageNotContaining("\n");
    assertThatThrownBy(() -> TestServer.start("no_such_database", config -> config))
        .isInstanceOf(ServerStartException.class)
        .hasMessageContaining("(expected: a database that was created)");
  }

  private static ServerConfig.Builder running(String database, ServerConfig.Builder config) {
    return config.migrateOnStart(false).dbUser(database + "_run").dbPassword("r");
  }

  private static void createRoles(String database) throws Exception {
    execute(
        database,
        "CREATE ROLE "
            + database
            + "_migrate LOGIN PASSWORD 'm'; CREATE ROLE "
            + database
            + "_run LOGIN PASSWORD 'r'");
  }

  private static void execute(String database, String sql) throws Exception {
    try (Connection connection = SharedPostgres.server().connect(database);
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private static String query(String database, String sql) throws Exception {
    try (Connection connection = SharedPostgres.server().connect(database);
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(sql)) {
      row.next();
      return row.getString(1);
    }
  }
}
