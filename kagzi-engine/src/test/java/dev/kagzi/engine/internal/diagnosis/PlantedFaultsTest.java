package dev.kagzi.engine.internal.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kagzi.engine.diagnosis.Check;
import dev.kagzi.engine.diagnosis.Finding;
import dev.kagzi.postgres.EmbeddedPostgres;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Each fault that is planted into a database is found. */
class PlantedFaultsTest extends DiagnosisFixture {
  /**
   * A fault that statements plant.
   *
   * @param found what the message names
   */
  record Fault(Check check, Finding.Status status, String found, List<String> statements) {
    static Fault warning(Check check, String found, String... statements) {
      return new Fault(check, Finding.Status.WARNING, found, List.of(statements));
    }

    static Fault failure(Check check, String found, String... statements) {
      return new Fault(check, Finding.Status.FAILURE, found, List.of(statements));
    }

    @Override
    public String toString() {
      return check + ": " + found;
    }
  }

  static Stream<Fault> faults() {
    return Stream.of(
        Fault.failure(
            Check.INDEXES,
            "workflow_runs_claim is missing",
            "DROP INDEX kagzi.workflow_runs_claim"),
        Fault.failure(
            Check.INDEXES,
            "step_runs_timeout is invalid",
            "UPDATE pg_index SET indisvalid = false"
                + " WHERE indexrelid = 'kagzi.step_runs_timeout'::regclass"),
        Fault.failure(
            Check.INDEXES,
            "run_messages_age is: CREATE INDEX run_messages_age ON kagzi.run_messages USING btree"
                + " (to_run)",
            "DROP INDEX kagzi.run_messages_age",
            "CREATE INDEX run_messages_age ON kagzi.run_messages (to_run)"),
        Fault.warning(
            Check.EXTRA_INDEXES,
            "by_start",
            "CREATE INDEX by_start ON kagzi.workflow_runs (started_at)"),
        Fault.failure(
            Check.AUTOVACUUM,
            "autovacuum_enabled: false for step_runs",
            "ALTER TABLE kagzi.step_runs SET (autovacuum_enabled = false)"),
        Fault.failure(
            Check.SCHEMA,
            "version 99",
            "INSERT INTO kagzi.schema_history (installed_rank, version, description, type, script,"
                + " installed_by, execution_time, success) VALUES (99, '99', 'later', 'SQL',"
                + " 'V99__later.sql', 'x', 1, true)"),
        Fault.failure(Check.SERVERS, "no server", "DELETE FROM kagzi.servers"),
        Fault.failure(
            Check.MESSAGES,
            "not delivered: 1 message between runs, the oldest for 5 min",
            "INSERT INTO kagzi.run_messages (to_run, step_id, what, created_at) VALUES ('"
                + RUN
                + "', 's', 'CHILD', now() - interval '5 minutes')"),
        Fault.failure(
            Check.SCHEDULES,
            "nightly in default by 10 min",
            "INSERT INTO kagzi.workflow_runs (run_id, namespace, task_queue, workflow_type, status,"
                + " created_at, available_at, cron_expr, schedule_name) VALUES ('"
                + RUN
                + "', 'default', 'q', 'order', 'SCHEDULED', now(), now() - interval '10 minutes',"
                + " '@daily', 'nightly')"),
        Fault.failure(
            Check.SCHEDULES,
            "nightly in default by 10 min, which cannot fire: no such zone",
            "INSERT INTO kagzi.workflow_runs (run_id, namespace, task_queue, workflow_type, status,"
                + " created_at, fire_at, available_at, cron_expr, schedule_name, error) VALUES ('"
                + RUN
                + "', 'default', 'q', 'order', 'SCHEDULED', now(), now() - interval '10 minutes',"
                + " now() + interval '40 seconds', '@daily', 'nightly',"
                + " '{\"message\": \"no such zone\"}')"),
        Fault.warning(
            Check.SCHEMA,
            "could not be checked: the check failed",
            "ALTER TABLE kagzi.schema_history RENAME COLUMN checksum TO other"));
  }

  @ParameterizedTest
  @MethodSource("faults")
  void a_planted_fault_is_found(Fault fault) throws SQLException {
    database.assertHealthy();

    for (String statement : fault.statements) {
      database.execute(statement);
    }

    Finding finding = database.finding(fault.check);
    assertThat(finding.status()).isEqualTo(fault.status);
    assertThat(finding.message()).contains(fault.found);
    assertThat(finding.message()).containsPattern("\\(expected: |^could not be checked: ");
    assertThat(finding.advice()).isNotEmpty();
    assertThat(database.findings())
        .filteredOn(each -> each.status() != Finding.Status.OK)
        .extracting(Finding::check)
        .containsExactly(fault.check);
  }

  @ParameterizedTest
  @MethodSource("settings")
  void a_dangerous_setting_is_found(Fault fault) throws SQLException {
    database.assertHealthy();
    database.execute("ALTER SYSTEM SET " + fault.statements.get(0));
    try {
      database.execute("SELECT pg_reload_conf()");

      await()
          .atMost(SOON)
          .untilAsserted(
              () -> {
                assertThat(database.finding(fault.check).status()).isEqualTo(fault.status);
                assertThat(database.finding(fault.check).message()).contains(fault.found);
              });
    } finally {
      database.execute("ALTER SYSTEM RESET ALL");
      database.execute("SELECT pg_reload_conf()");
    }
    await().atMost(SOON).untilAsserted(database::assertHealthy);
  }

  static Stream<Fault> settings() {
    return Stream.of(
        Fault.failure(Check.AUTOVACUUM, "autovacuum: off", "autovacuum = off"),
        Fault.failure(Check.AUTOVACUUM, "track_counts: off", "track_counts = off"));
  }

  @Test
  void a_server_that_is_not_durable_is_found() throws SQLException {
    try (EmbeddedPostgres fast = EmbeddedPostgres.builder().ephemeral().durable(false).start();
        DiagnosedDatabase unsafe = new DiagnosedDatabase(fast)) {
      assertThat(unsafe.findings())
          .filteredOn(finding -> finding.status() != Finding.Status.OK)
          .extracting(finding -> finding.status() + " " + finding.message())
          .containsExactly(
              "FAILURE fsync: off (expected: on)",
              "FAILURE full_page_writes: off (expected: on)",
              "WARNING synchronous_commit: off (expected: on)");
    }
  }

  @Test
  void a_replication_slot_without_a_receiver_is_found_by_the_wal_that_it_keeps()
      throws SQLException {
    database.execute("SELECT pg_create_physical_replication_slot('forgotten', true)");
    try {
      database.assertHealthy();

      database.execute("CREATE TABLE public.written (id int)");
      for (int i = 0; i < 17; i++) {
        database.execute("INSERT INTO public.written VALUES (1)");
        database.execute("SELECT pg_switch_wal()");
      }

      Finding finding = database.finding(Check.REPLICATION_SLOTS);
      assertThat(finding.status()).isEqualTo(Finding.Status.WARNING);
      assertThat(finding.message()).contains("slot forgotten has no receiver and keeps 2");
    } finally {
      database.execute("SELECT pg_drop_replication_slot('forgotten')");
    }
    assertThat(database.finding(Check.REPLICATION_SLOTS).status()).isEqualTo(Finding.Status.OK);
  }

  @Test
  void dead_rows_that_nothing_removes_are_found() throws SQLException {
    database.execute("ALTER TABLE kagzi.worker_events SET (autovacuum_enabled = false)");
    database.execute(
        "INSERT INTO kagzi.worker_events (worker_id, event, reason, at)"
            + " SELECT gen_random_uuid(), 'ONLINE', '', now() FROM generate_series(1, 60000)");
    database.execute("DELETE FROM kagzi.worker_events");

    await()
        .atMost(SOON)
        .untilAsserted(
            () -> {
              // PostgreSQL 14 reports what a session wrote only at its next statement.
              database.execute("SELECT 1");
              Finding finding = database.finding(Check.DEAD_ROWS);
              assertThat(finding.status()).isEqualTo(Finding.Status.WARNING);
              assertThat(finding.message())
                  .contains("worker_events has 60000 dead", "last vacuumed: never");
            });
    database.execute("VACUUM kagzi.worker_events");
    await()
        .atMost(SOON)
        .until(() -> database.finding(Check.DEAD_ROWS).status() == Finding.Status.OK);
  }

  @Test
  void missing_free_connections_are_found() throws SQLException {
    List<Connection> many = new ArrayList<>();
    try {
      for (int i = 0; i < 50; i++) {
        many.add(database.connect());
      }

      await()
          .atMost(SOON)
          .untilAsserted(
              () -> {
                Finding finding = database.finding(Check.CONNECTIONS);
                assertThat(finding.status()).isEqualTo(Finding.Status.WARNING);
                assertThat(finding.message()).contains("of 57 connections in use", "10 free");
              });
    } finally {
      for (Connection each : many) {
        each.close();
      }
    }
  }
}
