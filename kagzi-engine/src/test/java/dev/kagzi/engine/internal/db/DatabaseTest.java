package dev.kagzi.engine.internal.db;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kagzi.engine.TestDatabase;
import dev.kagzi.engine.VersionedDatabase;
import dev.kagzi.engine.config.DatabaseConfig;
import dev.kagzi.engine.value.Refusal;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Settings of the engine's connections. */
class DatabaseTest {
  @RegisterExtension static final TestDatabase database = new TestDatabase();

  private static String timeouts(Session session) throws SQLException {
    return session
        .query(
            """
            SELECT concat_ws(', ', current_setting('lock_timeout'),
                             current_setting('idle_in_transaction_session_timeout'),
                             current_setting('client_connection_check_interval')) AS value
            """)
        .first(row -> row.text("value"))
        .orElseThrow();
  }

  /** A paused or disconnected server must not hold rows for longer than the others can wait. */
  @Test
  void no_connection_holds_a_lock_without_limit() throws SQLException {
    Database engine = database.open();

    String pooled = engine.read(DatabaseTest::timeouts);
    String pooledInTransaction = engine.write(DatabaseTest::timeouts);
    String writers;
    try (Session session = engine.open("writer")) {
      writers = timeouts(session);
    }

    assertThat(pooled).isEqualTo("3s, 5s, 2s");
    assertThat(pooledInTransaction).isEqualTo("3s, 5s, 2s");
    assertThat(writers).isEqualTo("3s, 5s, 2s");
  }

  /** On a distributed schema of Citus, generic plans crash the coordinator. */
  @Test
  void writers_have_generic_plans_unless_citus_is_installed() throws SQLException {
    assertThat(planCacheMode(database.config())).isEqualTo("force_generic_plan");

    DatabaseConfig other = VersionedDatabase.empty().config();
    try (Database engine = Database.open(other);
        Session session = engine.open("writer")) {
      session
          .query(
              """
              SET allow_system_table_mods = on;
              INSERT INTO pg_extension (oid, extname, extowner, extnamespace, extrelocatable,
                                        extversion)
              SELECT 99999, 'citus', extowner, extnamespace, false, '13' FROM pg_extension LIMIT 1
              """)
          .execute();
    }
    assertThat(planCacheMode(other)).isEqualTo("auto");
  }

  private static String planCacheMode(DatabaseConfig config) throws SQLException {
    try (Database engine = Database.open(config);
        Session session = engine.open("writer")) {
      return session
          .query("SELECT current_setting('plan_cache_mode') AS mode")
          .first(row -> row.text("mode"))
          .orElseThrow();
    }
  }

  /** Slow user queries must not delay workers and schedules. */
  @Test
  void user_queries_leave_connections_for_the_engines_own_maintenance() throws Exception {
    CountDownLatch gate = new CountDownLatch(1);
    CountDownLatch underWay = new CountDownLatch(2);
    List<Future<Boolean>> answers = new ArrayList<>();
    try (Database engine = Database.open(database.config().withPoolSize(4));
        ExecutorService people = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < 8; i++) {
        answers.add(people.submit(() -> engine.readForUser(session -> heldOpen(underWay, gate))));
      }
      assertThat(underWay.await(10, TimeUnit.SECONDS)).isTrue();

      Future<String> duty = people.submit(() -> engine.read(DatabaseTest::timeouts));
      assertThat(duty.get(3, TimeUnit.SECONDS)).isNotEmpty();

      gate.countDown();
      for (Future<Boolean> answer : answers) {
        assertThat(answer.get(10, TimeUnit.SECONDS)).isTrue();
      }
    }
  }

  private static boolean heldOpen(CountDownLatch underWay, CountDownLatch gate) {
    try {
      underWay.countDown();
      return gate.await(10, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void a_query_that_takes_too_long_is_cancelled_with_a_hint() {
    Database engine = database.open();

    assertThatThrownBy(
            () ->
                engine.readForUser(
                    session ->
                        session.query("SELECT pg_sleep(20)::text AS t").first(row -> row.text("t")),
                    1))
        .isInstanceOfSatisfying(
            Refusal.class,
            refusal -> assertThat(refusal.reason()).isEqualTo(Refusal.Reason.FAILED_PRECONDITION))
        .hasMessageContaining("longer than 1 s (expected: ");
    assertThat(engine.read(DatabaseTest::timeouts)).isNotEmpty();
  }
}
