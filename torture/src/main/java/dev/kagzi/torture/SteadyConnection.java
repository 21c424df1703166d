package dev.kagzi.torture;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A direct connection that bypasses all links and reconnects after PostgreSQL was killed.
 * PostgreSQL is not killed while the connection is used. Thread-safe.
 */
final class SteadyConnection implements AutoCloseable {
  private static final int VALID_SECONDS_MAX = 5;

  private final Database database;
  private final ReentrantLock lock = new ReentrantLock();
  private @Nullable Connection connection;

  SteadyConnection(Database database) {
    this.database = database;
  }

  /** Uses the connection. */
  @FunctionalInterface
  interface Work<T> {
    T run(Connection connection) throws SQLException;
  }

  <T> T use(Work<T> work) throws SQLException {
    database.lock().lock();
    lock.lock();
    try {
      return work.run(open());
    } finally {
      lock.unlock();
      database.lock().unlock();
    }
  }

  private Connection open() throws SQLException {
    Connection last = connection;
    if (last != null && last.isValid(VALID_SECONDS_MAX)) {
      return last;
    }
    close();
    Connection opened = database.connect();
    connection = opened;
    return opened;
  }

  @Override
  public void close() throws SQLException {
    if (connection != null) {
      connection.close();
      connection = null;
    }
  }
}
