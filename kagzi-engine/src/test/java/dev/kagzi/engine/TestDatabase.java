package dev.kagzi.engine;

import dev.kagzi.engine.config.DatabaseConfig;
import dev.kagzi.engine.internal.db.Database;
import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.postgres.EmbeddedPostgres;
import dev.kagzi.postgres.SharedPostgres;
import java.sql.SQLException;
import org.jspecify.annotations.NullMarked;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A migrated database for one test class, cloned from a template that is migrated once per JVM.
 *
 * <pre>{@code
 * @RegisterExtension static final TestDatabase database = new TestDatabase();
 * }</pre>
 *
 * <p>Thread-safe. Close any other {@link Database} before the class ends.
 */
@NullMarked
public final class TestDatabase implements BeforeAllCallback, AfterAllCallback {
  private @Nullable String name;
  private @Nullable Database open;
  private @Nullable Session session;

  // PostgreSQL before 17 refuses to subtract infinite times. A statement that does so must fail in
  // the tests on any version.
  private static final String BEFORE_17_SQL =
      """
      CREATE SCHEMA before_17;
      CREATE FUNCTION before_17.subtract(a timestamptz, b timestamptz) RETURNS interval
        LANGUAGE plpgsql STABLE STRICT AS $$
        BEGIN
          IF NOT isfinite(a) OR NOT isfinite(b) THEN
            RAISE EXCEPTION 'cannot subtract infinite timestamps' USING ERRCODE = '22008';
          END IF;
          RETURN a OPERATOR(pg_catalog.-) b;
        END $$;
      CREATE OPERATOR before_17.- (
        LEFTARG = timestamptz, RIGHTARG = timestamptz, FUNCTION = before_17.subtract)
      """;

  private static final class Template {
    static final String NAME = create();

    private static String create() {
      String name = SharedPostgres.createDatabase();
      try (Database database = Database.open(configOf(name))) {
        database.migrate();
        database.write(
            tx -> {
              tx.query(BEFORE_17_SQL).execute();
              return true;
            });
      }
      return name;
    }
  }

  @Override
  public void beforeAll(ExtensionContext context) {
    name = SharedPostgres.createDatabaseFrom(Template.NAME);
    // Settings of a database are not part of its template.
    execute("ALTER DATABASE " + name + " SET search_path = before_17, pg_catalog, public");
    closeSession();
  }

  @Override
  public synchronized void afterAll(ExtensionContext context) {
    closeSession();
    if (open != null) {
      open.close();
      open = null;
    }
    if (name != null) {
      SharedPostgres.server().dropDatabase(name);
      name = null;
    }
  }

  private synchronized void closeSession() {
    if (session != null) {
      session.close();
      session = null;
    }
  }

  /** The configuration of the database. */
  public DatabaseConfig config() {
    if (name == null) {
      throw new IllegalStateException("database: none (expected: used within a test)");
    }
    return configOf(name);
  }

  /** Opens the database as the engine does, once per test class. */
  public synchronized Database open() {
    if (open == null) {
      open = Database.open(config());
    }
    return open;
  }

  /** Runs statements in autocommit mode on a connection that the tests of the class share. */
  public synchronized <T> T run(Session.Work<T> work) {
    try {
      if (session == null || !session.isUsable()) {
        session = open().open("test");
      }
      return work.run(session);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Sends a statement without parameters. */
  public void execute(String sql) {
    run(
        session -> {
          session.query(sql).execute();
          return true;
        });
  }

  /**
   * Deletes every run and worker. Otherwise the engine of a test would release claims that an
   * earlier test left open, which matters if the test counts writes.
   */
  public void forgetRuns() {
    execute(
        """
        TRUNCATE kagzi.workflow_runs, kagzi.workflow_payloads, kagzi.step_runs, kagzi.run_messages,
                 kagzi.run_signals, kagzi.published_values, kagzi.start_requests,
                 kagzi.signal_requests, kagzi.workers
        """);
  }

  private static DatabaseConfig configOf(String name) {
    EmbeddedPostgres server = SharedPostgres.server();
    return new DatabaseConfig(server.jdbcUrl(name), server.user(), server.password()).unsafe();
  }
}
