package dev.kagzi.torture;

import dev.kagzi.postgres.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The fleet's PostgreSQL, which is durable and is killed and restarted. It may have a synchronous
 * standby, which can take its place once. Thread-safe; a caller that kills it holds its lock until
 * it is restarted.
 */
final class Database implements AutoCloseable {
  private static final String NAME = "kagzi";

  private final Path folder;
  private final ReentrantLock lock = new ReentrantLock();
  private final List<Integer> ports = new ArrayList<>();
  private final @Nullable EmbeddedPostgres standby;
  private volatile EmbeddedPostgres postgres;

  private Database(Path folder, EmbeddedPostgres postgres, @Nullable EmbeddedPostgres standby) {
    this.folder = folder;
    this.postgres = postgres;
    this.standby = standby;
    ports.add(postgres.port());
    if (standby != null) {
      ports.add(standby.port());
    }
  }

  static Database start(Path folder) {
    EmbeddedPostgres postgres = EmbeddedPostgres.builder().dataDir(folder).start();
    postgres.createDatabaseIfAbsent(NAME);
    return new Database(folder, postgres, null);
  }

  /** Starts a primary whose commits wait for a standby. */
  static Database startWithStandby(Path folder, Path standbyFolder) {
    try (EmbeddedPostgres alone = EmbeddedPostgres.builder().dataDir(folder).start()) {
      alone.createDatabaseIfAbsent(NAME);
    }
    copyAsStandby(folder, standbyFolder);
    EmbeddedPostgres primary =
        EmbeddedPostgres.builder()
            .dataDir(folder)
            .setting("synchronous_standby_names", "*")
            .start();
    String primaryAddress =
        "host=127.0.0.1 port=%d user=%s password=%s"
            .formatted(primary.port(), primary.user(), primary.password());
    EmbeddedPostgres standby =
        EmbeddedPostgres.builder()
            .dataDir(standbyFolder)
            .setting("primary_conninfo", primaryAddress)
            .start();
    return new Database(folder, primary, standby);
  }

  private static void copyAsStandby(Path from, Path to) {
    try {
      Process copy = new ProcessBuilder("cp", "-a", from.toString(), to.toString()).start();
      if (copy.waitFor() != 0) {
        throw new TortureException("cannot copy " + from + " to " + to);
      }
      Files.createFile(to.resolve("pgdata").resolve("standby.signal"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw TortureException.interrupted(e);
    }
  }

  ReentrantLock lock() {
    return lock;
  }

  int port() {
    return postgres.port();
  }

  /** The ports of the primary and of the standby, as they were at the beginning. */
  List<Integer> ports() {
    return ports;
  }

  String user() {
    return postgres.user();
  }

  String password() {
    return postgres.password();
  }

  /** The JDBC URL of the database behind ports that forward to it. */
  static String url(List<Integer> ports) {
    return "jdbc:postgresql://"
        + ports.stream().map(port -> "127.0.0.1:" + port).collect(Collectors.joining(","))
        + "/"
        + NAME;
  }

  Connection connect() throws SQLException {
    return postgres.connect(NAME);
  }

  void kill() {
    UnixSignal.KILL.send(postgres.pid());
    postgres.close();
  }

  /** Kills the primary with {@code kill -9} and promotes the standby. */
  void failOver() throws SQLException {
    EmbeddedPostgres successor = standby;
    if (successor == null) {
      throw new IllegalStateException("standby: none (expected: one)");
    }
    kill();
    try (Connection connection = successor.connect(NAME);
        Statement statement = connection.createStatement()) {
      statement.execute("SELECT pg_promote()");
    }
    postgres = successor;
  }

  /** Starts it again after {@link #kill}, perhaps on another port. */
  void restart() {
    postgres = EmbeddedPostgres.builder().dataDir(folder).start();
  }

  @Override
  public void close() {
    postgres.close();
    if (standby != null) {
      standby.close();
    }
  }
}
