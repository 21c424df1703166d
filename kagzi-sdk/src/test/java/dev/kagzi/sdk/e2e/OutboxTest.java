package dev.kagzi.sdk.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.kagzi.postgres.CuttingProxy;
import dev.kagzi.postgres.SharedPostgres;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.RunNotFoundException;
import dev.kagzi.sdk.Signal;
import dev.kagzi.sdk.internal.jdbc.TestDatabases;
import dev.kagzi.sdk.jdbc.OutboxRelay;
import dev.kagzi.sdk.jdbc.OutboxTable;
import dev.kagzi.sdk.jdbc.RefusedMessage;
import dev.kagzi.sdk.jdbc.RelayProblem;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Starts and signals through a table in a database of the application. */
class OutboxTest extends RealServerTest {
  private static final Signal<Integer> NUMBER = Signal.of("number", Integer.class);

  private static DataSource create(String product) throws SQLException {
    DataSource database = product.equals("h2") ? TestDatabases.h2("") : TestDatabases.postgres();
    OutboxTable.in(database).create();
    return database;
  }

  private static int rows(DataSource database) {
    return TestDatabases.execute(database, "SELECT count(*) FROM kagzi_outbox");
  }

  private static void awaitSent(DataSource database) {
    await().atMost(SOON).until(() -> rows(database) == 0);
  }

  private static boolean isThere(RunHandle<?> run) {
    try {
      return run.status() != null;
    } catch (RunNotFoundException e) {
      return false;
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"postgresql", "h2"})
  void a_run_starts_if_and_only_if_the_transaction_commits(String product) throws SQLException {
    DataSource database = create(product);
    kagzi.worker().workflow(type, (ctx, name) -> "hello " + name + ctx.headers()).start();
    RunHandle<String> rolledBack;
    RunHandle<String> committed;
    try (Connection connection = database.getConnection()) {
      connection.setAutoCommit(false);
      rolledBack = kagzi.workflow(type).startInOutbox(connection, "Bob");
      connection.rollback();
      committed =
          kagzi
              .workflow(type)
              .id("ada-" + product)
              .header("tenant", "acme")
              .startInOutbox(connection, "Ada");
      connection.commit();
    }
    assertThat(isThere(committed)).as("without a relay").isFalse();
    try (OutboxRelay relay = kagzi.relayOutbox(database)) {
      awaitSent(database);

      assertThat(committed.result(SOON)).isEqualTo("hello Ada{tenant=acme}");
      assertThat(isThere(rolledBack)).isFalse();
      await().atMost(SOON).until(() -> relay.sent() == 1);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"postgresql", "h2"})
  void messages_about_one_run_keep_their_order(String product) throws SQLException {
    DataSource database = create(product);
    kagzi
        .worker()
        .workflow(
            type,
            (ctx, name) -> {
              StringBuilder received = new StringBuilder();
              for (int i = 0; i < 20; i++) {
                received.append(ctx.receive(NUMBER)).append(' ');
              }
              return received.toString();
            })
        .start();
    RunHandle<String> run;
    StringBuilder expected = new StringBuilder();
    try (OutboxRelay one = kagzi.relayOutbox(database);
        OutboxRelay two = kagzi.relayOutbox(database);
        Connection connection = database.getConnection()) {
      connection.setAutoCommit(false);
      run = kagzi.workflow(type).id("order-" + product).startInOutbox(connection, "Ada");
      for (int i = 0; i < 20; i++) {
        run.signalInOutbox(connection, NUMBER, i);
        expected.append(i).append(' ');
        if (i % 7 == 0) {
          connection.commit();
        }
      }
      connection.commit();
      awaitSent(database);

      assertThat(run.result(SOON)).isEqualTo(expected.toString());
      assertThat(one.sent() + two.sent()).isEqualTo(21);
    }
  }

  @Test
  void a_refused_row_stops_its_key_only_and_is_shown() throws SQLException {
    DataSource database = create("postgresql");
    OutboxTable table = OutboxTable.in(database);
    RunHandle<String> poison;
    RunHandle<String> behind;
    RunHandle<String> other;
    try (Connection connection = database.getConnection();
        OutboxRelay relay = kagzi.relayOutbox(database)) {
      connection.setAutoCommit(false);
      poison =
          kagzi
              .workflow(type)
              .id("poison")
              .heartbeatTimeout(Duration.ofMillis(1))
              .startInOutbox(connection, "Ada");
      behind = kagzi.workflow(type).id("poison").startInOutbox(connection, "Ada");
      other = kagzi.workflow(type).id("other").startInOutbox(connection, "Ada");
      connection.commit();
      await().atMost(SOON).until(() -> isThere(other) && !table.refused(10).isEmpty());

      RefusedMessage refused = table.refused(10).getFirst();
      assertThat(refused.runId()).isEqualTo(poison.runId());
      assertThat(refused.key()).isEqualTo("poison");
      assertThat(refused.reason()).contains("heartbeat_timeout_ms: 1 ms");
      assertThat(rows(database)).isEqualTo(2);
      assertThat(isThere(behind)).isFalse();
      assertThat(table.retry(refused.id())).isTrue();
      await().atMost(SOON).until(() -> !table.refused(10).isEmpty());
      assertThat(table.discard(refused.id())).isTrue();
      assertThat(table.discard(refused.id())).isFalse();
      awaitSent(database);
      assertThat(isThere(behind)).isTrue();
      assertThat(relay.sent()).isEqualTo(2);
    }
  }

  @Test
  void a_row_that_is_sent_twice_starts_one_run() throws SQLException {
    String url = SharedPostgres.server().jdbcUrl(SharedPostgres.createDatabase());
    DataSource database = TestDatabases.postgres(url);
    OutboxTable.in(database).create();
    AtomicInteger executions = new AtomicInteger();
    kagzi
        .worker()
        .workflow(
            type,
            (ctx, name) -> {
              ctx.step("count", executions::incrementAndGet);
              return name;
            })
        .start();
    RunHandle<String> run;
    try (Connection connection = database.getConnection()) {
      connection.setAutoCommit(false);
      run = kagzi.workflow(type).startInOutbox(connection, "Ada");
      connection.commit();
    }
    try (CuttingProxy proxy = new CuttingProxy(url)) {
      // The server has the start, but the row is not deleted.
      AtomicInteger deletes = new AtomicInteger();
      proxy.listen(
          tag -> {
            if (tag.startsWith("DELETE") && deletes.getAndIncrement() == 0) {
              proxy.down();
            }
          });
      try (OutboxRelay relay = kagzi.relayOutbox(TestDatabases.postgres(proxy.jdbcUrl("")))) {
        await().atMost(SOON).until(() -> proxy.turnedAway() > 0);
        assertThat(isThere(run)).isTrue();
        assertThat(rows(database)).isEqualTo(1);
        proxy.up();
        awaitSent(database);
        assertThat(relay.sent()).isEqualTo(1);
      }
    }
    assertThat(run.result(SOON)).isEqualTo("Ada");
    assertThat(executions).hasValue(1);
  }

  @Test
  void rows_wait_while_no_server_answers() throws SQLException {
    DataSource database = create("postgresql");
    List<RunHandle<String>> runs = new ArrayList<>();
    try (Connection connection = database.getConnection()) {
      connection.setAutoCommit(false);
      for (int i = 0; i < 2_500; i++) {
        runs.add(kagzi.workflow(type).startInOutbox(connection, "Ada"));
      }
      connection.commit();
    }
    server.stop();
    try (OutboxRelay relay = kagzi.relayOutbox(database)) {
      server.startAgain();
      awaitSent(database);

      assertThat(runs.getFirst().status()).isNotNull();
      assertThat(runs.getLast().status()).isNotNull();
      await().atMost(SOON).until(() -> relay.sent() == 2_500);
      assertThat(OutboxTable.in(database).refused(10)).isEmpty();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"postgresql", "h2"})
  void a_connection_in_auto_commit_mode_is_refused(String product) throws SQLException {
    DataSource database = create(product);
    try (Connection connection = database.getConnection()) {
      assertThatThrownBy(() -> kagzi.workflow(type).startInOutbox(connection, "Ada"))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageStartingWith("startInOutbox: the connection is in auto-commit mode")
          .hasMessageContaining("expected: connection.setAutoCommit(false)");
      RunHandle<String> run = kagzi.run(UUID.randomUUID().toString(), type);
      assertThatThrownBy(() -> run.signalInOutbox(connection, NUMBER, 1))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageStartingWith("signalInOutbox: the connection is in auto-commit mode");
    }
    assertThat(rows(database)).isZero();
  }

  /** The handle of a run id does not know the id of the start, and so has another key. */
  @Test
  void a_signal_of_another_handle_follows_the_start_of_its_run() throws SQLException {
    DataSource database = create("postgresql");
    kagzi.worker().workflow(type, (ctx, name) -> name + ctx.receive(NUMBER)).start();
    RunHandle<String> run;
    try (Connection connection = database.getConnection()) {
      connection.setAutoCommit(false);
      kagzi
          .workflow(type)
          .id("order-1")
          .heartbeatTimeout(Duration.ofMillis(1))
          .startInOutbox(connection, "Ada");
      run = kagzi.workflow(type).id("order-1").startInOutbox(connection, "Ada");
      kagzi.run(run.runId(), type).signalInOutbox(connection, NUMBER, 7);
      connection.commit();
    }
    try (OutboxRelay relay = kagzi.relayOutbox(database)) {
      await()
          .atMost(SOON)
          .until(
              () ->
                  relay.problems().stream()
                      .anyMatch(each -> each.kind() == RelayProblem.Kind.MESSAGES_WAITING));
      assertThat(kagzi.relays()).containsExactly(relay);
      RefusedMessage refused = OutboxTable.in(database).refused(10).getFirst();
      OutboxTable.in(database).discard(refused.id());

      awaitSent(database);
    }
    assertThat(run.result(SOON)).isEqualTo("Ada7");
    assertThat(kagzi.relays()).isEmpty();
  }
}
