package dev.kagzi.engine.internal.chore;

import dev.kagzi.engine.internal.db.Database;
import dev.kagzi.engine.internal.db.DatabaseFailureLog;
import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.retry.RetryPolicy;
import dev.kagzi.engine.run.StartRequest;
import dev.kagzi.engine.run.StartResult;
import dev.kagzi.engine.thread.EssentialThreads;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Executes starts and signals that applications have requested in their own transactions, on its
 * own thread. A commit of an application sends no notification, so this class polls: often while
 * requests arrive or are {@linkplain #expect expected}, otherwise once an hour. The server
 * heartbeat also reads whether there is a request, and wakes this thread.
 */
public final class RequestPoller implements Chore, AutoCloseable {
  /** The interval if requests were executed in the last {@link #ACTIVE_NANOS}, or are expected. */
  private static final long ACTIVE_INTERVAL_MS = 100;

  private static final long IDLE_INTERVAL_MS = TimeUnit.HOURS.toMillis(1);
  private static final long FAILED_INTERVAL_MS = 2_000;

  // Reads partial indexes that are empty if there is nothing to do. Jumps from namespace to
  // namespace, because a disabled one may have many requests.
  private static final String PENDING_SQL =
      """
      WITH RECURSIVE names (namespace) AS (
        SELECT min(namespace) FROM kagzi.start_requests WHERE refused_at IS NULL
         UNION ALL
        SELECT (SELECT min(s.namespace) FROM kagzi.start_requests AS s
                 WHERE s.refused_at IS NULL AND s.namespace > n.namespace)
          FROM names AS n
         WHERE n.namespace IS NOT NULL)
      SELECT EXISTS (SELECT 1 FROM names AS n
                      WHERE NOT EXISTS (SELECT 1 FROM kagzi.namespaces AS d
                                         WHERE d.namespace = n.namespace AND NOT d.enabled)
                        AND EXISTS (SELECT 1 FROM kagzi.start_requests AS s
                                     WHERE s.namespace = n.namespace AND s.refused_at IS NULL
                                       AND coalesce(s.retry_at, s.requested_at) <= kagzi.clock()))
               AS starts,
             EXISTS (SELECT 1 FROM kagzi.signal_requests WHERE refused_at IS NULL) AS signals
      """;

  private static final Logger log = LoggerFactory.getLogger(RequestPoller.class);
  private static final long ACTIVE_NANOS = TimeUnit.MINUTES.toNanos(10);
  private static final long EXPECTED_NANOS = TimeUnit.SECONDS.toNanos(10);
  private static final long PURGE_NANOS = TimeUnit.HOURS.toNanos(1);
  private static final long REFUSED_MS_MAX = TimeUnit.DAYS.toMillis(30);
  private static final Duration CLOSE_MAX = Duration.ofSeconds(5);

  private final ServerHeartbeat heartbeat;
  private final Database database;
  private final RequestExecutor<?, ?> starts;
  private final RequestExecutor<?, ?> signals;
  private final Thread thread;

  /** Gets a permit when the thread has something to do, or when this is closed. */
  private final Semaphore changed = new Semaphore(0);

  private ServerHeartbeat.@Nullable PendingWork served;
  private volatile @Nullable Long expectedNanos;
  private volatile boolean closed;
  private @Nullable Session session;
  private @Nullable Long seenNanos;
  private @Nullable Long purgedNanos;

  /** Which kinds of requests no server has executed. */
  private record Pending(boolean starts, boolean signals) {}

  private RequestPoller(
      ServerHeartbeat heartbeat,
      Database database,
      RequestExecutor<?, ?> starts,
      RequestExecutor<?, ?> signals,
      EssentialThreads threads) {
    this.heartbeat = heartbeat;
    this.database = database;
    this.starts = starts;
    this.signals = signals;
    this.thread = threads.loop("kagzi-requests", this::loop);
  }

  /**
   * @param starts starts runs, with all checks of a client's start
   * @param defaults for fields that a retry policy of a start leaves out
   */
  public static RequestPoller of(
      ServerHeartbeat heartbeat,
      Database database,
      Function<List<StartRequest>, List<CompletableFuture<StartResult>>> starts,
      RetryPolicy defaults,
      RequestExecutor.Send signals,
      EssentialThreads threads) {
    return new RequestPoller(
        heartbeat,
        database,
        RequestExecutor.ofStarts(starts, defaults),
        RequestExecutor.ofSignals(signals),
        threads);
  }

  public void start() {
    thread.start();
  }

  @Override
  public void run() {
    ServerHeartbeat.PendingWork pending = heartbeat.pendingWork();
    if (!pending.equals(served) && pending.requests()) {
      changed.release();
    }
    served = pending;
  }

  /**
   * Polls often for some seconds, because a caller asks for a run that does not exist: an
   * application may be about to commit the request to start it. Returns at once.
   */
  public void expect() {
    Long before = expectedNanos;
    long nowNanos = System.nanoTime();
    expectedNanos = nowNanos;
    if (before == null || nowNanos - before > EXPECTED_NANOS) {
      changed.release();
    }
  }

  private void loop() {
    try {
      while (!closed) {
        long waitMs = pollQuietly();
        boolean unused = changed.tryAcquire(waitMs, TimeUnit.MILLISECONDS);
        changed.drainPermits();
      }
    } catch (InterruptedException closing) {
      Thread.currentThread().interrupt();
    }
    closeSession();
  }

  /** Returns after how many milliseconds to poll again. */
  private long pollQuietly() throws InterruptedException {
    try {
      Pending pending = pending();
      long nowNanos = System.nanoTime();
      if (execute(pending) > 0) {
        seenNanos = nowNanos;
        // There may be more requests: a batch is limited, and has at most one signal of each run.
        return 0;
      }
      purgeRefused(nowNanos);
      boolean isActive =
          isWithin(ACTIVE_NANOS, seenNanos, nowNanos)
              || isWithin(EXPECTED_NANOS, expectedNanos, nowNanos);
      return isActive ? ACTIVE_INTERVAL_MS : IDLE_INTERVAL_MS;
    } catch (SQLException | RuntimeException e) {
      closeSession();
      if (!DatabaseFailureLog.isLogged(e)) {
        log.atWarn()
            .addKeyValue("cause", e.getMessage())
            .log("requests of applications were not executed, trying again");
      }
      return FAILED_INTERVAL_MS;
    }
  }

  private static boolean isWithin(long nanos, @Nullable Long sinceNanos, long nowNanos) {
    return sinceNanos != null && nowNanos - sinceNanos < nanos;
  }

  private Pending pending() throws SQLException {
    return session()
        .query(PENDING_SQL)
        .first(row -> new Pending(row.bool("starts"), row.bool("signals")))
        .orElseThrow();
  }

  private int execute(Pending pending) throws SQLException, InterruptedException {
    int executed = pending.starts() ? execute(starts) : 0;
    return pending.signals() ? executed + execute(signals) : executed;
  }

  private int execute(RequestExecutor<?, ?> requests) throws SQLException, InterruptedException {
    InterruptedException[] closing = new InterruptedException[1];
    int executed =
        session()
            .inTransaction(
                tx -> {
                  try {
                    return requests.execute(tx);
                  } catch (InterruptedException e) {
                    closing[0] = e;
                    return 0;
                  }
                });
    if (closing[0] != null) {
      throw closing[0];
    }
    return executed;
  }

  private void purgeRefused(long nowNanos) throws SQLException {
    if (purgedNanos == null || nowNanos - purgedNanos > PURGE_NANOS) {
      purgedNanos = nowNanos;
      starts.purgeRefused(session(), REFUSED_MS_MAX);
      signals.purgeRefused(session(), REFUSED_MS_MAX);
    }
  }

  private Session session() throws SQLException {
    Session open = session;
    if (open == null) {
      open = database.open("requests");
      session = open;
    }
    return open;
  }

  private void closeSession() {
    Session open = session;
    session = null;
    if (open != null) {
      open.close();
    }
  }

  /** Waits for the current batch, at most {@link #CLOSE_MAX}. */
  @Override
  public void close() {
    closed = true;
    changed.release();
    try {
      if (thread.isAlive() && !thread.join(CLOSE_MAX)) {
        thread.interrupt();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
