package dev.kagzi.engine;

import static dev.kagzi.engine.TestEngine.NAMESPACE;
import static dev.kagzi.engine.TestEngine.TYPE;
import static dev.kagzi.engine.TestEngine.done;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.kagzi.engine.query.RunView;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.Shard;
import dev.kagzi.engine.value.WorkerId;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Starts that applications request in their own transactions. */
class StartRequestsTest extends RequestsFixture {
  private static final Duration HELD_OPEN = Duration.ofSeconds(2);

  private RunId request(String arguments) throws SQLException {
    try (Connection connection = connect()) {
      return requestStart(connection, "'%s', '%s'%s".formatted(TYPE, queue, arguments));
    }
  }

  private void awaitRun(RunId run) {
    await().atMost(SOON).until(() -> isThere(run));
  }

  private static long countRuns() {
    return database
        .run(
            session ->
                session
                    .query("SELECT count(*) AS runs FROM kagzi.workflow_runs")
                    .first(row -> row.bigint("runs")))
        .orElseThrow();
  }

  private static List<String> rows() {
    return texts(
        "SELECT coalesce(refusal_code, 'open') AS text FROM kagzi.start_requests"
            + " ORDER BY requested_at LIMIT 100");
  }

  @Test
  void a_committed_request_becomes_a_run_with_its_options() throws SQLException {
    RunId run =
        request(
            """
            , input => '{"item": "lamp"}', external_id => 'order-42', options => '{
              "version": "2", "headers": {"tenant": "acme"}, "execution_timeout_ms": 600000,
              "step_timeout_ms": 5000, "retry_policy": {"maximum_attempts": 3}}'
            """);
    awaitRun(run);

    RunView view = engine.run(run);
    assertThat(view.externalId()).isEqualTo("order-42");
    assertThat(view.version()).isEqualTo("2");
    assertThat(view.setup().headers()).isEqualTo(Map.of("tenant", "acme"));
    assertThat(run.shard()).isEqualTo(Shard.of(NAMESPACE, "order-42"));
    assertThat(run.value().version()).isEqualTo(7);
    String options =
        database
            .run(
                session ->
                    session
                        .query(
                            """
                            SELECT execution_timeout_ms || ' ' || step_timeout_ms || ' '
                                   || (retry_policy->>'maximum_attempts') AS options
                              FROM kagzi.workflow_runs WHERE run_id = ?
                            """)
                        .bind(run.value())
                        .first(row -> row.text("options")))
            .orElseThrow();
    assertThat(options).isEqualTo("600000 5000 3");
    await().atMost(SOON).until(() -> rows().isEmpty());
  }

  @Test
  void the_input_is_stored_as_a_client_would_send_it() throws SQLException {
    RunId json = request(", input => '{\"item\": \"lamp\"}'");
    awaitRun(json);
    RunId bytes =
        request(", input_data => '\\x0102', input_metadata => '{\"encoding\": \"secret\"}'");
    awaitRun(bytes);

    assertThat(new String(engine.run(json).input().data(), StandardCharsets.UTF_8))
        .isEqualTo("{\"item\": \"lamp\"}");
    assertThat(engine.run(bytes).input().data()).containsExactly(1, 2);
    assertThat(engine.run(bytes).input().metadata()).isEqualTo(Map.of("encoding", "secret"));
  }

  @Test
  void a_request_exists_only_if_its_transaction_commits() throws SQLException {
    RunId rolledBack;
    RunId committed;
    try (Connection connection = connect()) {
      connection.setAutoCommit(false);
      rolledBack = requestStart(connection, "'%s', '%s'".formatted(TYPE, queue));
      connection.rollback();
      committed = requestStart(connection, "'%s', '%s'".formatted(TYPE, queue));
      connection.commit();
    }
    awaitRun(committed);

    assertThat(isThere(rolledBack)).isFalse();
  }

  /**
   * The transaction stays open for about two seconds. A statement that waited for it would wait
   * until its end, so the slowest call would take that long.
   */
  @Test
  void an_open_transaction_delays_no_start_claim_or_report_of_others() throws SQLException {
    awaitRun(request(""));
    WorkerId worker = engine.register();
    completeAll(worker, 1);
    try (Connection connection = connect()) {
      connection.setAutoCommit(false);
      RunId later =
          requestStart(connection, "'%s', '%s', external_id => 'order-42'".formatted(TYPE, queue));

      long begin = System.nanoTime();
      RunId started = engine.start("order-42").runId();
      RunId requested = request(", external_id => 'order-43'");
      awaitRun(requested);
      completeAll(worker, 2);
      long slowestMs = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begin);
      int rounds = 0;
      while (System.nanoTime() - begin < HELD_OPEN.toNanos()) {
        long round = System.nanoTime();
        engine.start("order-42-" + rounds);
        engine.start();
        completeAll(worker, 2);
        slowestMs = Math.max(slowestMs, TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - round));
        rounds++;
      }

      assertThat(slowestMs).as("%d rounds", rounds).isLessThan(HELD_OPEN.toMillis());
      assertThat(rounds).isGreaterThan(2);
      await().atMost(SOON).until(() -> waitingBackends() == 0);
      assertThat(started).isNotEqualTo(later);
      assertThat(engine.run(started).status()).isEqualTo(RunStatus.COMPLETED);
      engine.start("order-42");
      connection.commit();
      await().atMost(SOON).until(() -> rows().equals(List.of("ID_IN_USE")));
      assertThat(isThere(later)).isFalse();
    }
  }

  private void completeAll(WorkerId worker, int count) {
    for (int i = 0; i < count; i++) {
      engine.report(done(engine.claimOne(worker).claim(), "1"));
    }
  }

  private static long waitingBackends() {
    return database
        .run(
            session ->
                session
                    .query(
                        "SELECT count(*) AS waiting FROM pg_locks"
                            + " WHERE NOT granted AND database ="
                            + " (SELECT oid FROM pg_database WHERE datname = current_database())")
                    .first(row -> row.bigint("waiting")))
        .orElseThrow();
  }

  @Test
  void a_refused_request_stays_with_its_reason() throws SQLException {
    request(", namespace => 'nowhere'");
    request(", options => '{\"heartbeat_timeout_ms\": 1}'");
    request(", options => '{\"retry_policy\": {\"maximum_attempts\": \"many\"}}'");
    request(", options => '{\"retry_policy\": {\"non_retryable_errors\": null}}'");
    request(", options => '{\"retry_policy\": {\"non_retryable_errors\": \"all\"}}'");
    request(", options => '{\"retry_policy\": {\"retryable_kinds\": [1]}}'");
    request(", input_data => convert_to(repeat('x', 9000000), 'UTF8')");
    request(", external_id => 'schedule:x'");

    await()
        .atMost(SOON)
        .until(
            () ->
                rows()
                    .equals(
                        List.of(
                            "NOT_FOUND",
                            "INVALID_ARGUMENT",
                            "INVALID_ARGUMENT",
                            "INVALID_ARGUMENT",
                            "INVALID_ARGUMENT",
                            "INVALID_ARGUMENT",
                            "INVALID_ARGUMENT",
                            "INVALID_ARGUMENT")));
    // A repaired request is executed.
    database.execute(
        "UPDATE kagzi.start_requests SET namespace = 'default', refused_at = NULL,"
            + " refusal_code = NULL, refusal = NULL WHERE refusal_code = 'NOT_FOUND'");
    await().atMost(SOON).until(() -> rows().size() == 7);
  }

  @Test
  void a_request_for_a_disabled_namespace_waits_until_it_is_enabled() throws SQLException {
    engine.engine().namespaces().setEnabled(NAMESPACE, false, null);
    RunId run;
    RunId other;
    try {
      run = request("");
      other = request(", namespace => 'nowhere'");
      await().atMost(SOON).until(() -> rows().contains("NOT_FOUND"));
      assertThat(rows()).hasSize(2).containsOnlyOnce("NOT_FOUND");
    } finally {
      engine.engine().namespaces().setEnabled(NAMESPACE, true, null);
    }

    awaitRun(run);
    assertThat(isThere(other)).isFalse();
  }

  @Test
  void a_request_whose_run_was_started_before_a_crash_starts_no_second_one() throws SQLException {
    RunId run = engine.start();
    database.execute(
        "SELECT kagzi.start_workflow('%s', '%s', input_data => '1', run_id => '%s')"
            .formatted(TYPE, queue, run));

    await().atMost(SOON).until(() -> rows().isEmpty());

    assertThat(engine.run(run).status()).isEqualTo(RunStatus.PENDING);
    assertThat(countRuns()).isEqualTo(1);
  }

  @Test
  void two_servers_start_each_request_once() throws SQLException {
    List<RunId> runs = new ArrayList<>();
    try (TestEngine second = TestEngine.start(database.config(), queue);
        Connection connection = connect()) {
      connection.setAutoCommit(false);
      for (int i = 0; i < 1_200; i++) {
        runs.add(requestStart(connection, "'%s', '%s'".formatted(TYPE, queue)));
      }
      connection.commit();
      await().atMost(SOON).until(() -> rows().isEmpty());

      assertThat(second.engine().unavailableReason()).isEmpty();
      assertThat(countRuns()).isEqualTo(1_200);
      assertThat(runs).allMatch(this::isThere);
    }
  }

  /** The heartbeat, which finds requests otherwise, is not sent during this test. */
  @Test
  void a_run_that_somebody_asks_for_before_its_commit_starts_soon_after_it() throws SQLException {
    engine.close();
    EngineConfig config = EngineConfig.defaults().withCoordinatorInterval(Duration.ofHours(1));
    engine = TestEngine.start(database.config(), queue, config);
    try (Connection connection = connect()) {
      connection.setAutoCommit(false);
      RunId run = requestStart(connection, "'%s', '%s'".formatted(TYPE, queue));
      assertThat(isThere(run)).isFalse();

      connection.commit();

      await().atMost(SOON).until(() -> rows().isEmpty());
      assertThat(isThere(run)).isTrue();
    }
  }

  @Test
  void requests_start_quickly_while_they_arrive() throws SQLException {
    awaitRun(request(""));
    for (int i = 0; i < 20; i++) {
      RunId run = request("");
      await().pollInterval(Duration.ofMillis(7)).atMost(SOON).until(() -> isThere(run));
      engine.run(run);
    }

    Long medianMs =
        database
            .run(
                session ->
                    session
                        .query(
                            """
                            SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM
                                     r.created_at - kagzi.at(
                                       ('x' || left(replace(r.run_id::text, '-', ''), 12))
                                         ::bit(48)::bigint * 1000)) * 1000)::bigint AS ms
                              FROM kagzi.workflow_runs AS r
                            """)
                        .first(row -> row.bigint("ms")))
            .orElseThrow();
    assertThat(medianMs).as("without requests, a poll is up to 5 s later").isLessThan(500);
  }

  @Test
  void wrong_arguments_fail_in_the_callers_transaction() {
    assertThatThrownBy(() -> request(", options => '{\"queue\": 1}'"))
        .isInstanceOf(SQLException.class)
        .hasMessageContaining("options: queue (expected: version, headers,");
    assertThatThrownBy(() -> request(", options => '{\"if_exists\": \"MAYBE\"}'"))
        .hasMessageContaining("if_exists is MAYBE (expected: USE_EXISTING, REJECT or");
    assertThatThrownBy(() -> request(", input => '1', input_data => '1'"))
        .hasMessageContaining("input: set together with input_data");
  }

  @Test
  void a_role_may_call_the_function_only_if_it_was_granted() throws SQLException {
    assertCallNeedsGrant("start_workflow", "start_requests", "'%s', '%s'".formatted(TYPE, queue));

    await().atMost(SOON).until(() -> rows().isEmpty());
    assertThat(countRuns()).isEqualTo(1);
  }

  @Test
  void an_option_of_another_kind_is_refused_with_what_was_expected() throws SQLException {
    request(", options => '{\"headers\": [1]}'");
    request(", options => '{\"headers\": {\"tenant\": {\"id\": 1}}}'");
    request(", options => '{\"retry_policy\": \"none\"}'");
    request(", input_data => '1', input_metadata => 'true'");

    await()
        .atMost(SOON)
        .untilAsserted(
            () ->
                assertThat(
                        texts(
                            "SELECT refusal AS text FROM kagzi.start_requests"
                                + " WHERE refused_at IS NOT NULL ORDER BY requested_at LIMIT 10"))
                    .containsExactly(
                        "headers: an array (expected: a JSON object)",
                        "headers[tenant]: an object (expected: a text)",
                        "retry_policy: a text (expected: a JSON object)",
                        "input_metadata: a truth value (expected: a JSON object)"));
  }

  @Test
  void a_large_request_is_refused_without_being_read_whichever_column_is_large()
      throws SQLException {
    request(", input_data => '1', input_metadata => jsonb_build_object('a', repeat('x', 9000000))");
    request(", options => jsonb_build_object('version', repeat('x', 9000000))");
    RunId other = request("");

    awaitRun(other);
    await()
        .atMost(SOON)
        .untilAsserted(
            () ->
                assertThat(
                        texts(
                            "SELECT refusal AS text FROM kagzi.start_requests"
                                + " WHERE refused_at IS NOT NULL ORDER BY requested_at LIMIT 10"))
                    .hasSize(2)
                    .allMatch(
                        refusal ->
                            refusal.matches(
                                "bytes of the request: 90\\d{5} \\(expected: at most 8388608\\)")));
  }
}
