package dev.kagzi.sdk.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.kagzi.sdk.ClientInterceptor;
import dev.kagzi.sdk.IdConflict;
import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.Retry;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.RunNotFoundException;
import dev.kagzi.sdk.Signal;
import dev.kagzi.sdk.internal.jdbc.TestDatabases;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.MethodDescriptor;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Starts in the transaction of an application that shares the database of the server. */
class StartInTest extends RealServerTest {

  private static void awaitRun(RunHandle<?> run) {
    await()
        .atMost(SOON)
        .ignoreException(RunNotFoundException.class)
        .until(() -> run.status() != null);
  }

  @Test
  void a_run_starts_if_and_only_if_the_transaction_commits() throws SQLException {
    kagzi.worker().workflow(type, (ctx, name) -> "hello " + name + ctx.headers()).start();
    RunHandle<String> rolledBack;
    RunHandle<String> committed;
    try (Connection connection = server.connect()) {
      connection.setAutoCommit(false);
      rolledBack = kagzi.workflow(type).startIn(connection, "Bob");
      connection.rollback();
      committed =
          kagzi
              .workflow(type)
              .id("ada-1")
              .ifExists(IdConflict.REJECT)
              .header("tenant", "acme")
              .retry(Retry.exponential(3).initial(Duration.ofMillis(5)))
              .executionTimeout(Duration.ofMinutes(5))
              .stepTimeout(Duration.ofSeconds(50))
              .deadline(Instant.now().plusSeconds(300))
              .startIn(connection, "Ada");
      assertThatThrownBy(committed::status).isInstanceOf(RunNotFoundException.class);
      connection.commit();
    }
    awaitRun(committed);

    assertThat(committed.result(SOON)).isEqualTo("hello Ada{tenant=acme}");
    assertThat(kagzi.getByWorkflowId("ada-1").runId()).isEqualTo(committed.runId());
    assertThatThrownBy(rolledBack::status).isInstanceOf(RunNotFoundException.class);
  }

  @Test
  void a_refused_start_has_an_explanation() throws SQLException {
    RunHandle<String> run;
    try (Connection connection = server.connect()) {
      connection.setAutoCommit(false);
      run = kagzi.workflow(type).heartbeatTimeout(Duration.ofMillis(1)).startIn(connection, "Ada");
      connection.commit();
    }

    await()
        .atMost(SOON)
        .untilAsserted(
            () ->
                assertThat(run.explain().causes())
                    .singleElement()
                    .satisfies(
                        cause -> {
                          assertThat(cause.code()).isEqualTo("START_REFUSED");
                          assertThat(cause.text()).contains("heartbeat_timeout_ms: 1 ms");
                        }));
  }

  @Test
  void an_interceptor_adds_headers() throws SQLException {
    ClientInterceptor tenant =
        new ClientInterceptor() {
          @Override
          public CompletableFuture<String> start(
              Start start, Supplier<CompletableFuture<String>> next) {
            start.headers().put("tenant", "of the interceptor");
            return next.get();
          }
        };
    try (Kagzi own = Kagzi.builder().address(server.address()).interceptor(tenant).connect();
        Connection connection = server.connect()) {
      connection.setAutoCommit(false);
      RunHandle<String> run = own.workflow(type).startIn(connection, "Ada");
      connection.commit();
      awaitRun(run);

      assertThat(run.info().headers()).containsEntry("tenant", "of the interceptor");
    }
  }

  @Test
  void a_signal_is_sent_if_and_only_if_the_transaction_commits() throws SQLException {
    Signal<String> names = Signal.of("names", String.class);
    kagzi
        .worker()
        .workflow(type, (ctx, name) -> name + ctx.receive(names) + ctx.receive(names))
        .start();
    RunHandle<String> run;
    try (Connection connection = server.connect()) {
      connection.setAutoCommit(false);
      run = kagzi.workflow(type).startIn(connection, "Ada");
      run.signalIn(connection, names, "Bob");
      connection.commit();
      run.signalIn(connection, names, "Eve");
      connection.rollback();
      run.signalIn(connection, names, "Cy");
      connection.commit();
    }
    awaitRun(run);

    assertThat(run.result(SOON)).isEqualTo("AdaBobCy");
  }

  /** An idle server polls rarely, and polls often after somebody asked for an unknown run. */
  @Test
  void the_first_start_asks_for_its_run_once_so_that_an_idle_server_polls() throws SQLException {
    List<String> sent = new CopyOnWriteArrayList<>();
    io.grpc.ClientInterceptor recorder =
        new io.grpc.ClientInterceptor() {
          @Override
          public <I, O> ClientCall<I, O> interceptCall(
              MethodDescriptor<I, O> method, CallOptions options, Channel next) {
            sent.add(method.getBareMethodName());
            return next.newCall(method, options);
          }
        };
    try (Kagzi own = Kagzi.builder().address(server.address()).grpcInterceptor(recorder).connect();
        Connection connection = server.connect()) {
      sent.clear();
      connection.setAutoCommit(false);

      own.workflow(type).startIn(connection, "Ada");
      own.workflow(type).startIn(connection, "Bob");
      connection.commit();

      assertThat(sent).containsOnlyOnce("GetWorkflow");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"PostgreSQL", "H2"})
  void another_database_is_refused_with_what_is_expected(String product) throws SQLException {
    DataSource other = product.equals("H2") ? TestDatabases.h2("") : TestDatabases.postgres();
    try (Connection connection = other.getConnection()) {
      connection.setAutoCommit(false);
      assertThatThrownBy(() -> kagzi.workflow(type).startIn(connection, "Ada"))
          .isInstanceOf(SQLException.class)
          .hasMessage(
              "kagzi.start_workflow: not in this database (expected: the database of the server;"
                  + " startInOutbox works with any other)");
      connection.rollback();
      RunHandle<String> run = kagzi.workflow(type).start("Ada");
      assertThatThrownBy(() -> run.signalIn(connection, Signal.of("names", String.class), "Bob"))
          .isInstanceOf(SQLException.class)
          .hasMessage(
              "kagzi.signal_workflow: not in this database (expected: the database of the server;"
                  + " signalInOutbox works with any other)");
      connection.rollback();
      assertThatThrownBy(() -> kagzi.workflow(type).startInOutbox(connection, "Ada"))
          .isInstanceOf(SQLException.class)
          .hasMessageContaining("kagzi_outbox: no such table in this database (expected: ");
    }
  }

  @Test
  void a_connection_that_broke_is_reported_with_what_broke_it() throws SQLException {
    try (Connection connection = server.connect();
        Connection other = server.connect();
        var pid = connection.createStatement();
        var terminate = other.createStatement()) {
      var row = pid.executeQuery("SELECT pg_backend_pid()");
      row.next();
      connection.setAutoCommit(false);
      terminate.execute("SELECT pg_terminate_backend(" + row.getInt(1) + ", 10000)");

      assertThatThrownBy(() -> kagzi.workflow(type).startIn(connection, "Ada"))
          .isInstanceOf(SQLException.class)
          .hasMessageContaining("terminating connection");
    }
  }

  @Test
  void a_connection_in_auto_commit_mode_is_refused() throws SQLException {
    RunHandle<String> run = kagzi.workflow(type).start("Ada");
    try (Connection connection = server.connect()) {
      assertThatThrownBy(() -> kagzi.workflow(type).id("bob").startIn(connection, "Bob"))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageStartingWith("startIn: the connection is in auto-commit mode")
          .hasMessageContaining("expected: connection.setAutoCommit(false)");
      assertThatThrownBy(() -> run.signalIn(connection, Signal.of("names", String.class), "Bob"))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageStartingWith("signalIn: the connection is in auto-commit mode");
    }
    assertThat(run.signals()).isEmpty();
  }
}
