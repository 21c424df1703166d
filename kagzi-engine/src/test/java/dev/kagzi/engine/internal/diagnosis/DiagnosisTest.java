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
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** A healthy database has no findings; transactions, clocks and runs are judged. */
class DiagnosisTest extends DiagnosisFixture {
  private static final long CRASH_DELAY_MS_MAX = 60_000;

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
  void a_run_that_crashes_is_found_during_its_longest_delay() throws SQLException {
    database.insertRun(RUN, ", crashes", ", 3");
    database.execute("UPDATE kagzi.workflow_runs SET available_at = now() + interval '5 hours'");

    assertThat(database.finding(Check.CRASHING_RUNS).status()).isEqualTo(Finding.Status.WARNING);
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
      Diagnosis diagnosis = new Diagnosis(weak, CRASH_DELAY_MS_MAX, (namespace, run) -> "");

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
            database.database(),
            CRASH_DELAY_MS_MAX,
            (namespace, run) -> namespace + " " + calls.incrementAndGet());

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
            CRASH_DELAY_MS_MAX,
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
    Diagnosis diagnosis =
        new Diagnosis(database.database(), CRASH_DELAY_MS_MAX, (namespace, run) -> "");
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
    Diagnosis diagnosis =
        new Diagnosis(database.database(), CRASH_DELAY_MS_MAX, (namespace, run) -> "");
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
