package dev.kagzi.engine.db;

import java.sql.SQLException;
import java.sql.Statement;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.FlywayException;
import org.flywaydb.core.api.MigrationInfo;
import org.flywaydb.core.api.MigrationState;
import org.flywaydb.core.api.MigrationVersion;
import org.flywaydb.core.api.callback.BaseCallback;
import org.flywaydb.core.api.callback.Context;
import org.flywaydb.core.api.callback.Event;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The version of the tables: the one that the database has, and the one that this server knows. */
final class Schema {
  private static final Logger log = LoggerFactory.getLogger(Schema.class);

  private static final String LOCK_NOT_AVAILABLE = "55P03";
  private static final int TRIES_MAX = 60;
  private static final long PAUSE_MS_MAX = 10_000;

  private final Flyway flyway;

  Schema(DatabaseConfig config) {
    this.flyway =
        Flyway.configure(Database.class.getClassLoader())
            .dataSource(config.jdbcUrl(), config.user(), config.password())
            .locations("classpath:dev/kagzi/engine/migration")
            .schemas("kagzi")
            .defaultSchema("kagzi")
            .createSchemas(true)
            .table("schema_history")
            .callbacks(new LockPatience())
            .load();
  }

  String migrate() {
    // Flyway by itself takes a schema of the future for a good one.
    Versions versions = versions();
    refuseNewer(versions);
    for (int tries = 1; !migrateUnlessLocked(tries); tries++) {
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(Math.min(PAUSE_MS_MAX, 1_000L * tries)));
    }
    return versions.known().toString();
  }

  /** False when somebody has a table for longer than we let the others wait. */
  private boolean migrateUnlessLocked(int tries) {
    try {
      flyway.migrate();
      return true;
    } catch (FlywayException e) {
      if (!isLocked(e)) {
        throw e;
      }
      if (tries == TRIES_MAX || Thread.currentThread().isInterrupted()) {
        throw new SchemaException(
            "database schema: its tables are in use (expected: no transaction that has them for"
                + " minutes, such as a backup; start again after it)");
      }
      log.atWarn()
          .addKeyValue("tries", tries)
          .log("tables to be migrated are in use, by a backup or a long query; trying again");
      return false;
    }
  }

  private static boolean isLocked(FlywayException failure) {
    for (Throwable each = failure; each != null; each = each.getCause()) {
      if (each instanceof SQLException sql && LOCK_NOT_AVAILABLE.equals(sql.getSQLState())) {
        return true;
      }
    }
    return false;
  }

  void check() {
    Versions versions = versions();
    refuseNewer(versions);
    if (!versions.areEqual()) {
      String found = versions.found().map(version -> "version " + version).orElse("none");
      throw new SchemaException(
          "database schema: "
              + found
              + " (expected: version "
              + versions.known()
              + ", which this server knows; run kagzi migrate first, as a role that may)");
    }
  }

  private static void refuseNewer(Versions versions) {
    if (versions.isNewer()) {
      throw new SchemaException(
          "database schema: version "
              + versions.found().orElseThrow()
              + " (expected: version "
              + versions.known()
              + " or older, which this server knows; start a newer server)");
    }
  }

  private record Versions(Optional<MigrationVersion> found, MigrationVersion known) {
    boolean isNewer() {
      return found.isPresent() && found.get().compareTo(known) > 0;
    }

    boolean areEqual() {
      return found.isPresent() && found.get().compareTo(known) == 0;
    }
  }

  private Versions versions() {
    MigrationInfo[] all = flyway.info().all();
    return new Versions(
        newest(all, MigrationState::isApplied),
        newest(all, MigrationState::isResolved).orElseThrow());
  }

  private static Optional<MigrationVersion> newest(
      MigrationInfo[] all, Predicate<MigrationState> state) {
    return Arrays.stream(all)
        .filter(each -> each.getVersion() != null && state.test(each.getState()))
        .map(MigrationInfo::getVersion)
        .max(Comparator.naturalOrder());
  }

  /**
   * Who waits to have a table alone lets nobody else pass meanwhile. So a migration that finds one
   * in use, by a backup or a long query, gives up soon and comes back: servers that run wait for it
   * no longer than this, which is less than what they bear.
   */
  private static final class LockPatience extends BaseCallback {
    private static final String SQL = "SET lock_timeout = '1s'";

    @Override
    public boolean supports(Event event, Context context) {
      return event == Event.AFTER_CONNECT;
    }

    @Override
    public void handle(Event event, Context context) {
      try (Statement statement = context.getConnection().createStatement()) {
        statement.execute(SQL);
      } catch (SQLException e) {
        throw new FlywayException(SQL + " failed", e);
      }
    }
  }
}
