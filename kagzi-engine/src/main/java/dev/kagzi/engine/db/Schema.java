package dev.kagzi.engine.db;

import java.util.Arrays;
import java.util.Comparator;
import java.util.Optional;
import java.util.function.Predicate;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.MigrationInfo;
import org.flywaydb.core.api.MigrationState;
import org.flywaydb.core.api.MigrationVersion;

/** The version of the tables: the one that the database has, and the one that this server knows. */
final class Schema {
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
            .load();
  }

  String migrate() {
    // Flyway by itself takes a schema of the future for a good one.
    Versions versions = versions();
    refuseNewer(versions);
    flyway.migrate();
    return versions.known().toString();
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
}
