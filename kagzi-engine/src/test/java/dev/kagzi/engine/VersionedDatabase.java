package dev.kagzi.engine;

import static java.util.Objects.requireNonNull;

import dev.kagzi.engine.config.DatabaseConfig;
import dev.kagzi.postgres.EmbeddedPostgres;
import dev.kagzi.postgres.SharedPostgres;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.flywaydb.core.Flyway;
import org.jspecify.annotations.NullMarked;

/** A new database, which tests migrate to the schema version that they need. */
@NullMarked
public final class VersionedDatabase {
  private static final Path MIGRATIONS = Path.of("src/main/resources/dev/kagzi/engine/migration");

  private final DatabaseConfig config;

  private VersionedDatabase(DatabaseConfig config) {
    this.config = config;
  }

  /** A database without a schema. */
  public static VersionedDatabase empty() {
    EmbeddedPostgres server = SharedPostgres.server();
    String name = SharedPostgres.createDatabase();
    return new VersionedDatabase(
        new DatabaseConfig(server.jdbcUrl(name), server.user(), server.password()).unsafe());
  }

  /** A database whose schema has this version, and nothing in its tables. */
  public static VersionedDatabase at(int version) {
    VersionedDatabase database = empty();
    database.migrate(version);
    return database;
  }

  /** The files of all migrations, in the order of their versions. */
  static List<Path> migrations() {
    try (Stream<Path> files = Files.list(MIGRATIONS)) {
      return files.sorted(Comparator.comparingInt(VersionedDatabase::version)).toList();
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  /** The versions of all migrations, in order. */
  public static List<Integer> versions() {
    return migrations().stream().map(VersionedDatabase::version).toList();
  }

  private static int version(Path migration) {
    String name = requireNonNull(migration.getFileName()).toString();
    return Integer.parseInt(name.substring(1, name.indexOf("__")));
  }

  public DatabaseConfig config() {
    return config;
  }

  /** Applies the migrations up to this version. */
  void migrate(int version) {
    Flyway.configure()
        .dataSource(config.jdbcUrl(), config.user(), config.password())
        .locations("classpath:dev/kagzi/engine/migration")
        .schemas("kagzi")
        .defaultSchema("kagzi")
        .createSchemas(true)
        .table("schema_history")
        .target(Integer.toString(version))
        .load()
        .migrate();
  }

  /** Executes statements without parameters. */
  public void execute(String sql) throws SQLException {
    try (Connection connection = connect();
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  /** Returns the distinct values of the query's first column. */
  public Set<String> values(String sql) throws SQLException {
    Set<String> values = new TreeSet<>();
    try (Connection connection = connect();
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      while (rows.next()) {
        values.add(rows.getString(1));
      }
    }
    return values;
  }

  public Connection connect() throws SQLException {
    return DriverManager.getConnection(config.jdbcUrl(), config.user(), config.password());
  }
}
