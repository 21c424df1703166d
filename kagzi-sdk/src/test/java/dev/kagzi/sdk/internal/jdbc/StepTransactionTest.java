package dev.kagzi.sdk.internal.jdbc;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.kagzi.sdk.jdbc.StepTable;
import dev.kagzi.sdk.jdbc.TransactionCode;
import dev.kagzi.sdk.jdbc.Transactions;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Claims that execute the same step, in each database. */
class StepTransactionTest {
  private static final List<DataSource> DATABASES =
      List.of(TestDatabases.postgres(), TestDatabases.h2(""));

  private final String runId = UUID.randomUUID().toString();
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

  static List<DataSource> databases() throws SQLException {
    for (DataSource each : DATABASES) {
      StepTable.in(each).create();
      TestDatabases.execute(each, "CREATE TABLE IF NOT EXISTS debits (by_claim integer)");
      TestDatabases.execute(each, "DELETE FROM debits");
    }
    return DATABASES;
  }

  @AfterEach
  void stop() {
    threads.shutdownNow();
  }

  private StepTransaction claim(DataSource database, int epoch) {
    return new StepTransaction(
        Transactions.of(database), new StepClaim("default", runId, "debit", epoch));
  }

  private static TransactionCode<byte[]> debit(int epoch) {
    return connection -> {
      try (Statement statement = connection.createStatement()) {
        statement.executeUpdate("INSERT INTO debits VALUES (%d)".formatted(epoch));
      }
      return ("by " + epoch).getBytes(UTF_8);
    };
  }

  private static int debits(DataSource database) {
    return TestDatabases.execute(database, "SELECT count(*) FROM debits");
  }

  @ParameterizedTest
  @MethodSource("databases")
  void a_second_claim_finds_the_result_and_does_not_execute_the_code(DataSource database)
      throws Exception {
    byte[] first = claim(database, 1).execute(debit(1), () -> {});
    byte[] second = claim(database, 2).execute(debit(2), () -> {});
    byte[] late = claim(database, 1).execute(debit(1), () -> {});

    assertThat(List.of(first, second, late))
        .allMatch(each -> new String(each, UTF_8).equals("by 1"));
    assertThat(debits(database)).isEqualTo(1);
  }

  @ParameterizedTest
  @MethodSource("databases")
  void a_second_claim_waits_for_the_transaction_of_the_first(DataSource database) throws Exception {
    assertWaits(database, () -> claim(database, 2).execute(debit(2), () -> {}));
  }

  @ParameterizedTest
  @MethodSource("databases")
  void settling_waits_for_the_transaction_of_another_claim(DataSource database) throws Exception {
    assertWaits(database, () -> claim(database, 3).settle());
  }

  // With one that waits: in H2, two that wait for the same row also wait for each other.
  private void assertWaits(DataSource database, Callable<byte[]> later) throws Exception {
    CountDownLatch executing = new CountDownLatch(1);
    CountDownLatch go = new CountDownLatch(1);
    Future<byte[]> first =
        threads.submit(
            () ->
                claim(database, 1)
                    .execute(
                        connection -> {
                          executing.countDown();
                          go.await();
                          return debit(1).run(connection);
                        },
                        () -> {}));
    assertThat(executing.await(10, TimeUnit.SECONDS)).isTrue();
    Future<byte[]> second = threads.submit(later);

    await().during(300, TimeUnit.MILLISECONDS).until(() -> !second.isDone());
    go.countDown();

    assertThat(new String(first.get(10, TimeUnit.SECONDS), UTF_8)).isEqualTo("by 1");
    assertThat(new String(second.get(10, TimeUnit.SECONDS), UTF_8)).isEqualTo("by 1");
    assertThat(debits(database)).isEqualTo(1);
  }

  @ParameterizedTest
  @MethodSource("databases")
  void a_stale_claim_cannot_execute_a_step_that_failed_in_a_newer_claim(DataSource database)
      throws Exception {
    assertThatThrownBy(
            () ->
                claim(database, 7)
                    .execute(
                        connection -> {
                          throw new IllegalStateException("no money");
                        },
                        () -> {}))
        .hasMessage("no money");
    assertThat(claim(database, 7).settle()).isNull();

    assertThatThrownBy(() -> claim(database, 6).execute(debit(6), () -> {}))
        .isInstanceOf(StaleClaimException.class)
        .hasMessageContaining("claim 7 has used its row")
        .hasMessageContaining("at most claim 6");
    assertThatThrownBy(() -> claim(database, 6).settle()).isInstanceOf(StaleClaimException.class);
    assertThat(debits(database)).isZero();

    byte[] again = claim(database, 7).execute(debit(7), () -> {});
    assertThat(new String(again, UTF_8)).isEqualTo("by 7");
  }

  @ParameterizedTest
  @MethodSource("databases")
  void nothing_is_committed_if_the_claim_ended_while_the_code_ran(DataSource database) {
    int[] checks = new int[1];

    assertThatThrownBy(
            () ->
                claim(database, 1)
                    .execute(
                        debit(1),
                        () -> {
                          if (++checks[0] == 2) {
                            throw new IllegalStateException("too late");
                          }
                        }))
        .hasMessage("too late");

    assertThat(debits(database)).isZero();
    assertThat(TestDatabases.execute(database, rows())).isZero();
  }

  private String rows() {
    return "SELECT count(*) FROM kagzi_steps WHERE run_id = '%s'".formatted(runId);
  }

  @ParameterizedTest
  @MethodSource("databases")
  void code_that_ends_the_transaction_itself_fails(DataSource database) {
    assertThatThrownBy(() -> claim(database, 1).execute(ending(Connection::commit), () -> {}))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageStartingWith("commit() was called by the code of step debit (expected: ");
    assertThatThrownBy(() -> claim(database, 1).execute(ending(Connection::rollback), () -> {}))
        .hasMessageStartingWith("rollback() was called");
    assertThatThrownBy(
            () -> claim(database, 1).execute(ending(c -> c.setAutoCommit(true)), () -> {}))
        .hasMessageStartingWith("setAutoCommit() was called");
    assertThatThrownBy(
            () ->
                claim(database, 1)
                    .execute(ending(c -> c.createStatement().execute("ROLLBACK")), () -> {}))
        .isInstanceOf(SQLException.class)
        .hasMessageContaining("its row in kagzi_steps is gone");
    assertThat(debits(database)).isZero();
  }

  private interface Ending {
    void end(Connection connection) throws SQLException;
  }

  private static TransactionCode<byte[]> ending(Ending ending) {
    return connection -> {
      byte[] output = debit(1).run(connection);
      ending.end(connection);
      return output;
    };
  }

  @ParameterizedTest
  @MethodSource("databases")
  void a_connection_is_returned_as_it_was(DataSource database) throws Exception {
    try (Connection shared = database.getConnection()) {
      Transactions transactions = Transactions.of(new OneConnection(shared));

      transactions.inTransaction(connection -> 1);

      assertThat(shared.getAutoCommit()).isTrue();
    }
  }
}
