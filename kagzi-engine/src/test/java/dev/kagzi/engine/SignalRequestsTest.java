package dev.kagzi.engine;

import static dev.kagzi.engine.TestEngine.NAMESPACE;
import static dev.kagzi.engine.TestEngine.TYPE;
import static dev.kagzi.engine.TestEngine.done;
import static dev.kagzi.engine.TestEngine.payload;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.kagzi.engine.run.Report;
import dev.kagzi.engine.run.SignalRequest;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.Limits;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.WorkerId;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Signals that applications request in their own transactions. */
class SignalRequestsTest extends RequestsFixture {
  private static String request(Connection connection, RunId run, String arguments)
      throws SQLException {
    return call(connection, "signal_workflow", "'%s', %s".formatted(run, arguments));
  }

  private static String request(RunId run, String arguments) throws SQLException {
    try (Connection connection = connect()) {
      return request(connection, run, arguments);
    }
  }

  /** The signals of a run, in their order. */
  private static List<String> signals(RunId run) {
    return database.run(
        session ->
            session
                .query(
                    "SELECT name || ' ' || coalesce(convert_from(data, 'UTF8'), 'received') || ' '"
                        + " || coalesce(metadata, '{}')"
                        + " AS signal FROM kagzi.run_signals WHERE run_id = ?"
                        + " ORDER BY signal_no LIMIT 1000")
                .bind(run.value())
                .list(row -> row.text("signal")));
  }

  private static List<String> rows() {
    return texts(
        "SELECT coalesce(refusal_code, 'open') AS text FROM kagzi.signal_requests"
            + " ORDER BY request_no LIMIT 1000");
  }

  private static Report.Receive received(Claim claim, String step) {
    return new Report.Receive(claim, step, "approval", null, false);
  }

  private static Limits bufferOf(int signals) {
    Limits d = Limits.DEFAULT;
    return new Limits(
        d.payloadBytesWarn(),
        d.payloadBytesMax(),
        d.nameLengthMax(),
        d.externalIdLengthMax(),
        d.stepKeyLengthMax(),
        d.stepsPerRunMax(),
        signals,
        d.signalBytesPerRunMax(),
        d.labelsMax(),
        d.labelLengthMax(),
        d.textLengthMax());
  }

  private static void awaitExecuted() {
    await().atMost(SOON).until(() -> !rows().contains("open"));
  }

  @Test
  void a_committed_request_becomes_a_signal() throws SQLException {
    RunId run = engine.start();

    String made = request(run, "'approval', '{\"by\": \"ann\"}'");
    String chosen = request(run, "'approval', signal_id => 'event-1'");
    awaitExecuted();
    request(
        run,
        "'approval', payload_data => '\\x31', payload_metadata => '{\"encoding\": \"secret\"}'");
    awaitExecuted();

    assertThat(made).matches("request-\\d+");
    assertThat(chosen).isEqualTo("event-1");
    assertThat(signals(run))
        .containsExactly(
            "approval {\"by\": \"ann\"} {}",
            "approval null {}",
            "approval 1 {\"encoding\": \"secret\"}");
    assertThat(rows()).isEmpty();
  }

  @Test
  void a_request_exists_only_if_its_transaction_commits() throws SQLException {
    RunId run = engine.start();
    try (Connection connection = connect()) {
      connection.setAutoCommit(false);
      request(connection, run, "'approval', '1'");
      connection.rollback();
      request(connection, run, "'approval', '2'");
      connection.commit();
    }
    await().atMost(SOON).until(() -> !signals(run).isEmpty());

    assertThat(signals(run)).containsExactly("approval 2 {}");
  }

  @Test
  void a_signal_waits_for_the_start_that_the_same_transaction_requests() throws SQLException {
    RunId run;
    try (Connection connection = connect()) {
      connection.setAutoCommit(false);
      run = requestStart(connection, "'%s', '%s'".formatted(TYPE, queue));
      request(connection, run, "'approval', '1'");
      connection.commit();
    }
    awaitExecuted();

    assertThat(rows()).isEmpty();
    assertThat(signals(run)).hasSize(1);
  }

  @Test
  void signals_follow_starts_of_earlier_transactions_with_two_servers() throws SQLException {
    List<RunId> runs = new ArrayList<>();
    try (TestEngine other = TestEngine.start(database.config(), queue, CONFIG);
        Connection connection = connect()) {
      for (int i = 0; i < 300; i++) {
        RunId run = requestStart(connection, "'%s', '%s'".formatted(TYPE, queue));
        request(connection, run, "'n', '1'");
        runs.add(run);
      }
      awaitExecuted();

      assertThat(other.engine().unavailableReason()).isEmpty();
    }
    assertThat(rows()).isEmpty();
    assertThat(runs).allSatisfy(run -> assertThat(signals(run)).hasSize(1));
  }

  @Test
  void a_signal_for_a_run_whose_start_is_refused_is_refused_with_that_reason() throws SQLException {
    engine.start("order-42");
    RunId run;
    try (Connection connection = connect()) {
      connection.setAutoCommit(false);
      run =
          requestStart(connection, "'%s', '%s', external_id => 'order-42'".formatted(TYPE, queue));
      request(connection, run, "'approval', '1'");
      connection.commit();
    }

    awaitExecuted();

    assertThat(rows()).containsExactly("NOT_FOUND");
    assertThat(texts("SELECT refusal AS text FROM kagzi.signal_requests LIMIT 10").getFirst())
        .matches(
            "run not found.*: %s, because its requested start was refused \\(ID_IN_USE: .*\\)"
                .formatted(run));
  }

  @Test
  void signals_of_a_run_keep_their_order_with_two_servers() throws SQLException {
    RunId first = engine.start();
    RunId second = engine.start();
    try (TestEngine other = TestEngine.start(database.config(), queue, CONFIG);
        Connection connection = connect()) {
      for (int i = 0; i < 40; i++) {
        request(connection, first, "'n', '%d'".formatted(i));
        request(connection, second, "'n', '%d'".formatted(i));
      }
      awaitExecuted();

      assertThat(other.engine().unavailableReason()).isEmpty();
    }
    List<String> expected = IntStream.range(0, 40).mapToObj(i -> "n %d {}".formatted(i)).toList();
    assertThat(signals(first)).isEqualTo(expected);
    assertThat(signals(second)).isEqualTo(expected);
  }

  @Test
  void a_request_that_was_sent_before_a_crash_has_no_second_effect() throws SQLException {
    RunId run = engine.start();
    engine
        .engine()
        .runs()
        .signal(NAMESPACE, run, new SignalRequest("approval", payload("1"), "event-1"))
        .join();

    request(run, "'approval', '1', signal_id => 'event-1'");
    awaitExecuted();

    assertThat(signals(run)).hasSize(1);
    assertThat(rows()).isEmpty();
  }

  @Test
  void a_refused_request_stays_with_its_reason_and_stops_no_other() throws SQLException {
    WorkerId worker = engine.register();
    RunId ended = engine.start();
    engine.report(done(engine.claimOne(worker).claim(), "1"));
    RunId run = engine.start();

    request(ended, "'approval'");
    request(new RunId(UUID.randomUUID()), "'approval'");
    request(run, "'approval', namespace => 'nowhere'");
    request(run, "''");
    request(run, "'approval', payload_data => convert_to(repeat('x', 9000000), 'UTF8')");
    request(run, "'approval', '7'");

    awaitExecuted();
    assertThat(rows())
        .containsExactly(
            "RUN_ENDED", "NOT_FOUND", "NOT_FOUND", "INVALID_ARGUMENT", "INVALID_ARGUMENT");
    assertThat(signals(run)).containsExactly("approval 7 {}");
    // A repaired request is executed.
    database.execute(
        "UPDATE kagzi.signal_requests SET name = 'approval', refused_at = NULL,"
            + " refusal_code = NULL, refusal = NULL WHERE name = ''");
    await().atMost(SOON).until(() -> signals(run).size() == 2);
  }

  @Test
  void an_open_transaction_delays_no_other_signal_of_the_run() throws SQLException {
    RunId run = engine.start();
    try (Connection connection = connect()) {
      connection.setAutoCommit(false);
      request(connection, run, "'approval', '1', signal_id => 'event-1'");

      request(run, "'approval', '2', signal_id => 'event-1'");
      await().atMost(SOON).until(() -> signals(run).size() == 1);

      connection.commit();
    }
    awaitExecuted();
    assertThat(signals(run)).containsExactly("approval 2 {}");
  }

  @Test
  void wrong_arguments_fail_in_the_callers_transaction() {
    RunId run = engine.start();

    assertThatThrownBy(() -> request(run, "'approval', '1', payload_data => '1'"))
        .hasMessageContaining("payload: set together with payload_data");
    assertThatThrownBy(() -> request(run, "NULL")).isInstanceOf(SQLException.class);
  }

  @Test
  void a_role_may_call_the_function_only_if_it_was_granted() throws SQLException {
    RunId run = engine.start();

    assertCallNeedsGrant("signal_workflow", "signal_requests", "'%s', 'approval'".formatted(run));

    await().atMost(SOON).until(() -> signals(run).size() == 1);
  }

  @Test
  void metadata_of_another_kind_is_refused_with_what_was_expected() throws SQLException {
    RunId run = engine.start();
    for (String metadata : List.of("[1]", "\"a\"", "7", "null", "{\"a\": null}")) {
      request(run, "'n', payload_data => '1', payload_metadata => '%s'".formatted(metadata));
    }

    awaitExecuted();

    assertThat(
            texts("SELECT refusal AS text FROM kagzi.signal_requests ORDER BY request_no LIMIT 10"))
        .containsExactly(
            "payload_metadata: an array (expected: a JSON object)",
            "payload_metadata: a text (expected: a JSON object)",
            "payload_metadata: a number (expected: a JSON object)",
            "payload_metadata: null (expected: a JSON object)",
            "payload_metadata[a]: null (expected: a text)");
    assertThat(signals(run)).isEmpty();
  }

  @Test
  void a_large_request_is_refused_without_being_read_whichever_column_is_large()
      throws SQLException {
    RunId run = engine.start();
    request(
        run,
        "'n', payload_data => '1', payload_metadata => jsonb_build_object('a', repeat('x', 9000000))");
    request(run, "repeat('x', 9000000)");
    request(run, "'n', signal_id => repeat('x', 9000000)");
    request(run, "'n', '7'");

    awaitExecuted();

    assertThat(texts("SELECT refusal AS text FROM kagzi.signal_requests LIMIT 10"))
        .hasSize(3)
        .allMatch(
            refusal ->
                refusal.matches("bytes of the request: 90\\d{5} \\(expected: at most 8388608\\)"));
    assertThat(signals(run)).containsExactly("n 7 {}");
  }

  @Test
  void signals_wait_in_their_order_while_the_buffer_of_the_run_is_full() throws SQLException {
    engine.close();
    engine = TestEngine.start(database.config(), queue, CONFIG.withLimits(bufferOf(2)));
    WorkerId worker = engine.register();
    RunId full = engine.start();
    Claim claim = engine.claimOne(worker).claim();
    RunId other = engine.start();
    for (int i = 1; i <= 4; i++) {
      request(full, "'approval', '%d'".formatted(i));
    }
    request(other, "'approval', '7'");

    await().atMost(SOON).until(() -> rows().equals(List.of("TOO_MANY_SIGNALS", "open")));
    await().atMost(SOON).until(() -> signals(other).size() == 1);
    assertThat(
            texts(
                "SELECT refusal AS text FROM kagzi.signal_requests"
                    + " WHERE refused_at IS NULL AND attempts > 0 AND retry_at IS NOT NULL LIMIT 10"))
        .singleElement()
        .asString()
        .contains("2 signals that it has not received (expected: at most 2;");
    engine.report(received(claim, "approval"));
    engine.report(received(claim, "approval#2"));

    await().atMost(SOON).until(() -> rows().isEmpty());
    assertThat(signals(full))
        .containsExactly(
            "approval received {}", "approval received {}", "approval 3 {}", "approval 4 {}");
  }
}
