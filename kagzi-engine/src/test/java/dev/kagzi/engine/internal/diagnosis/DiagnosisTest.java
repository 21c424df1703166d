package dev.kagzi.engine.internal.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.kagzi.engine.Engine;
import dev.kagzi.engine.EngineConfig;
import dev.kagzi.engine.config.DatabaseConfig;
import dev.kagzi.engine.diagnosis.Check;
import dev.kagzi.engine.diagnosis.Diagnosis;
import dev.kagzi.engine.diagnosis.Finding;
import dev.kagzi.engine.internal.db.Database;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.postgres.EmbeddedPostgres;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A healthy database has no findings; each planted fault is found. */
class DiagnosisTest {
  private static final Duration SOON = Duration.ofSeconds(20);
  private static final String RUN = "01890a5d-ac96-774b-bcce-b302099a8057";

  private static EmbeddedPostgres postgres;

  private DiagnosedDatabase database;

  @BeforeAll
  static void start() {
    postgres =
        EmbeddedPostgres.builder()
            .ephemeral()
            .setting("max_prepared_transactions", "5")
            .setting("max_connections", "60")
            .start();
  }

  @AfterAll
  static void stop() {
    postgres.close();
  }

  @BeforeEach
  void open() throws SQLException {
    database = new DiagnosedDatabase(postgres);
  }

  @AfterEach
  void close() throws SQLException {
    database.close();
  }

  @Test
  void a_healthy_database_with_a_server_is_ok_in_every_check() {
    try (Engine engine = Engine.start(database.config(), EngineConfig.defaults())) {
      List<Finding> findings = engine.diagnosis().findings(InstantSource.system());

      assertThat(findings).extracting(Finding::check).containsExactly(Check.values());
      assertThat(findings)
          .allSatisfy(
              finding -> {
                assertThat(finding.status()).as("%s", finding).isEqualTo(Finding.Status.OK);
                assertThat(finding.advice()).isEmpty();
                assertThat(finding.message()).isNotEmpty();
              });
    }
  }

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
              "WARNING synchronous_commit: off (expected: on, or local with replicas)");
    }
  }

  @Test
  void an_open_transaction_is_found_by_its_age() throws SQLException {
    try (Connection other = database.connect();
        Statement statement = other.createStatement()) {
      other.setAutoCommit(false);
      statement.execute("SELECT 1");
      database.assertHealthy();

      database.clockAhead(Duration.ofMinutes(10));
      Finding minutes = database.finding(Check.OPEN_TRANSACTIONS);
      database.clockAhead(Duration.ofHours(3));
      Finding hours = database.finding(Check.OPEN_TRANSACTIONS);
      other.rollback();

      assertThat(minutes.status()).isEqualTo(Finding.Status.WARNING);
      assertThat(minutes.message()).contains("open for 10 min", "idle in transaction");
      assertThat(hours.status()).isEqualTo(Finding.Status.FAILURE);
      assertThat(hours.message()).contains("open for 3 h");
      assertThat(database.finding(Check.OPEN_TRANSACTIONS).status()).isEqualTo(Finding.Status.OK);
    }
  }

  @Test
  void a_prepared_transaction_is_found_by_its_age() throws SQLException {
    try (Connection other = database.connect();
        Statement statement = other.createStatement()) {
      other.setAutoCommit(false);
      statement.execute("CREATE TABLE public.forgotten (id int)");
      statement.execute("PREPARE TRANSACTION 'forgotten'");
    }
    try {
      database.assertHealthy();

      database.clockAhead(Duration.ofMinutes(10));

      Finding finding = database.finding(Check.PREPARED_TRANSACTIONS);
      assertThat(finding.status()).isEqualTo(Finding.Status.WARNING);
      assertThat(finding.message()).contains("1 prepared", "forgotten", "10 min");
      assertThat(finding.advice()).contains("ROLLBACK PREPARED 'forgotten'");
    } finally {
      database.execute("ROLLBACK PREPARED 'forgotten'");
    }
  }

  @Test
  void a_long_statement_is_found() throws Exception {
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
        Connection other = database.connect();
        Statement statement = other.createStatement()) {
      Future<?> slow = threads.submit(() -> statement.execute("SELECT pg_sleep(60)"));
      database.clockAhead(Duration.ofMinutes(3));

      await()
          .atMost(SOON)
          .untilAsserted(
              () -> {
                Finding finding = database.finding(Check.LONG_STATEMENTS);
                assertThat(finding.status()).isEqualTo(Finding.Status.WARNING);
                assertThat(finding.message())
                    .contains("3 min", "SELECT")
                    .doesNotContain("pg_sleep");
              });
      statement.cancel();
      assertThatThrownBy(() -> slow.get(20, TimeUnit.SECONDS))
          .hasRootCauseInstanceOf(SQLException.class);
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

  @Test
  void a_clock_that_differs_is_found() throws SQLException {
    database.clockAhead(Duration.ofSeconds(-30));

    Finding finding = database.finding(Check.CLOCK);

    assertThat(finding.status()).isEqualTo(Finding.Status.WARNING);
    assertThat(finding.message()).containsPattern("clock is (29|30) s behind the server's");
  }

  @Test
  void runs_that_do_not_continue_are_found_with_their_ids() throws SQLException {
    database.assertHealthy();
    database.insertRun(RUN, ", blocked_by, crashes", ", '{\"message\": \"changed\"}', 3");

    for (Check check : List.of(Check.DUE_RUNS, Check.BLOCKED_RUNS, Check.CRASHING_RUNS)) {
      Finding finding = database.finding(check);
      assertThat(finding.status()).isEqualTo(Finding.Status.WARNING);
      assertThat(finding.runs())
          .singleElement()
          .satisfies(
              run -> {
                assertThat(run.namespace()).isEqualTo("default");
                assertThat(run.runId()).hasToString(RUN);
              });
    }
    assertThat(database.finding(Check.DUE_RUNS).message())
        .contains("1 run of type order on queue q in default, the first for 10 min")
        .contains("workers online there: 0");
    assertThat(database.finding(Check.CRASHING_RUNS).message()).contains("the first 3 times");
    database.clockAhead(Duration.ofHours(2));
    assertThat(database.finding(Check.DUE_RUNS).status()).isEqualTo(Finding.Status.FAILURE);
  }

  @Test
  void runs_of_a_disabled_namespace_wait_on_purpose() throws SQLException {
    database.insertRun(RUN, "", "");
    assertThat(database.finding(Check.DUE_RUNS).status()).isEqualTo(Finding.Status.WARNING);

    database.execute("UPDATE kagzi.namespaces SET enabled = false");

    assertThat(database.finding(Check.DUE_RUNS).status()).isEqualTo(Finding.Status.OK);
  }

  @Test
  void a_run_that_its_worker_continues_is_not_blocked() throws SQLException {
    database.insertRun(RUN, ", blocked_by", ", '{\"message\": \"changed\"}'");
    assertThat(database.finding(Check.BLOCKED_RUNS).status()).isEqualTo(Finding.Status.WARNING);

    database.execute("UPDATE kagzi.workflow_runs SET status = 'RUNNING'");

    assertThat(database.finding(Check.BLOCKED_RUNS).status()).isEqualTo(Finding.Status.OK);
  }

  @Test
  void a_run_that_crashes_is_found_behind_a_long_queue() throws SQLException {
    database.insertRun(RUN, ", crashes", ", 3");
    database.execute("UPDATE kagzi.workflow_runs SET available_at = now() - interval '1 second'");
    database.execute(
        """
        INSERT INTO kagzi.workflow_runs
               (run_id, namespace, task_queue, workflow_type, status, created_at, available_at)
        SELECT gen_random_uuid(), 'default', 'q', 'order', 'PENDING', now(),
               now() - interval '1 hour'
          FROM generate_series(1, 12000)
        """);

    Finding finding = database.finding(Check.CRASHING_RUNS);

    assertThat(finding.status()).isEqualTo(Finding.Status.WARNING);
    assertThat(finding.runs()).extracting(run -> run.runId().toString()).containsExactly(RUN);
  }

  @Test
  void a_search_that_left_out_queues_says_so() throws SQLException {
    database.insertRun(RUN, "", "");

    String all = database.database().read(session -> new RunChecks(session).searched(2));
    String some = database.database().read(session -> new RunChecks(session).searched(1));

    assertThat(all).isEmpty();
    assertThat(some).contains("searched: 1 combinations", "there may be more");
  }

  @Test
  void what_the_role_may_not_see_is_a_warning_and_does_not_end_the_other_checks()
      throws SQLException {
    database.execute("REVOKE SELECT ON pg_stat_user_tables FROM PUBLIC");
    database.execute("CREATE ROLE weak LOGIN PASSWORD 'weak'");
    database.execute("GRANT USAGE ON SCHEMA kagzi TO weak");
    database.execute("GRANT SELECT ON ALL TABLES IN SCHEMA kagzi TO weak");
    try (Database weak =
        Database.open(new DatabaseConfig(database.config().jdbcUrl(), "weak", "weak"))) {
      Diagnosis diagnosis = new Diagnosis(weak, (namespace, run) -> "");

      assertUnchecked(diagnosis, Check.DEAD_ROWS, Check.OPEN_TRANSACTIONS, Check.LONG_STATEMENTS);
      database.execute("GRANT pg_read_all_stats TO weak");
      assertUnchecked(diagnosis, Check.DEAD_ROWS);
    } finally {
      database.execute("DROP OWNED BY weak");
      database.execute("DROP ROLE weak");
    }
  }

  private static void assertUnchecked(Diagnosis diagnosis, Check... checks) {
    assertThat(diagnosis.findings(InstantSource.system()))
        .filteredOn(finding -> finding.status() != Finding.Status.OK)
        .allSatisfy(
            finding -> {
              assertThat(finding.status()).isEqualTo(Finding.Status.WARNING);
              assertThat(finding.message()).startsWith("could not be checked: ");
            })
        .extracting(Finding::check)
        .containsExactly(checks);
  }

  @Test
  void each_found_run_is_explained_once() throws SQLException {
    database.insertRun(RUN, ", blocked_by, crashes", ", '{\"message\": \"changed\"}', 3");
    AtomicInteger calls = new AtomicInteger();
    Diagnosis diagnosis =
        new Diagnosis(
            database.database(), (namespace, run) -> namespace + " " + calls.incrementAndGet());

    List<Finding> findings = diagnosis.findings(InstantSource.system());

    assertThat(findings)
        .flatExtracting(Finding::runs)
        .hasSize(3)
        .allSatisfy(run -> assertThat(run.why()).isEqualTo("default 1"));
  }

  @Test
  void a_run_that_cannot_be_explained_is_not_called_deleted() throws SQLException {
    database.insertRun(RUN, "", "");

    assertThat(why(Refusal.notFound("run", RUN))).isEqualTo("the run does not exist any more");
    assertThat(why(Refusal.of(Refusal.Reason.UNAVAILABLE, "database", "", "away")))
        .isEqualTo("could not be explained: away");
    assertThat(why(new IllegalStateException("bug")))
        .isEqualTo("could not be explained: see the log of the server");
  }

  private String why(RuntimeException thrown) {
    Diagnosis diagnosis =
        new Diagnosis(
            database.database(),
            (namespace, run) -> {
              throw thrown;
            });
    return diagnosis.findings(InstantSource.system()).stream()
        .filter(finding -> finding.check() == Check.DUE_RUNS)
        .findFirst()
        .orElseThrow()
        .runs()
        .getFirst()
        .why();
  }

  @Test
  void an_error_also_ends_the_calls_that_wait_for_the_diagnosis() throws Exception {
    Diagnosis diagnosis = new Diagnosis(database.database(), (namespace, run) -> "");
    CountDownLatch reached = new CountDownLatch(1);
    CountDownLatch release = new CountDownLatch(1);
    InstantSource broken =
        () -> {
          reached.countDown();
          try {
            release.await(20, TimeUnit.SECONDS);
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
          throw new StackOverflowError("planted");
        };
    FutureTask<List<Finding>> first = new FutureTask<>(() -> diagnosis.findings(broken));
    FutureTask<List<Finding>> second = new FutureTask<>(() -> diagnosis.findings(broken));
    Thread.ofPlatform().start(first);
    assertThat(reached.await(20, TimeUnit.SECONDS)).isTrue();
    Thread waiting = Thread.ofPlatform().start(second);
    await().atMost(SOON).until(() -> waiting.getState() == Thread.State.WAITING);

    release.countDown();

    for (FutureTask<List<Finding>> call : List.of(first, second)) {
      assertThatThrownBy(() -> call.get(20, TimeUnit.SECONDS))
          .hasRootCauseInstanceOf(StackOverflowError.class);
    }
  }

  @Test
  void calls_during_a_diagnosis_get_its_result() throws Exception {
    Diagnosis diagnosis = new Diagnosis(database.database(), (namespace, run) -> "");
    CountDownLatch reached = new CountDownLatch(1);
    CountDownLatch release = new CountDownLatch(1);
    InstantSource slowClock =
        () -> {
          reached.countDown();
          try {
            release.await(20, TimeUnit.SECONDS);
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
          return InstantSource.system().instant();
        };
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<List<Finding>> first = threads.submit(() -> diagnosis.findings(slowClock));
      assertThat(reached.await(20, TimeUnit.SECONDS)).isTrue();

      Future<List<Finding>> second = threads.submit(() -> diagnosis.findings(slowClock));
      release.countDown();

      List<Finding> findings = first.get(20, TimeUnit.SECONDS);
      assertThat(findings).hasSize(Check.values().length);
      // The second call either joined the first, or began after its end.
      assertThat(second.get(20, TimeUnit.SECONDS)).hasSameSizeAs(findings);
    }
  }

  @Test
  void old_transaction_ids_and_a_full_disk_are_judged_by_their_numbers() {
    assertThat(TransactionChecks.transactionIds(999_999_999).status()).isEqualTo(Finding.Status.OK);
    assertThat(TransactionChecks.transactionIds(1_000_000_000).status())
        .isEqualTo(Finding.Status.WARNING);
    assertThat(TransactionChecks.transactionIds(1_800_000_000).status())
        .isEqualTo(Finding.Status.FAILURE);
    long gib = 1L << 30;
    assertThat(new TableChecks.Disk(gib - 1, 100 * gib).finding("").status())
        .isEqualTo(Finding.Status.FAILURE);
    assertThat(new TableChecks.Disk(9 * gib, 100 * gib).finding("").status())
        .isEqualTo(Finding.Status.WARNING);
    assertThat(new TableChecks.Disk(9 * gib, 50 * gib).finding("").status())
        .isEqualTo(Finding.Status.OK);
    assertThat(new TableChecks.Disk(21 * gib, 1_000 * gib).finding("").status())
        .isEqualTo(Finding.Status.OK);
  }

  @Test
  void the_worst_replication_slot_is_named() {
    var busy = new TransactionChecks.Slot("busy", true, false, 20L << 30, 0);
    var idle = new TransactionChecks.Slot("idle", false, false, 1L << 20, 0);
    var large = new TransactionChecks.Slot("large", false, false, 11L << 30, 0);
    var lost = new TransactionChecks.Slot("lost", false, true, 0, 0);
    var old = new TransactionChecks.Slot("old", true, false, 0, 10_000_000);

    assertSlot(Finding.Status.OK, "busy", busy, idle);
    assertSlot(Finding.Status.WARNING, "lost is lost", busy, idle, lost);
    assertSlot(Finding.Status.WARNING, "old keeps the dead rows of the last 10000000", busy, old);
    assertSlot(Finding.Status.FAILURE, "large has no receiver", lost, old, large);
  }

  private static void assertSlot(
      Finding.Status status, String found, TransactionChecks.Slot... slots) {
    Finding finding = TransactionChecks.replicationSlots(List.of(slots));

    assertThat(finding.status()).isEqualTo(status);
    assertThat(finding.message()).contains(found);
  }
}
