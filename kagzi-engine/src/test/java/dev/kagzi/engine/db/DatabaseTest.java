package dev.kagzi.engine.db;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.engine.TestDatabase;
import java.sql.SQLException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What the engine's connections have in common. */
class DatabaseTest {
  @RegisterExtension static final TestDatabase database = new TestDatabase();

  private static String patience(Session session) throws SQLException {
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

  /** A server that is paused or cut off must not hold rows for longer than the others can wait. */
  @Test
  void no_connection_holds_a_lock_without_limit() throws SQLException {
    Database engine = database.open();

    String pooled = engine.read(DatabaseTest::patience);
    String pooledInTransaction = engine.write(DatabaseTest::patience);
    String writers;
    try (Session session = engine.open("writer")) {
      writers = patience(session);
    }

    assertThat(pooled).isEqualTo("3s, 5s, 2s");
    assertThat(pooledInTransaction).isEqualTo("3s, 5s, 2s");
    assertThat(writers).isEqualTo("3s, 5s, 2s");
  }
}
