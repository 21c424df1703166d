package dev.kagzi.sdk.internal.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kagzi.sdk.jdbc.OutboxRelay;
import dev.kagzi.sdk.jdbc.OutboxTable;
import dev.kagzi.sdk.jdbc.RefusedMessage;
import dev.kagzi.sdk.jdbc.RelayProblem;
import dev.kagzi.sdk.jdbc.RelayProblem.Kind;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Predicate;
import javax.sql.DataSource;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The relay of an outbox, with a server that answers as a test wants. */
class OutboxPumpTest {
  private static final Duration SOON = Duration.ofSeconds(30);

  /** When the server has accepted this message, no run is missing any more. */
  private static final String STARTED = "started";

  /** Why the server does not accept a message, by its text; it accepts all others. */
  private final Map<String, Refused> refusals = new ConcurrentHashMap<>();

  private final List<String> accepted = new CopyOnWriteArrayList<>();

  private enum Refused {
    UNAVAILABLE,
    FOR_NOW,
    FINALLY,
    RUN_MISSING
  }

  private static final class RefusedException extends RuntimeException {
    private static final long serialVersionUID = 1L;
    private final Refused refused;

    RefusedException(Refused refused) {
      super("refused: " + refused);
      this.refused = refused;
    }
  }

  private CompletableFuture<?> send(OutboxRow row) {
    String text = new String(row.message(), StandardCharsets.UTF_8);
    Refused refused = refusals.get(text);
    boolean isStarted = accepted.contains(STARTED);
    if (refused != null && !(refused == Refused.RUN_MISSING && isStarted)) {
      return CompletableFuture.failedFuture(new RefusedException(refused));
    }
    if (text.equals("throw")) {
      throw new IllegalStateException("not even sent");
    }
    accepted.add(text.length() > 100 ? text.length() + " bytes" : text);
    return CompletableFuture.completedFuture(text);
  }

  private static Predicate<Throwable> is(Refused... any) {
    return failure ->
        failure instanceof RefusedException known && Set.of(any).contains(known.refused);
  }

  private static DataSource database(String product) {
    return product.equals("h2") ? TestDatabases.h2("") : TestDatabases.postgres();
  }

  private static DataSource withTable(String product) throws SQLException {
    DataSource database = database(product);
    OutboxTable.in(database).create();
    return database;
  }

  private OutboxRelay relay(DataSource database) {
    OutboxSender sender =
        new OutboxSender(
            this::send,
            is(Refused.UNAVAILABLE),
            is(Refused.RUN_MISSING),
            is(Refused.FINALLY, Refused.RUN_MISSING));
    return new OutboxPump(database, "default", Duration.ofMillis(10), sender);
  }

  private static void insert(
      Connection connection, String key, UUID run, OutboxRow.Kind kind, byte[] message)
      throws SQLException {
    OutboxRows.insert(connection, "default", key, run.toString(), kind, message);
  }

  private static void start(Connection connection, String key, String text) throws SQLException {
    insert(
        connection,
        key,
        UUID.randomUUID(),
        OutboxRow.Kind.START,
        text.getBytes(StandardCharsets.UTF_8));
  }

  private static Connection transaction(DataSource database) throws SQLException {
    Connection connection = database.getConnection();
    connection.setAutoCommit(false);
    return connection;
  }

  private static boolean has(OutboxRelay relay, Kind kind) {
    return relay.problems().stream().anyMatch(each -> each.kind() == kind);
  }

  @ParameterizedTest
  @ValueSource(strings = {"postgresql", "h2"})
  void more_waiting_rows_than_a_batch_has_do_not_delay_those_behind_them(String product)
      throws SQLException {
    DataSource database = withTable(product);
    refusals.put("full", Refused.FOR_NOW);
    try (Connection connection = transaction(database)) {
      for (int i = 0; i < 1_200; i++) {
        start(connection, "full-" + i, "full");
      }
      start(connection, "other", "other");
      connection.commit();
    }
    try (OutboxRelay relay = relay(database)) {
      await().atMost(SOON).until(() -> accepted.contains("other"));

      await().atMost(SOON).until(() -> has(relay, Kind.MESSAGES_WAITING));
      RelayProblem problem = relay.problems().getFirst();
      assertThat(problem.count()).isGreaterThan(0);
      assertThat(problem.reason()).contains("refused: FOR_NOW").startsWith("id ");
      refusals.clear();
      await().atMost(SOON).until(() -> accepted.size() == 1_201);
      await().atMost(SOON).until(() -> relay.problems().isEmpty());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"postgresql", "h2"})
  void a_row_that_no_server_accepts_is_refused_without_being_read(String product)
      throws SQLException {
    DataSource database = withTable(product);
    try (Connection connection = transaction(database)) {
      insert(
          connection, "huge", UUID.randomUUID(), OutboxRow.Kind.START, new byte[30 * 1024 * 1024]);
      for (int i = 0; i < 3; i++) {
        start(connection, "large-" + i, "x".repeat(4 << 20));
      }
      start(connection, "new", "of a newer client");
      start(connection, "small", "small");
      connection.commit();
    }
    TestDatabases.execute(
        database, "UPDATE kagzi_outbox SET kind = 'CANCEL' WHERE order_key = 'new'");
    try (OutboxRelay relay = relay(database)) {
      await().atMost(SOON).until(() -> accepted.size() == 4);

      assertThat(accepted).contains("small").contains("4194304 bytes");
      await().atMost(SOON).until(() -> OutboxTable.in(database).refused(10).size() == 2);
      assertThat(OutboxTable.in(database).refused(10))
          .extracting(RefusedMessage::reason)
          .containsExactly(
              "message: 31457280 bytes (expected: at most 5242880)",
              "kind: CANCEL (expected: [START, SIGNAL]; a newer relay may know it)");
      await().atMost(SOON).until(() -> has(relay, Kind.MESSAGES_REFUSED));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"postgresql", "h2"})
  void a_message_that_cannot_be_sent_stops_its_key_only(String product) throws SQLException {
    DataSource database = withTable(product);
    try (Connection connection = transaction(database)) {
      start(connection, "bad", "throw");
      start(connection, "bad", "behind");
      start(connection, "good", "other");
      connection.commit();
    }
    try (OutboxRelay relay = relay(database)) {
      await().atMost(SOON).until(() -> accepted.contains("other"));

      await().atMost(SOON).until(() -> has(relay, Kind.MESSAGES_WAITING));
      assertThat(relay.problems().getFirst().reason()).contains("not even sent");
      assertThat(accepted).containsExactly("other");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"postgresql", "h2"})
  void a_signal_waits_for_the_start_of_its_run_that_has_another_key(String product)
      throws SQLException {
    DataSource database = withTable(product);
    UUID run = UUID.randomUUID();
    refusals.put("poison", Refused.FINALLY);
    refusals.put("signal", Refused.RUN_MISSING);
    try (Connection connection = transaction(database)) {
      start(connection, "order-1", "poison");
      insert(
          connection,
          "order-1",
          run,
          OutboxRow.Kind.START,
          STARTED.getBytes(StandardCharsets.UTF_8));
      insert(
          connection,
          run.toString(),
          run,
          OutboxRow.Kind.SIGNAL,
          "signal".getBytes(StandardCharsets.UTF_8));
      connection.commit();
    }
    try (OutboxRelay relay = relay(database)) {
      await().atMost(SOON).until(() -> has(relay, Kind.MESSAGES_WAITING));
      List<RefusedMessage> refused = OutboxTable.in(database).refused(10);
      assertThat(refused).hasSize(1);

      OutboxTable.in(database).discard(refused.getFirst().id());

      await().atMost(SOON).until(() -> accepted.equals(List.of(STARTED, "signal")));
      await().atMost(SOON).until(() -> relay.problems().isEmpty());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"postgresql", "h2"})
  void a_signal_without_a_run_and_without_a_start_is_refused(String product) throws SQLException {
    DataSource database = withTable(product);
    refusals.put("signal", Refused.RUN_MISSING);
    try (Connection connection = transaction(database)) {
      insert(
          connection,
          "order-1",
          UUID.randomUUID(),
          OutboxRow.Kind.SIGNAL,
          "signal".getBytes(StandardCharsets.UTF_8));
      connection.commit();
    }
    try (OutboxRelay relay = relay(database)) {
      await().atMost(SOON).until(() -> has(relay, Kind.MESSAGES_REFUSED));

      assertThat(OutboxTable.in(database).refused(10).getFirst().reason())
          .isEqualTo("refused: RUN_MISSING");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"postgresql", "h2"})
  void a_relay_shows_a_table_that_it_cannot_read_and_a_server_that_does_not_answer(String product)
      throws SQLException {
    DataSource database = database(product);
    refusals.put("first", Refused.UNAVAILABLE);
    try (OutboxRelay relay = relay(database)) {
      await().atMost(SOON).until(() -> has(relay, Kind.OUTBOX_UNREADABLE));
      assertThat(relay.problems().getFirst().reason()).containsIgnoringCase("kagzi_outbox");

      OutboxTable.in(database).create();
      await().atMost(SOON).until(() -> relay.problems().isEmpty());
      try (Connection connection = transaction(database)) {
        start(connection, "order-1", "first");
        connection.commit();
      }
      await().atMost(SOON).until(() -> has(relay, Kind.SERVER_UNAVAILABLE));
      refusals.clear();
      await().atMost(SOON).until(() -> accepted.contains("first"));
      await().atMost(SOON).until(() -> relay.problems().isEmpty());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"postgresql", "h2"})
  void rows_that_were_refused_before_a_relay_was_started_are_shown_until_they_are_gone(
      String product) throws SQLException {
    DataSource database = withTable(product);
    try (Connection connection = transaction(database)) {
      start(connection, "order-1", "first");
      connection.commit();
    }
    TestDatabases.execute(
        database, "UPDATE kagzi_outbox SET refused_at = CURRENT_TIMESTAMP, refusal = 'too large'");
    try (OutboxRelay relay = relay(database)) {
      await().atMost(SOON).until(() -> has(relay, Kind.MESSAGES_REFUSED));
      assertThat(relay.problems().getFirst().count()).isEqualTo(1);

      RefusedMessage refused = OutboxTable.in(database).refused(10).getFirst();
      assertThat(OutboxTable.in(database).retry(refused.id())).isTrue();

      await().atMost(SOON).until(() -> accepted.contains("first"));
      await().atMost(SOON).until(() -> relay.problems().isEmpty());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"postgresql", "h2"})
  void a_reason_that_the_database_cannot_store_as_it_is_does_not_stop_the_relay(String product)
      throws SQLException {
    DataSource database = withTable(product);
    try (Connection connection = transaction(database)) {
      start(connection, "bad", "bad");
      start(connection, "good", "other");
      connection.commit();
    }
    OutboxSender sender =
        new OutboxSender(
            row ->
                row.message().length == 3
                    ? CompletableFuture.failedFuture(
                        new IllegalStateException("\0" + "x".repeat(1_998) + "\uD83D\uDE00"))
                    : send(row),
            failure -> false,
            failure -> false,
            failure -> true);
    try (OutboxRelay relay = new OutboxPump(database, "default", Duration.ofMillis(10), sender)) {
      await().atMost(SOON).until(() -> OutboxTable.in(database).refused(10).size() == 1);

      assertThat(accepted).containsExactly("other");
      assertThat(OutboxTable.in(database).refused(10).getFirst().reason())
          .isEqualTo("?" + "x".repeat(1_998));
      await().atMost(SOON).until(() -> has(relay, Kind.MESSAGES_REFUSED));
    }
  }
}
