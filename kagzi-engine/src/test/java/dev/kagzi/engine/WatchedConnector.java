package dev.kagzi.engine;

import dev.kagzi.engine.internal.db.ConnectionFactory;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.jspecify.annotations.NullMarked;

/** Writers' connections that record what is sent over them, and that can be held. Thread-safe. */
@NullMarked
public final class WatchedConnector implements ConnectionFactory {
  private static final String COMMIT = "COMMIT";
  private static final long LIMIT_SECONDS = 20;

  private final ConnectionFactory connector;
  private final List<Sent> sent = new CopyOnWriteArrayList<>();
  private final List<Hold> holds = new CopyOnWriteArrayList<>();

  public WatchedConnector(ConnectionFactory connector) {
    this.connector = connector;
  }

  /**
   * A sent statement or commit.
   *
   * @param thread owner of the connection: each writer has its own thread and connection
   * @param sql the statement, or COMMIT
   * @param alone whether the statement commits itself
   */
  public record Sent(String thread, String sql, boolean alone) {
    public boolean isByLane() {
      return thread.startsWith("kagzi-lane-");
    }

    public boolean isByClaimer() {
      return thread.startsWith("kagzi-claim-");
    }

    public boolean isCommit() {
      return alone || sql.equals(COMMIT);
    }

    public boolean isStatement() {
      return !sql.equals(COMMIT);
    }
  }

  /**
   * Returns what lanes have sent since the last {@link #forget}, without the settings of new
   * sessions.
   */
  public List<Sent> byLanes() {
    return sent.stream().filter(Sent::isByLane).toList();
  }

  /** Returns what claimers have sent since the last {@link #forget}. */
  public List<Sent> byClaimers() {
    return sent.stream().filter(Sent::isByClaimer).toList();
  }

  public void forget() {
    sent.clear();
  }

  /** Stops the next matching statement or commit before it is sent, until the hold is closed. */
  public Hold holdNext(Predicate<Sent> which) {
    Hold hold = new Hold(which);
    holds.add(hold);
    return hold;
  }

  /** A held statement or commit. */
  public static final class Hold implements AutoCloseable {
    private final Predicate<Sent> which;
    private final CountDownLatch reached = new CountDownLatch(1);
    private final CountDownLatch released = new CountDownLatch(1);

    private Hold(Predicate<Sent> which) {
      this.which = which;
    }

    public void awaitReached() {
      await(reached);
    }

    @Override
    public void close() {
      released.countDown();
    }

    private static void await(CountDownLatch latch) {
      try {
        if (!latch.await(LIMIT_SECONDS, TimeUnit.SECONDS)) {
          throw new IllegalStateException("hold: not reached or not released in time");
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException(e);
      }
    }
  }

  @Override
  public Connection open() throws SQLException {
    Connection connection = connector.open();
    return proxy(
        Connection.class,
        (method, arguments) -> {
          if (method.getName().equals("commit")) {
            pass(new Sent(Thread.currentThread().getName(), COMMIT, false));
          }
          Object result = call(connection, method, arguments);
          return method.getName().equals("prepareStatement")
              ? watch(connection, (PreparedStatement) result, (String) arguments[0])
              : result;
        });
  }

  private PreparedStatement watch(Connection connection, PreparedStatement statement, String sql) {
    return proxy(
        PreparedStatement.class,
        (method, arguments) -> {
          if (method.getName().startsWith("execute") && !belongsToTheSession(sql)) {
            String thread = Thread.currentThread().getName();
            pass(new Sent(thread, sql, connection.getAutoCommit()));
          }
          return call(statement, method, arguments);
        });
  }

  private static boolean belongsToTheSession(String sql) {
    return sql.startsWith("SET ")
        || sql.contains("pg_stat_activity")
        || sql.contains("kagzi.database_generation");
  }

  private void pass(Sent what) {
    for (Hold hold : List.copyOf(holds)) {
      if (hold.which.test(what) && holds.remove(hold)) {
        hold.reached.countDown();
        Hold.await(hold.released);
      }
    }
    sent.add(what);
  }

  private interface Handler {
    Object handle(Method method, Object[] arguments) throws Throwable;
  }

  private static Object call(Object target, Method method, Object[] arguments) throws Throwable {
    try {
      return method.invoke(target, arguments);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }

  private static <T> T proxy(Class<T> type, Handler handler) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (self, method, arguments) ->
                handler.handle(method, arguments == null ? new Object[0] : arguments)));
  }
}
