package dev.kagzi.torture;

import dev.kagzi.postgres.EmbeddedPostgres;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The fleet's PostgreSQL, which is durable and is killed and restarted. Thread-safe; a caller that
 * kills it holds its lock until it is restarted.
 */
final class Database implements AutoCloseable {
  private static final String NAME = "kagzi";

  private final Path folder;
  private final ReentrantLock lock = new ReentrantLock();
  private volatile EmbeddedPostgres postgres;

  private Database(Path folder, EmbeddedPostgres postgres) {
    this.folder = folder;
    this.postgres = postgres;
  }

  static Database start(Path folder) {
    EmbeddedPostgres postgres = EmbeddedPostgres.builder().dataDir(folder).start();
    postgres.createDatabaseIfAbsent(NAME);
    return new Database(folder, postgres);
  }

  ReentrantLock lock() {
    return lock;
  }

  int port() {
    return postgres.port();
  }

  String user() {
    return postgres.user();
  }

  String password() {
    return postgres.password();
  }

  /** The JDBC URL of the database behind a port that forwards to it. */
  static String url(int port) {
    return "jdbc:postgresql://127.0.0.1:" + port + "/" + NAME;
  }

  Connection connect() throws SQLException {
    return postgres.connect(NAME);
  }

  void kill() {
    Signal.KILL.send(postgres.pid());
    postgres.close();
  }

  /** Starts it again after {@link #kill}, perhaps on another port. */
  void restart() {
    postgres = EmbeddedPostgres.builder().dataDir(folder).start();
  }

  @Override
  public void close() {
    postgres.close();
  }
}
