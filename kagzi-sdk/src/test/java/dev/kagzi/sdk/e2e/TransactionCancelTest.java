package dev.kagzi.sdk.e2e;

import static dev.kagzi.sdk.OnCancel.CLEAN_UP;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.kagzi.postgres.SharedPostgres;
import dev.kagzi.protocol.v1.Step;
import dev.kagzi.protocol.v1.StepStatus;
import dev.kagzi.sdk.Branch;
import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.Retry;
import dev.kagzi.sdk.RunCancelledException;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.Saga;
import dev.kagzi.sdk.StepContext;
import dev.kagzi.sdk.WorkerInterceptor;
import dev.kagzi.sdk.Workflow;
import dev.kagzi.sdk.WorkflowContext;
import dev.kagzi.sdk.WorkflowType;
import dev.kagzi.sdk.internal.jdbc.TestDatabases;
import dev.kagzi.sdk.jdbc.StepTable;
import dev.kagzi.sdk.jdbc.TransactionCode;
import dev.kagzi.sdk.jdbc.Transactions;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A cancel with clean-up while nobody knows whether a transactional step was committed. */
class TransactionCancelTest extends RealServerTest {
  private final List<String> done = new CopyOnWriteArrayList<>();
  private final AtomicInteger executions = new AtomicInteger();
  private final CountDownLatch reached = new CountDownLatch(1);
  private final CountDownLatch nobody = new CountDownLatch(1);
  private DataSource database;

  @BeforeEach
  void createDatabase() throws SQLException {
    database =
        TestDatabases.postgres(SharedPostgres.server().jdbcUrl(SharedPostgres.createDatabase()));
    StepTable.in(database).create();
    TestDatabases.execute(database, "CREATE TABLE debits (note text)");
  }

  private WorkflowType<String, String> cleaning() {
    return type.onCancel(CLEAN_UP, Duration.ofMinutes(1));
  }

  private String debit(Connection connection, String note) throws SQLException {
    executions.incrementAndGet();
    try (Statement statement = connection.createStatement()) {
      statement.executeUpdate("INSERT INTO debits VALUES ('%s')".formatted(note));
    }
    return "debit of " + note;
  }

  /** Registers the undo behind the step, because the undo needs its result. */
  private Workflow<String, String> order(Transactions transactions) {
    return (ctx, name) -> {
      Saga saga = ctx.saga();
      try {
        return debit(ctx, saga, transactions, name);
      } catch (RunCancelledException stopped) {
        saga.compensate();
        throw stopped;
      }
    };
  }

  private String debit(WorkflowContext ctx, Saga saga, Transactions transactions, String name) {
    String text =
        ctx.step("debit")
            .retry(Retry.fixed(5, Duration.ofHours(1)))
            .transaction(transactions, String.class, c -> debit(c, name));
    saga.undo("credit", () -> done.add("undid " + text));
    ctx.sleep("wait", Duration.ofHours(1));
    return text;
  }

  private void block() throws InterruptedException {
    reached.countDown();
    nobody.await();
  }

  private Transactions blockedAfterCommit() {
    return new Transactions() {
      @Override
      public <T> T inTransaction(TransactionCode<T> code) throws Exception {
        T result = Transactions.of(database).inTransaction(code);
        block();
        return result;
      }
    };
  }

  private Transactions blockedBeforeCommit() {
    return new Transactions() {
      @Override
      public <T> T inTransaction(TransactionCode<T> code) throws Exception {
        return Transactions.of(database)
            .inTransaction(
                connection -> {
                  T result = code.run(connection);
                  block();
                  return result;
                });
      }
    };
  }

  /** Starts a run whose worker leaves it in the middle of the step. */
  private RunHandle<String> leftRun(Transactions transactions) throws InterruptedException {
    RunHandle<String> run = kagzi.workflow(type).start("Ada");
    try (Kagzi dying = Kagzi.connect(server.address())) {
      dying.worker().workflow(cleaning(), order(transactions)).drainTimeout(Duration.ZERO).start();
      assertThat(reached.await(20, TimeUnit.SECONDS)).isTrue();
    }
    return run;
  }

  private static void assertCancelled(RunHandle<String> run) {
    assertThatThrownBy(() -> run.result(SOON)).isInstanceOf(RunCancelledException.class);
    assertThat(run.info().failure()).isEmpty();
  }

  private StepStatus status(RunHandle<?> run, String key) {
    return server.steps(run.runId()).stream()
        .filter(step -> step.getStepKey().equals(key))
        .map(Step::getStatus)
        .reduce((first, second) -> second)
        .orElse(StepStatus.STEP_STATUS_UNSPECIFIED);
  }

  private int count(String from) {
    return TestDatabases.execute(database, "SELECT count(*) FROM " + from);
  }

  @Test
  void a_transaction_that_an_earlier_worker_committed_counts_and_is_undone() throws Exception {
    RunHandle<String> run = leftRun(blockedAfterCommit());
    run.cancel();
    kagzi.worker().workflow(cleaning(), order(Transactions.of(database))).start();

    assertCancelled(run);
    assertThat(done).containsExactly("undid debit of Ada");
    assertThat(executions).hasValue(1);
    assertThat(count("debits")).isEqualTo(1);
    assertThat(status(run, "debit")).isEqualTo(StepStatus.STEP_STATUS_COMPLETED);
    assertThat(status(run, "wait")).isEqualTo(StepStatus.STEP_STATUS_FAILED);
  }

  @Test
  void a_transaction_that_was_not_committed_is_excluded_and_the_code_learns_the_cancel_there()
      throws Exception {
    RunHandle<String> run = leftRun(blockedBeforeCommit());
    run.cancel();
    kagzi.worker().workflow(cleaning(), order(Transactions.of(database))).start();

    assertCancelled(run);
    assertThat(done).isEmpty();
    assertThat(executions).as("the second worker executes no code").hasValue(1);
    assertThat(count("debits")).isZero();
    assertThat(count("kagzi_steps WHERE output IS NULL")).as("the fence").isEqualTo(1);
    assertThat(status(run, "debit")).isEqualTo(StepStatus.STEP_STATUS_FAILED);
  }

  /** Fails the first attempt of a step whose transaction has been committed. */
  private final class FailsAfterCommit implements WorkerInterceptor {
    @Override
    public @Nullable Object step(StepContext step, Callable<@Nullable Object> code)
        throws Exception {
      Object result = code.call();
      if (step.name().equals("debit")) {
        reached.countDown();
        throw new IllegalStateException("the metrics are away");
      }
      return result;
    }
  }

  @Test
  void a_transaction_that_waits_for_its_retry_is_settled_first() throws Exception {
    kagzi
        .worker()
        .interceptor(new FailsAfterCommit())
        .workflow(
            cleaning(),
            (ctx, name) -> {
              Saga saga = ctx.saga();
              try {
                ctx.parallel(
                    "both",
                    Branch.of(
                        "pay", branch -> debit(branch, saga, Transactions.of(database), name)),
                    // The run keeps its claim, so that the retry is awaited in place.
                    Branch.of("hold", branch -> branch.step("hold", String.class, this::hold)));
                return "";
              } catch (RunCancelledException stopped) {
                saga.compensate();
                throw stopped;
              }
            })
        .start();
    RunHandle<String> run = kagzi.workflow(type).start("Ada");
    await()
        .atMost(SOON)
        .until(() -> status(run, "both[pay]/debit") == StepStatus.STEP_STATUS_FAILED);
    run.cancel();

    assertCancelled(run);
    assertThat(done).containsExactly("undid debit of Ada");
    assertThat(executions).hasValue(1);
    assertThat(status(run, "both[pay]/debit")).isEqualTo(StepStatus.STEP_STATUS_COMPLETED);
  }

  private String hold() throws InterruptedException {
    nobody.await();
    return "";
  }
}
