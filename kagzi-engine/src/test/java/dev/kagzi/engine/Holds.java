package dev.kagzi.engine;

import dev.kagzi.engine.config.DatabaseConfig;
import dev.kagzi.engine.internal.db.ConnectionFactory;
import dev.kagzi.engine.internal.db.Database;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.NullMarked;
import org.jspecify.annotations.Nullable;

/**
 * Connections of an engine's writers. A test can hold them at a chosen statement or commit, to keep
 * a race open, and can cut them. Thread-safe.
 *
 * <p>PostgreSQL ends a transaction that is held for more than five seconds.
 */
@NullMarked
public final class Holds implements ConnectionFactory {
  private static final long LIMIT_SECONDS = 10;

  private final DatabaseConfig config;
  private final List<Hold> holds = new CopyOnWriteArrayList<>();
  private final Map<Connection, Set<String>> sentBy = new ConcurrentHashMap<>();

  private volatile boolean refuses;

  public Holds(DatabaseConfig config) {
    this.config = config;
  }

  /**
   * Holds the end of the next transaction that has sent a statement containing this text. The end
   * is a commit, or a rollback if the batch wrote nothing.
   */
  public Hold commitAfter(String sql) {
    return add(new Hold(sql, true));
  }

  /** Holds the next statement containing this text, before it is sent. */
  public Hold statement(String sql) {
    return add(new Hold(sql, false));
  }

  private Hold add(Hold hold) {
    holds.add(hold);
    return hold;
  }

  /** Cuts the connections that have sent a statement containing this text; returns how many. */
  public int cut(String sql) throws SQLException {
    int count = 0;
    for (Map.Entry<Connection, Set<String>> entry : sentBy.entrySet()) {
      boolean matches = entry.getValue().stream().anyMatch(sent -> sent.contains(sql));
      if (matches && !entry.getKey().isClosed()) {
        entry.getKey().abort(Runnable::run);
        count++;
      }
    }
    return count;
  }

  /** Refuses new connections until {@link #accept}. */
  public void refuse() {
    refuses = true;
  }

  public void accept() {
    refuses = false;
  }

  @Override
  public Connection open() throws SQLException {
    if (refuses) {
      throw new SQLException("refused by the test", "08001");
    }
    Connection real = Database.connect(config);
    Link link = new Link(real);
    return (Connection)
        Proxy.newProxyInstance(
            Holds.class.getClassLoader(),
            new Class<?>[] {Connection.class},
            (proxy, method, args) -> link.call(method, args));
  }

  /** One connection; used by one thread at a time. */
  private final class Link {
    private final Connection real;
    private final List<String> sent = new ArrayList<>();

    Link(Connection real) {
      this.real = real;
    }

    @Nullable Object call(Method method, @Nullable Object[] args) throws Throwable {
      switch (method.getName()) {
        case "setAutoCommit" -> sent.clear();
        case "prepareStatement" -> before(String.valueOf(args[0]));
        case "commit", "rollback" -> beforeEnd();
        default -> {}
      }
      try {
        return method.invoke(real, args);
      } catch (InvocationTargetException e) {
        throw e.getCause();
      }
    }

    private void before(String sql) throws InterruptedException {
      sent.add(sql);
      sentBy.computeIfAbsent(real, link -> ConcurrentHashMap.newKeySet()).add(sql);
      for (Hold hold : holds) {
        if (!hold.atEnd && sql.contains(hold.sql)) {
          hold.pass();
        }
      }
    }

    private void beforeEnd() throws InterruptedException {
      for (Hold hold : holds) {
        if (hold.atEnd && sent.stream().anyMatch(sql -> sql.contains(hold.sql))) {
          hold.pass();
        }
      }
      sent.clear();
    }
  }

  /** Holds the first thread that arrives until it is released. */
  public final class Hold implements AutoCloseable {
    private final String sql;
    private final boolean atEnd;
    private final AtomicBoolean taken = new AtomicBoolean();
    private final CountDownLatch reached = new CountDownLatch(1);
    private final CountDownLatch released = new CountDownLatch(1);

    private Hold(String sql, boolean atEnd) {
      this.sql = sql;
      this.atEnd = atEnd;
    }

    private void pass() throws InterruptedException {
      if (taken.compareAndSet(false, true)) {
        holds.remove(this);
        reached.countDown();
        if (!released.await(LIMIT_SECONDS, TimeUnit.SECONDS)) {
          throw new IllegalStateException("hold: not released (expected: by its test)");
        }
      }
    }

    /** Waits until a thread is held here. */
    public void awaitReached() throws InterruptedException {
      if (!reached.await(LIMIT_SECONDS, TimeUnit.SECONDS)) {
        throw new IllegalStateException("hold: no thread arrived (expected: " + sql + ")");
      }
    }

    /** Releases the held thread, and lets later ones pass. */
    public void release() {
      taken.set(true);
      holds.remove(this);
      released.countDown();
    }

    @Override
    public void close() {
      release();
    }
  }
}
