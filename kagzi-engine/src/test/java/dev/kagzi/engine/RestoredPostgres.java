package dev.kagzi.engine;

import static org.awaitility.Awaitility.await;

import dev.kagzi.engine.config.DatabaseConfig;
import dev.kagzi.postgres.EmbeddedPostgres;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * A PostgreSQL of its own that can lose its last commits, as a promoted standby does that has not
 * received them: its folder is replaced by an older copy, and PostgreSQL recovers from it on a new
 * timeline. Its port stays the same. Not thread-safe.
 */
final class RestoredPostgres implements AutoCloseable {
  private static final String NAME = "kagzi";

  private final Path folder;
  private final Path copy;
  private EmbeddedPostgres postgres;

  RestoredPostgres(Path parent) {
    this.folder = parent.resolve("postgres");
    this.copy = parent.resolve("copy");
    this.postgres = start(0);
    postgres.createDatabase(NAME);
  }

  /** Returns once PostgreSQL accepts writes: it is read-only until its recovery has ended. */
  private EmbeddedPostgres start(int port) {
    EmbeddedPostgres started =
        EmbeddedPostgres.builder()
            .dataDir(folder)
            .durable(false)
            .port(port)
            .setting("restore_command", "false")
            .start();
    await().atMost(Duration.ofSeconds(30)).until(() -> isWritable(started));
    return started;
  }

  private static boolean isWritable(EmbeddedPostgres started) throws SQLException {
    try (Connection connection = started.connect("postgres");
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery("SELECT NOT pg_is_in_recovery()")) {
      return rows.next() && rows.getBoolean(1);
    }
  }

  DatabaseConfig config() {
    return new DatabaseConfig(postgres.jdbcUrl(NAME), postgres.user(), postgres.password())
        .unsafe();
  }

  void execute(String sql) throws SQLException {
    try (Connection connection = postgres.connect(NAME);
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  /** Returns the first column of all rows. */
  List<Integer> integers(String sql) throws SQLException {
    List<Integer> values = new ArrayList<>();
    try (Connection connection = postgres.connect(NAME);
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      while (rows.next()) {
        values.add(rows.getInt(1));
      }
    }
    return values;
  }

  /** Returns the first column of the first row. */
  String text(String sql) throws SQLException {
    try (Connection connection = postgres.connect(NAME);
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      rows.next();
      return rows.getString(1);
    }
  }

  /** Restarts PostgreSQL without a loss. */
  void restart() {
    int port = postgres.port();
    postgres.close();
    postgres = start(port);
  }

  /** Copies all that is committed now, and restarts PostgreSQL. */
  void save() throws IOException {
    int port = postgres.port();
    postgres.close();
    copy(folder, copy);
    postgres = start(port);
  }

  /** Kills PostgreSQL and starts it with what {@link #save} has copied. */
  void loseCommitsSinceSave() throws IOException {
    int port = postgres.port();
    postgres.close();
    run("rm", "-rf", folder.toString());
    copy(copy, folder);
    Files.createFile(folder.resolve("pgdata").resolve("recovery.signal"));
    postgres = start(port);
  }

  private static void copy(Path from, Path to) throws IOException {
    run("cp", "-a", from.toString(), to.toString());
  }

  private static void run(String... command) throws IOException {
    try {
      int exitCode = new ProcessBuilder(List.of(command)).inheritIO().start().waitFor();
      if (exitCode != 0) {
        throw new IOException(String.join(" ", command) + ": exit code " + exitCode);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException(e);
    }
  }

  @Override
  public void close() {
    postgres.close();
  }
}
