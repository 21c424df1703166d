package dev.kagzi.engine.internal.run;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.engine.TestDatabase;
import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.internal.run.RequestRows.Failed;
import dev.kagzi.engine.internal.run.RequestRows.Requested;
import dev.kagzi.engine.internal.run.SignalRequestRows.RequestedSignal;
import dev.kagzi.engine.retry.RetryPolicy;
import dev.kagzi.engine.run.StartRequest;
import dev.kagzi.engine.value.RunId;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Which requests a server takes next. No server runs here. */
class RequestRowsTest {
  @RegisterExtension static final TestDatabase database = new TestDatabase();

  private static final long MUCH = 8 << 20;

  private final StartRequestRows starts = new StartRequestRows(RetryPolicy.DEFAULT);
  private final SignalRequestRows signals = new SignalRequestRows();
  private Session session;

  @BeforeEach
  void open() throws SQLException {
    database.forgetRuns();
    session = database.open().open("requests");
  }

  @AfterEach
  void close() {
    session.close();
  }

  private static void start(String namespace, int count, int bytes) {
    database.execute(
        """
        SELECT kagzi.start_workflow('type', 'queue', namespace => '%s',
                                    input_data => convert_to(repeat('x', %d), 'UTF8'))
          FROM generate_series(1, %d)
        """
            .formatted(namespace, bytes, count));
  }

  private static void signal(String namespace, RunId run, String name) {
    database.execute(
        "SELECT kagzi.signal_workflow('%s', '%s', namespace => '%s')"
            .formatted(run, name, namespace));
  }

  private static RunId run(int number) {
    return new RunId(new UUID(0x7000, number));
  }

  private <K, R> List<Requested<K, R>> lock(RequestRows<K, R> rows, int max, long bytesMax)
      throws SQLException {
    return session.inTransaction(tx -> rows.lock(tx, max, bytesMax));
  }

  private List<String> namespaces(int max, long bytesMax) throws SQLException {
    return lock(starts, max, bytesMax).stream()
        .map(each -> requireNonNull(each.request()).namespace())
        .toList();
  }

  private List<String> names(int max) throws SQLException {
    return lock(signals, max, MUCH).stream()
        .map(each -> requireNonNull(each.request()).signal().name())
        .sorted()
        .toList();
  }

  @Test
  void a_namespace_with_many_starts_leaves_room_for_the_others() throws SQLException {
    start("many", 30, 1);
    start("few", 1, 1);
    start("", 1, 1);

    assertThat(namespaces(9, MUCH)).containsExactlyInAnyOrder("many", "many", "many", "few", "");
  }

  @Test
  void a_namespace_with_large_starts_leaves_room_for_the_others() throws SQLException {
    start("a", 5, 1_000_000);
    start("b", 5, 1_000_000);
    start("c", 1, 1);

    Set<String> seen = new HashSet<>();
    for (int i = 0; i < 3; i++) {
      List<String> batch = namespaces(30, 1_000_000);
      assertThat(batch).hasSizeLessThan(4);
      seen.addAll(batch);
    }
    assertThat(seen).containsExactlyInAnyOrder("a", "b", "c");
  }

  @Test
  void more_namespaces_than_a_batch_has_take_turns() throws SQLException {
    for (int i = 0; i < 250; i++) {
      start("n" + i, 1, 1);
    }

    Set<String> seen = new HashSet<>();
    for (int i = 0; i < 4; i++) {
      seen.addAll(namespaces(500, MUCH));
    }
    assertThat(seen).hasSize(250);
  }

  @Test
  void starts_that_wait_for_their_next_try_do_not_delay_those_behind_them() throws SQLException {
    start("default", 5, 1);
    List<Requested<RunId, StartRequest>> first = lock(starts, 5, MUCH);
    assertThat(first).hasSize(5);
    session.inTransaction(
        tx -> {
          starts.postpone(
              tx, first.stream().map(each -> new Failed<>(each.key(), "INTERNAL", "no")).toList());
          return true;
        });
    database.execute("UPDATE kagzi.start_requests SET retry_at = retry_at + interval '1 hour'");
    start("default", 1, 1);

    assertThat(lock(starts, 5, MUCH))
        .singleElement()
        .satisfies(each -> assertThat(first).noneMatch(one -> one.key().equals(each.key())));
    database.execute("UPDATE kagzi.start_requests SET retry_at = requested_at");
    assertThat(lock(starts, 6, MUCH)).hasSize(6).anyMatch(each -> each.attempts() == 1);
  }

  @Test
  void the_pause_between_two_tries_grows_to_ten_seconds() throws SQLException {
    start("default", 1, 1);
    RunId key = lock(starts, 2, MUCH).getFirst().key();
    List<Long> pauses = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      session.inTransaction(
          tx -> {
            starts.postpone(tx, List.of(new Failed<>(key, "UNAVAILABLE", "no")));
            pauses.add(
                tx.query(
                        "SELECT (extract(epoch FROM retry_at - kagzi.clock()) * 1000)::bigint AS ms"
                            + " FROM kagzi.start_requests LIMIT 1")
                    .first(row -> row.bigint("ms"))
                    .orElseThrow());
            return true;
          });
    }

    assertThat(pauses).containsExactly(200L, 400L, 800L, 1_600L, 3_200L, 6_400L, 10_000L, 10_000L);
  }

  @Test
  void starts_of_a_disabled_namespace_are_left_alone() throws SQLException {
    database.execute(
        "INSERT INTO kagzi.namespaces (namespace, id, enabled)"
            + " VALUES ('off', gen_random_uuid(), false)");
    start("off", 30, 1);
    start("on", 1, 1);

    assertThat(namespaces(4, MUCH)).containsExactly("on");
  }

  @Test
  void the_first_signal_of_each_run_is_taken_and_runs_take_turns() throws SQLException {
    for (int run = 0; run < 5; run++) {
      for (int i = 0; i < 3; i++) {
        signal("default", run(run), "run-%d-%d".formatted(run, i));
      }
    }

    Set<String> seen = new HashSet<>();
    for (int i = 0; i < 5; i++) {
      List<String> batch = names(2);
      assertThat(batch).hasSize(2);
      seen.addAll(batch);
    }
    assertThat(seen)
        .containsExactlyInAnyOrder("run-0-0", "run-1-0", "run-2-0", "run-3-0", "run-4-0");
  }

  @Test
  void a_signal_of_the_lowest_run_id_is_taken() throws SQLException {
    signal("default", new RunId(new UUID(0, 0)), "lowest");

    assertThat(names(2)).containsExactly("lowest");
  }

  @Test
  void a_run_whose_signal_waits_for_its_next_try_does_not_delay_the_others() throws SQLException {
    signal("default", run(1), "one");
    signal("default", run(1), "two");
    signal("default", run(2), "other");
    database.execute(
        "UPDATE kagzi.signal_requests SET retry_at = kagzi.clock() + interval '1 hour'"
            + " WHERE name = 'one'");

    assertThat(names(10)).containsExactly("other");
  }

  @Test
  void a_signal_that_another_server_has_locked_holds_back_the_next_one_of_its_run()
      throws SQLException {
    signal("default", run(1), "one");
    signal("default", run(1), "two");
    signal("default", run(2), "other");
    try (Session second = database.open().open("requests")) {
      SignalRequestRows ofSecond = new SignalRequestRows();

      session.inTransaction(
          tx -> {
            List<Requested<Long, RequestedSignal>> batch = signals.lock(tx, 10, MUCH);
            assertThat(batch).hasSize(2);
            assertThat(second.<Integer>inTransaction(own -> ofSecond.lock(own, 10, MUCH).size()))
                .isZero();
            signals.delete(tx, batch.stream().map(Requested::key).toList());
            assertThat(second.<Integer>inTransaction(own -> ofSecond.lock(own, 10, MUCH).size()))
                .isZero();
            return true;
          });

      assertThat(second.<Integer>inTransaction(own -> ofSecond.lock(own, 10, MUCH).size()))
          .isEqualTo(1);
    }
  }
}
