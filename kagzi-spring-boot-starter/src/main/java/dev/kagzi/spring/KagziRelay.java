package dev.kagzi.spring;

import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.jdbc.OutboxRelay;
import dev.kagzi.sdk.jdbc.OutboxTable;
import java.sql.SQLException;
import java.time.Duration;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.context.SmartLifecycle;

/**
 * Sends the outbox of the application. Starts after everything else, in particular after migrations
 * of the database, and stops at the shutdown. Thread-safe.
 */
final class KagziRelay implements SmartLifecycle {
  private final Kagzi kagzi;
  private final DataSource dataSource;
  private final Duration interval;

  private @Nullable OutboxRelay relay;

  KagziRelay(Kagzi kagzi, DataSource dataSource, Duration interval) {
    this.kagzi = kagzi;
    this.dataSource = dataSource;
    this.interval = interval;
  }

  @Override
  public synchronized void start() {
    if (relay == null) {
      checkTable();
      relay = kagzi.relayOutbox(dataSource, interval);
    }
  }

  /**
   * Fails the start if the table cannot be read. Otherwise each transaction that uses the outbox
   * would fail later.
   */
  private void checkTable() {
    try {
      Object unused = OutboxTable.in(dataSource).refused(1);
    } catch (SQLException e) {
      throw MissingTableException.of("kagzi.outbox.enabled: true", "outbox", dataSource, e);
    }
  }

  @Override
  public synchronized void stop() {
    if (relay != null) {
      relay.close();
      relay = null;
    }
  }

  @Override
  public synchronized boolean isRunning() {
    return relay != null;
  }
}
