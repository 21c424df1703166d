package dev.kagzi.engine.internal.db;

import dev.kagzi.engine.value.Refusal;
import java.sql.SQLException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import org.slf4j.spi.LoggingEventBuilder;

/**
 * Logs the failures of statements and connections, so that all of them follow the same rules.
 *
 * <p>An outage logs one line when it begins, one per minute while it lasts and one when it ends,
 * however many callers fail. A statement that PostgreSQL refuses because of its data logs one line
 * with the statement, the call and the ids. A conflict with another transaction is logged at DEBUG
 * only. Any other failure of a statement logs the same line as refused data, but at most once per
 * minute, because its sender repeats it. Thread-safe.
 */
public final class DatabaseFailureLog {
  private static final Logger log = LoggerFactory.getLogger(DatabaseFailureLog.class);

  static final long REPEAT_NANOS = TimeUnit.MINUTES.toNanos(1);

  /**
   * The first log line of an outage comes at least this long after the last "unavailable" line of
   * the previous outage. Otherwise a database that fails again and again would fill the log.
   */
  static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(10);

  private static final int FAILURES_KEPT_MAX = 100;

  private static final String PACKAGE = DatabaseFailureLog.class.getPackageName();

  private final LongSupplier nanoClock;
  private final Runnable onBack;
  private final ReentrantLock lock = new ReentrantLock();
  private volatile @Nullable Outage outage;
  private long endNanos;
  private long quietUntilNanos;
  private boolean hadOutage;
  private volatile @Nullable Long workedNanos;

  /** The last line of each failure that is not an outage, the most recently used last. */
  private final Map<FailureKind, LastLine> lastLines =
      new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<FailureKind, LastLine> eldest) {
          return size() > FAILURES_KEPT_MAX;
        }
      };

  private record FailureKind(String call, @Nullable String state, String statement) {}

  /**
   * @param unlogged number of failures since this line
   */
  private record LastLine(long nanos, long unlogged) {}

  private static final class Outage {
    final long beginNanos;
    long lineDueNanos;
    long failures;
    boolean logged;

    Outage(long beginNanos, long lineDueNanos) {
      this.beginNanos = beginNanos;
      this.lineDueNanos = lineDueNanos;
    }
  }

  /**
   * @param onBack called when an outage has ended
   */
  DatabaseFailureLog(LongSupplier nanoClock, Runnable onBack) {
    this.nanoClock = nanoClock;
    this.onBack = onBack;
  }

  /**
   * Logs the failure according to its SQLSTATE.
   *
   * @param level of a line about a single statement
   * @param call names the sender of the statement in the log
   * @param connectedNanos when the connection was opened or taken from the pool; a connection from
   *     before the end of the last outage was broken by that outage
   */
  void failed(Level level, String call, SQLException error, long connectedNanos) {
    if (isOutage(error)) {
      onOutage(call, error, connectedNanos);
    } else if (SqlErrors.remedy(error) == SqlErrors.Remedy.SPLIT) {
      logRefused(level, call, "ids", StatementException.ids(error), error);
    } else if (SqlErrors.remedy(error) == SqlErrors.Remedy.REPEAT) {
      log.atDebug()
          .addKeyValue("call", call)
          .addKeyValue("state", error.getSQLState())
          .log("a statement lost a race");
    } else {
      logFailed(level, call, error);
    }
  }

  private void logFailed(Level level, String call, SQLException error) {
    long failures = failuresToLog(call, error);
    if (failures > 0) {
      log.atLevel(level)
          .addKeyValue("call", call)
          .addKeyValue("ids", StatementException.ids(error))
          .addKeyValue("state", error.getSQLState())
          .addKeyValue("failures", failures)
          .addKeyValue("error", StatementException.reason(error))
          .addKeyValue("statement", StatementException.statement(error))
          .log("a statement failed");
    }
  }

  /** Returns how many failures a line stands for; 0 if the last line is less than a minute old. */
  private long failuresToLog(String call, SQLException error) {
    FailureKind kind =
        new FailureKind(call, error.getSQLState(), StatementException.statement(error));
    lock.lock();
    try {
      long now = nanoClock.getAsLong();
      LastLine last = lastLines.get(kind);
      if (last != null && now - last.nanos < REPEAT_NANOS) {
        lastLines.put(kind, new LastLine(last.nanos, last.unlogged + 1));
        return 0;
      }
      lastLines.put(kind, new LastLine(now, 0));
      return last == null ? 1 : last.unlogged + 1;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Records that a connection works.
   *
   * @param connectedNanos when it was opened or taken from the pool
   */
  void worked(long connectedNanos) {
    workedNanos = connectedNanos;
    Outage seen = outage;
    if (seen != null && connectedNanos - seen.beginNanos > 0) {
      onRecovered(seen);
    }
  }

  /**
   * Returns whether a connection that was opened or taken in this time works, without an outage.
   */
  boolean hasWorkedWithin(long nanos) {
    Long worked = workedNanos;
    return outage == null && worked != null && nanoClock.getAsLong() - worked < nanos;
  }

  /**
   * Logs a statement that PostgreSQL refuses because of its data.
   *
   * @param subject what {@code ids} identify
   */
  public static void logRefused(
      Level level, String call, String subject, Object ids, SQLException error) {
    logRefused(level, call, line -> line.addKeyValue(subject, ids), error);
  }

  /**
   * Logs a statement that PostgreSQL refuses because of its data.
   *
   * @param subject adds to the line what the statement is about
   */
  public static void logRefused(
      Level level, String call, UnaryOperator<LoggingEventBuilder> subject, SQLException error) {
    subject
        .apply(log.atLevel(level).addKeyValue("call", call))
        .addKeyValue("state", error.getSQLState())
        .addKeyValue("error", StatementException.reason(error))
        .addKeyValue("statement", StatementException.statement(error))
        .log("the database refused a value");
  }

  public static boolean isLogged(Throwable problem) {
    return problem instanceof Refusal refusal
        && refusal.reason() == Refusal.Reason.UNAVAILABLE
        && refusal.subject().equals(SqlErrors.SUBJECT);
  }

  /** Returns the method outside of this package that sends the current statement. */
  static String caller() {
    return StackWalker.getInstance()
        .walk(
            frames ->
                frames
                    .filter(frame -> !frame.getClassName().startsWith(PACKAGE))
                    .findFirst()
                    .map(
                        frame ->
                            frame.getClassName().replaceAll(".*\\.", "")
                                + "."
                                + frame.getMethodName())
                    .orElse("?"));
  }

  /** PostgreSQL is unreachable, not ready, read-only or out of resources, or refuses the login. */
  static boolean isOutage(SQLException error) {
    String state = error.getSQLState() == null ? "" : error.getSQLState();
    return state.startsWith("08")
        || state.startsWith("53")
        || state.startsWith("57P")
        || state.startsWith("28")
        || state.startsWith("3D")
        || state.equals("25006");
  }

  private void onOutage(String call, SQLException error, long connectedNanos) {
    lock.lock();
    try {
      long now = nanoClock.getAsLong();
      Outage present = outage;
      if (present == null) {
        if (hadOutage && connectedNanos - endNanos < 0) {
          log.atDebug().addKeyValue("call", call).log("a connection from before the last outage");
          return;
        }
        boolean quiet = hadOutage && quietUntilNanos - now > 0;
        present = new Outage(now, quiet ? quietUntilNanos : now);
        outage = present;
      }
      present.failures++;
      if (now - present.lineDueNanos >= 0) {
        logOutage(present, call, error, now);
      }
    } finally {
      lock.unlock();
    }
  }

  private void logOutage(Outage present, String call, SQLException error, long now) {
    log.atWarn()
        .addKeyValue("since_ms", TimeUnit.NANOSECONDS.toMillis(now - present.beginNanos))
        .addKeyValue("failures", present.failures)
        .addKeyValue("call", call)
        .addKeyValue("state", error.getSQLState())
        .addKeyValue("error", StatementException.reason(error))
        .log(present.logged ? "the database is still unavailable" : "the database is unavailable");
    present.logged = true;
    present.lineDueNanos = now + REPEAT_NANOS;
    quietUntilNanos = now + PAUSE_NANOS;
  }

  private void onRecovered(Outage seen) {
    lock.lock();
    try {
      if (outage != seen) {
        return;
      }
      long now = nanoClock.getAsLong();
      outage = null;
      endNanos = now;
      hadOutage = true;
      if (seen.logged) {
        log.atInfo()
            .addKeyValue("unreachable_ms", TimeUnit.NANOSECONDS.toMillis(now - seen.beginNanos))
            .addKeyValue("failures", seen.failures)
            .log("the database is available again");
      }
    } finally {
      lock.unlock();
    }
    onBack.run();
  }
}
