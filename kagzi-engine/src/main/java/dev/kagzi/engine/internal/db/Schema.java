package dev.kagzi.engine.internal.db;

import dev.kagzi.engine.config.DatabaseConfig;
import dev.kagzi.engine.value.SchemaException;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import java.util.stream.Stream;
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

/** Migrates the schema, and compares its version with the version of this server. */
final class Schema {
  private static final Logger log = LoggerFactory.getLogger(Schema.class);

  private static final String LOCK_NOT_AVAILABLE = "55P03";
  private static final int TRIES_MAX = 60;
  private static final long PAUSE_MS_MAX = 10_000;

  private static final String MIGRATIONS = "classpath:dev/kagzi/engine/migration";

  private final Flyway flyway;

  /**
   * Reads the engine's own migrations.
   *
   * @param further locations of further migrations; only tests have any
   */
  Schema(DatabaseConfig config, String... further) {
    this.flyway =
        Flyway.configure(Database.class.getClassLoader())
            .dataSource(config.driverUrl(), config.user(), config.password())
            .locations(
                Stream.concat(Stream.of(MIGRATIONS), Stream.of(further)).toArray(String[]::new))
            .schemas("kagzi")
            .defaultSchema("kagzi")
            .createSchemas(true)
            .table("schema_history")
            .callbacks(new MigrationLockTimeout())
            .load();
  }

  String migrate() {
    Versions versions = versions();
    // Flyway opens several connections before it finds that there is nothing to do.
    for (int tries = 1; !versions.allApplied() && !migrateUnlessLocked(tries); tries++) {
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(Math.min(PAUSE_MS_MAX, 1_000L * tries)));
    }
    return versions.known().toString();
  }

  /** Returns false when another transaction has held a table for longer than the lock timeout. */
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

  /** Returns the version, which the database and this server have in common. */
  String check() {
    Versions versions = versions();
    if (!versions.areEqual()) {
      String found = versions.found().map(version -> "version " + version).orElse("none");
      throw new SchemaException(
          "database schema: "
              + found
              + " (expected: version "
              + versions.known()
              + ", which this server knows; run kagzi migrate first, as a role that may)");
    }
    return versions.known().toString();
  }

  // Flyway itself accepts a schema that is newer than the migrations of this server.
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

  /**
   * Builds before the first release had other migrations, and their tables cannot be migrated.
   * Flyway would only report different checksums.
   */
  private static void refuseUnreleased(MigrationInfo[] all) {
    for (MigrationInfo each : all) {
      Integer applied = each.getAppliedChecksum();
      Integer known = each.getResolvedChecksum();
      if (applied != null && known != null && !applied.equals(known)) {
        throw new SchemaException(
            ("database schema: version %s, whose migration %s has checksum %d (expected:"
                    + " checksum %d; a build before the first release made this schema,"
                    + " which cannot be migrated: export what you need, drop the schema kagzi or use"
                    + " another database, then start again)")
                .formatted(
                    newest(all, MigrationState::isApplied).orElseThrow(),
                    each.getVersion(),
                    applied,
                    known));
      }
    }
  }

  /**
   * Schema versions.
   *
   * @param allApplied whether every migration has succeeded, so that nothing is left to do
   */
  private record Versions(
      Optional<MigrationVersion> found, MigrationVersion known, boolean allApplied) {
    boolean isNewer() {
      return found.isPresent() && found.get().compareTo(known) > 0;
    }

    boolean areEqual() {
      return found.isPresent() && found.get().compareTo(known) == 0;
    }
  }

  /**
   * Reads the schema versions of the database and of this server. Refuses a database that is newer
   * or was created by a build before the first release.
   */
  private Versions versions() {
    MigrationInfo[] all = flyway.info().all();
    refuseUnreleased(all);
    Versions versions =
        new Versions(
            newest(all, MigrationState::isApplied),
            newest(all, MigrationState::isResolved).orElseThrow(),
            Arrays.stream(all).allMatch(each -> each.getState() == MigrationState.SUCCESS));
    refuseNewer(versions);
    return versions;
  }

  private static Optional<MigrationVersion> newest(
      MigrationInfo[] all, Predicate<MigrationState> state) {
    return Arrays.stream(all)
        .filter(each -> each.getVersion() != null && state.test(each.getState()))
        .map(MigrationInfo::getVersion)
        .max(Comparator.naturalOrder());
  }

  /**
   * Limits how long a migration waits for a table lock. While it waits for an exclusive lock, all
   * later statements on the table wait behind it. So it gives up early and is tried again. The
   * timeout is shorter than the lock timeout of running servers, so that their statements succeed.
   */
  private static final class MigrationLockTimeout extends BaseCallback {
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
