package dev.kagzi.sdk.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.kagzi.postgres.CuttingProxy;
import dev.kagzi.postgres.SharedPostgres;
import dev.kagzi.sdk.Failure;
import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.Retry;
import dev.kagzi.sdk.RunFailedException;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.Signal;
import dev.kagzi.sdk.StepFailedException;
import dev.kagzi.sdk.TypeRef;
import dev.kagzi.sdk.Workflow;
import dev.kagzi.sdk.internal.jdbc.TestDatabases;
import dev.kagzi.sdk.jdbc.StepTable;
import dev.kagzi.sdk.jdbc.TransactionCode;
import dev.kagzi.sdk.jdbc.Transactions;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Steps in transactions of the application's database. */
class TransactionTest extends RealServerTest {
  private String url;
  private DataSource database;

  @BeforeEach
  void createDatabase() throws SQLException {
    url = SharedPostgres.server().jdbcUrl(SharedPostgres.createDatabase());
    database = TestDatabases.postgres(url);
    StepTable.in(database).create();
    TestDatabases.execute(database, "CREATE TABLE debits (note text)");
  }

  private RunHandle<String> run(Workflow<String, String> code) {
    kagzi.worker().workflow(type, code).start();
    return kagzi.workflow(type).start("Ada");
  }

  private static String debit(Connection connection, String note) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.executeUpdate("INSERT INTO debits VALUES ('%s')".formatted(note));
    }
    return "debited " + note;
  }

  private int debits() {
    return TestDatabases.execute(database, "SELECT count(*) FROM debits");
  }

  private int results() {
    return TestDatabases.execute(
        database, "SELECT count(*) FROM kagzi_steps WHERE output IS NOT NULL");
  }

  private static String blockReason(RunHandle<?> run) {
    return run.info().failure().map(Failure::message).orElse("");
  }

  @Test
  void effects_and_results_are_committed_together() {
    RunHandle<String> run =
        run(
            (ctx, name) -> {
              String text = ctx.transaction("debit", database, String.class, c -> debit(c, name));
              ctx.transaction("log", database, c -> debit(c, "log"));
              List<Integer> numbers =
                  ctx.step("numbers")
                      .retry(Retry.none())
                      .transaction(
                          Transactions.of(database),
                          new TypeRef<List<Integer>>() {},
                          c -> List.of(1, 2));
              return text + numbers.get(1);
            });

    assertThat(run.result(SOON)).isEqualTo("debited Ada2");
    assertThat(debits()).isEqualTo(2);
    assertThat(results()).isEqualTo(3);
  }

  @Test
  void a_step_that_fails_is_rolled_back_and_executed_again() {
    AtomicInteger attempts = new AtomicInteger();
    RunHandle<String> run =
        run(
            (ctx, name) ->
                ctx.step("debit")
                    .retry(Retry.fixed(3, Duration.ofMillis(10)))
                    .transaction(
                        Transactions.of(database),
                        String.class,
                        c -> {
                          debit(c, name);
                          if (attempts.incrementAndGet() < 3) {
                            throw new IllegalStateException("attempt " + attempts);
                          }
                          return "attempt " + attempts;
                        }));

    assertThat(run.result(SOON)).isEqualTo("attempt 3");
    assertThat(debits()).isEqualTo(1);
  }

  @Test
  void a_commit_whose_answer_is_lost_counts_and_is_not_repeated() {
    try (CuttingProxy proxy = new CuttingProxy(url)) {
      DataSource cut = TestDatabases.postgres(proxy.jdbcUrl(""));
      AtomicInteger executions = new AtomicInteger();
      RunHandle<String> run =
          run(
              (ctx, name) ->
                  ctx.step("debit")
                      .retry(Retry.none())
                      .transaction(
                          Transactions.of(cut),
                          String.class,
                          c -> {
                            proxy.cutAnswer(tag -> tag.equals("COMMIT"));
                            executions.incrementAndGet();
                            return debit(c, name);
                          }));

      assertThat(run.result(SOON)).isEqualTo("debited Ada");
      assertThat(proxy.cuts()).containsExactly("COMMIT");
      assertThat(executions).hasValue(1);
      assertThat(debits()).isEqualTo(1);
    }
  }

  @Test
  void a_run_waits_while_nobody_knows_whether_its_transaction_was_committed() {
    try (CuttingProxy proxy = new CuttingProxy(url)) {
      DataSource cut = TestDatabases.postgres(proxy.jdbcUrl(""));
      AtomicInteger executions = new AtomicInteger();
      RunHandle<String> run =
          run(
              (ctx, name) ->
                  ctx.step("debit")
                      .retry(Retry.none())
                      .transaction(
                          Transactions.of(cut),
                          String.class,
                          c -> {
                            executions.incrementAndGet();
                            proxy.downAfter(tag -> tag.equals("COMMIT"));
                            return debit(c, name);
                          }));
      await()
          .atMost(SOON)
          .until(() -> blockReason(run).contains("whether it was committed could not be read"));
      proxy.up();

      assertThat(run.result(SOON)).isEqualTo("debited Ada");
      assertThat(executions).hasValue(1);
      assertThat(debits()).isEqualTo(1);
    }
  }

  @Test
  void a_run_waits_until_the_table_exists() throws SQLException {
    TestDatabases.execute(database, "DROP TABLE kagzi_steps");
    RunHandle<String> run =
        run((ctx, name) -> ctx.transaction("debit", database, String.class, c -> debit(c, name)));
    await().atMost(SOON).until(() -> blockReason(run).contains("`kagzi sql steps --dialect"));
    assertThat(debits()).isZero();
    StepTable.in(database).create();

    assertThat(run.result(SOON)).isEqualTo("debited Ada");
    assertThat(debits()).isEqualTo(1);
  }

  @Test
  void an_interrupted_statement_fails_as_a_timeout_and_leaves_nothing() {
    RunHandle<String> run =
        run(
            (ctx, name) ->
                ctx.step("debit")
                    .retry(Retry.none())
                    .timeout(Duration.ofMillis(300))
                    .transaction(
                        Transactions.of(database),
                        String.class,
                        c -> {
                          debit(c, name);
                          try (Statement statement = c.createStatement()) {
                            statement.execute("SELECT pg_sleep(3)");
                          }
                          return "slept";
                        }));

    assertThatThrownBy(() -> run.result(SOON))
        .isInstanceOf(RunFailedException.class)
        .hasMessageContaining("timed out after 300 ms");
    assertThat(debits()).isZero();
  }

  /** Holds the commit open until the latch is counted down, whatever interrupts it. */
  private Transactions slowCommit(CountDownLatch latch, AtomicInteger slow) {
    return new Transactions() {
      @Override
      public <T> T inTransaction(TransactionCode<T> code) throws Exception {
        return Transactions.of(database)
            .inTransaction(
                connection -> {
                  T result = code.run(connection);
                  if (slow.getAndDecrement() > 0) {
                    awaitWithoutInterrupt(latch);
                  }
                  return result;
                });
      }
    };
  }

  private static void awaitWithoutInterrupt(CountDownLatch latch) {
    boolean interrupted = false;
    while (true) {
      try {
        latch.await();
        break;
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    // The driver would notice it at the commit.
    assertThat(interrupted).isTrue();
  }

  @Test
  void a_transaction_that_commits_after_its_final_timeout_still_counts() {
    CountDownLatch latch = new CountDownLatch(1);
    Transactions transactions = slowCommit(latch, new AtomicInteger(1));
    AtomicInteger executions = new AtomicInteger();
    RunHandle<String> run =
        run(
            (ctx, name) -> {
              try {
                String text =
                    ctx.step("debit")
                        .retry(Retry.none())
                        .timeout(Duration.ofSeconds(3))
                        .transaction(
                            transactions,
                            String.class,
                            c -> {
                              executions.incrementAndGet();
                              return debit(c, name);
                            });
                ctx.step("after", () -> {});
                return text;
              } catch (StepFailedException e) {
                return "failed";
              }
            });
    await()
        .atMost(SOON)
        .until(
            () ->
                server.steps(run.runId()).stream()
                    .anyMatch(s -> s.getError().getMessage().contains("timed out")));
    latch.countDown();

    assertThat(run.result(SOON)).isEqualTo("debited Ada");
    assertThat(executions).hasValue(1);
    assertThat(debits()).isEqualTo(1);
  }

  @Test
  void a_retry_is_a_new_run_and_debits_again() {
    RunHandle<String> run =
        run((ctx, name) -> ctx.transaction("debit", database, String.class, c -> debit(c, name)));
    run.result(SOON);

    run.retry().result(SOON);

    assertThat(debits()).isEqualTo(2);
  }

  @Test
  void a_resume_finds_what_was_committed_before() {
    AtomicInteger failures = new AtomicInteger(1);
    RunHandle<String> run =
        run(
            (ctx, name) -> {
              String text = ctx.transaction("debit", database, String.class, c -> debit(c, name));
              ctx.step("ship")
                  .retry(Retry.none())
                  .run(
                      () -> {
                        if (failures.getAndDecrement() > 0) {
                          throw new IllegalStateException("no truck");
                        }
                      });
              return text;
            });
    assertThatThrownBy(() -> run.result(SOON)).isInstanceOf(RunFailedException.class);

    run.resume();

    assertThat(run.result(SOON)).isEqualTo("debited Ada");
    assertThat(debits()).isEqualTo(1);
  }

  @Test
  void rows_go_when_the_server_confirms_that_their_run_is_over() throws SQLException {
    RunHandle<String> done =
        run(
            (ctx, name) -> {
              ctx.transaction("debit", database, c -> debit(c, name));
              if (name.equals("fail")) {
                throw new IllegalStateException("failed");
              }
              return name;
            });
    RunHandle<String> failed = kagzi.workflow(type).start("fail");
    done.result(SOON);
    assertThatThrownBy(() -> failed.result(SOON)).isInstanceOf(RunFailedException.class);
    StepTable table = StepTable.in(database);
    assertThat(table.purge(kagzi, Duration.ofHours(1))).isZero();
    TestDatabases.execute(
        database, "UPDATE kagzi_steps SET created_at = created_at - interval '2 hours'");
    assertThat(table.purge(kagzi, Duration.ofHours(1))).as("runs ended just now").isZero();
    server.endedEarlier(done.runId(), Duration.ofHours(2));
    server.endedEarlier(failed.runId(), Duration.ofHours(2));
    insertRow("default", "00000000-0000-7000-8000-000000000001");
    insertRow("another", "00000000-0000-7000-8000-000000000002");

    assertThat(table.purge(kagzi, Duration.ofHours(1))).isEqualTo(2);

    assertThat(TestDatabases.execute(database, "SELECT count(*) FROM kagzi_steps")).isEqualTo(2);
    assertThat(
            TestDatabases.execute(
                database,
                "SELECT count(*) FROM kagzi_steps WHERE run_id = '%s'".formatted(failed.runId())))
        .isEqualTo(1);
  }

  /** All rows are old enough: what the server returns about their runs decides. */
  @Test
  void rows_of_runs_that_can_continue_stay_however_old_they_are() throws SQLException {
    AtomicBoolean broken = new AtomicBoolean(true);
    RunHandle<String> resumed =
        run(
            (ctx, name) -> {
              ctx.transaction("debit", database, c -> debit(c, name));
              if (name.equals("wait")) {
                ctx.receive(Signal.of("never", String.class));
              }
              if (broken.get()) {
                throw new IllegalStateException("failed");
              }
              return name;
            });
    RunHandle<String> waiting = kagzi.workflow(type).start("wait");
    RunHandle<String> terminated = kagzi.workflow(type).start("wait");
    RunHandle<String> cancelled = kagzi.workflow(type).start("wait");
    assertThatThrownBy(() -> resumed.result(SOON)).isInstanceOf(RunFailedException.class);
    await().atMost(SOON).until(() -> rowsOf(waiting, terminated, cancelled) == 3);
    terminated.terminate("wrong customer");
    cancelled.cancel();
    TestDatabases.execute(
        database, "UPDATE kagzi_steps SET created_at = created_at - interval '99 days'");
    server.endedEarlier(resumed.runId(), Duration.ofDays(1));
    server.endedEarlier(terminated.runId(), Duration.ofDays(1));
    server.endedEarlier(cancelled.runId(), Duration.ofDays(1));
    StepTable table = StepTable.in(database);

    assertThat(table.purge(kagzi, Duration.ofHours(1))).isEqualTo(1);

    assertThat(rowsOf(cancelled)).isZero();
    assertThat(rowsOf(resumed, waiting, terminated)).isEqualTo(3);
    broken.set(false);
    resumed.resume();
    assertThat(resumed.result(SOON)).isEqualTo("Ada");
    assertThat(debits()).as("the resumed run found its row").isEqualTo(4);
    server.endedEarlier(resumed.runId(), Duration.ofDays(1));
    assertThat(table.purge(kagzi, Duration.ofHours(1))).isEqualTo(1);
    assertThat(rowsOf(waiting, terminated)).isEqualTo(2);
  }

  private int rowsOf(RunHandle<?>... runs) {
    int rows = 0;
    for (RunHandle<?> run : runs) {
      rows +=
          TestDatabases.execute(
              database,
              "SELECT count(*) FROM kagzi_steps WHERE run_id = '%s' AND output IS NOT NULL"
                  .formatted(run.runId()));
    }
    return rows;
  }

  private void insertRow(String namespace, String runId) {
    TestDatabases.execute(
        database,
        "INSERT INTO kagzi_steps VALUES ('%s', '%s', 'debit', 1, '', now() - interval '2 hours')"
            .formatted(namespace, runId));
  }

  @Test
  void nothing_is_deleted_if_the_server_knows_none_of_the_runs() {
    insertRow("default", "00000000-0000-7000-8000-000000000001");

    assertThatThrownBy(() -> StepTable.in(database).purge(kagzi, Duration.ofHours(1)))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("knows none of the newest 1 runs of namespace default");
    assertThatThrownBy(() -> StepTable.in(database).purge(kagzi, Duration.ofMinutes(1)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("age: PT1M (expected: at least PT1H)");
    assertThat(results()).isEqualTo(1);
  }

  @Test
  void a_history_with_a_transaction_is_replayed_without_a_database() {
    RunHandle<String> run =
        run(
            (ctx, name) -> {
              try {
                return ctx.step("debit")
                    .retry(Retry.none())
                    .transaction(
                        Transactions.of(database),
                        String.class,
                        c -> {
                          throw new IllegalStateException("no money");
                        });
              } catch (StepFailedException e) {
                return ctx.transaction("note", database, String.class, c -> debit(c, name));
              }
            });
    assertThat(run.result(SOON)).isEqualTo("debited Ada");
    int rows = TestDatabases.execute(database, "SELECT count(*) FROM kagzi_steps");
    TestDatabases.execute(database, "DROP TABLE kagzi_steps");

    kagzi.replayer().replay(run.history());

    assertThat(rows).as("the failed step keeps its row as a fence").isEqualTo(2);
  }

  @Test
  void the_namespace_of_a_client_is_known() {
    try (Kagzi other = Kagzi.builder().address(server.address()).namespace("bank").connect()) {
      assertThat(other.namespace()).isEqualTo("bank");
      assertThat(kagzi.namespace()).isEqualTo("default");
    }
  }
}
