package dev.kagzi.engine.run;

import dev.kagzi.engine.internal.db.Database;
import dev.kagzi.engine.internal.db.Row;
import dev.kagzi.engine.internal.run.RecentCompletions;
import dev.kagzi.engine.thread.EssentialThreads;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Notifies callers that await the completion of runs. The completion of a run that started and
 * ended on this server is delivered from memory. Others are read in batches after a server message,
 * and every two seconds in case a message was lost. Thread-safe.
 */
public final class RunCompletions implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(RunCompletions.class);
  private static final int READ_MAX = 1_000;
  private static final long FALLBACK_READ_MS = 2_000;

  /**
   * Reads outputs in order until their sum exceeds the limit; the output that exceeds it is still
   * read. Runs whose outputs come after it are marked {@code later} and must be read again. If the
   * last run of a chain was purged, the waiter follows the successor and learns that it is gone.
   */
  public static final String SQL =
      """
      SELECT e.run_id, e.namespace, e.status, e.error, e.metadata, e.later, e.last_run_id,
             CASE WHEN NOT e.later THEN e.data END AS data
        FROM (SELECT r.run_id, r.namespace, r.status, r.error, p.data, p.metadata,
                     coalesce(sum(octet_length(p.data)) OVER (ORDER BY n.place)
                                - octet_length(p.data) > ?::bigint, false) AS later,
                     coalesce((SELECT l.run_id FROM kagzi.workflow_runs l
                                WHERE r.continued_to IS NOT NULL AND l.continued_to IS NULL
                                  AND l.first_run_id = coalesce(r.first_run_id, r.run_id)
                                LIMIT 1), r.continued_to) AS last_run_id
                FROM unnest(?::uuid[]) WITH ORDINALITY AS n (run_id, place)
                JOIN kagzi.workflow_runs r ON r.run_id = n.run_id
                LEFT JOIN kagzi.workflow_payloads p
                       ON p.run_id = r.run_id AND p.kind = 'OUTPUT' AND r.status = 'COMPLETED'
               WHERE r.cron_expr IS NULL) AS e
      """;

  private final Database database;
  private final long readBytesMax;
  private final Events events;
  private final RecentCompletions recent = new RecentCompletions();
  private final Map<RunId, List<Waiter>> waiters = new ConcurrentHashMap<>();
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition notEmpty = lock.newCondition();
  private final Set<RunId> toRead = new LinkedHashSet<>();
  private final Thread reader;
  private volatile boolean closed;

  /**
   * Creates it without waiting callers.
   *
   * @param readBytesMax how many bytes of outputs one statement may read
   */
  public RunCompletions(
      Database database, long readBytesMax, Events events, EssentialThreads threads) {
    this.database = database;
    this.readBytesMax = readBytesMax;
    this.events = events;
    this.reader = threads.loop("kagzi-completions", this::readLoop);
    reader.start();
  }

  /** Receives what other servers and the metrics need to know. */
  public interface Events {
    /** Awaited runs were read from the database. */
    void read(int runs);

    /** A caller of this server awaits an open run that may end on another. */
    void awaited(RunId run);

    /** A run has ended that callers of another server may await. */
    void ended(RunId run);
  }

  /** A subscription to the completion of a run; close it to unsubscribe. */
  public interface Watch extends AutoCloseable {
    @Override
    void close();
  }

  private static final class Waiter {
    private final String namespace;
    private final Consumer<Optional<RunEnd>> onEnd;

    /** The run that is awaited now: a later one of the chain if the first has continued as new. */
    private volatile RunId run;

    private volatile boolean closed;

    /** The run for which other servers know that this waiter exists. Used by the reader only. */
    private @Nullable RunId published;

    private volatile long lastReadNanos = System.nanoTime();

    Waiter(String namespace, RunId run, Consumer<Optional<RunEnd>> onEnd) {
      this.namespace = namespace;
      this.run = run;
      this.onEnd = onEnd;
    }

    boolean isDue(long nowNanos) {
      if (nowNanos - lastReadNanos < TimeUnit.MILLISECONDS.toNanos(FALLBACK_READ_MS)) {
        return false;
      }
      lastReadNanos = nowNanos;
      return true;
    }
  }

  /**
   * Calls {@code onEnd} once: with the completion, or empty if the run is not in the namespace. For
   * a run that has continued as new, or does so meanwhile, with the completion of the last run of
   * its chain.
   */
  public Watch watch(String namespace, RunId run, Consumer<Optional<RunEnd>> onEnd) {
    Waiter waiter = new Waiter(namespace, run, onEnd);
    register(waiter, run);
    return () -> {
      waiter.closed = true;
      removeWaiter(waiter.run, waiter);
    };
  }

  private void register(Waiter waiter, RunId run) {
    // Register before the lookup, or a completion in between would be missed. If it is delivered
    // twice, the second delivery finds no waiter.
    waiters.compute(
        run,
        (id, list) -> {
          List<Waiter> all = list == null ? new CopyOnWriteArrayList<>() : list;
          all.add(waiter);
          return all;
        });
    RunEnd end = recent.end(run, waiter.namespace);
    if (end != null) {
      notifyWaiters(end, waiter.namespace);
    } else if (!recent.isActive(run, waiter.namespace)) {
      read(run);
    }
  }

  /** Moves the waiter to a later run of the chain. */
  private void follow(Waiter waiter, RunId successor) {
    RunId run = successor;
    // Follows the chain as far as it is in the cache, in a loop: a recursive call for each run of a
    // long chain would overflow the stack.
    for (RunEnd end = recent.end(run, waiter.namespace);
        end != null && end.continuedTo() != null;
        end = recent.end(run, waiter.namespace)) {
      run = end.continuedTo();
    }
    waiter.run = run;
    register(waiter, run);
    if (waiter.closed) {
      removeWaiter(run, waiter);
    }
  }

  private void removeWaiter(RunId run, Waiter waiter) {
    waiters.computeIfPresent(
        run,
        (id, list) -> {
          list.remove(waiter);
          return list.isEmpty() ? null : list;
        });
  }

  /** A run has started on this server, so its state is known without a read. */
  public void started(String namespace, RunId run) {
    recent.started(namespace, run);
  }

  /**
   * A run has ended on this server. Other servers are notified only if one of them may have callers
   * that await it: if the run did not start here, or another server asked for its end. The ends of
   * runs that can be resumed are not cached here, so they are always published.
   */
  public void ended(RunEnd end) {
    RecentCompletions.Known known = recent.ended(end);
    if (known != null) {
      notifyWaiters(end, known.namespace());
    } else if (waiters.containsKey(end.runId())) {
      read(end.runId());
    }
    if (known == null || known.isAwaitedElsewhere() || !known.isCached()) {
      events.ended(end.runId());
    }
  }

  /** Callers of another server await the run: publishes its end, now or later. */
  public void awaitedElsewhere(RunId run) {
    if (recent.awaitElsewhere(run)) {
      events.ended(run);
    }
  }

  /** A run has ended on another server: its completion must be read. */
  public void endedElsewhere(RunId run) {
    recent.forget(run);
    if (waiters.containsKey(run)) {
      read(run);
    }
  }

  /** Reads all awaited runs, because server messages may have been lost. */
  public void refreshAll() {
    waiters.keySet().forEach(this::read);
  }

  /**
   * The database may have lost starts and ends of runs: empties the cache and reads all awaited
   * runs again.
   */
  public void commitsLost() {
    recent.forgetAll();
    refreshAll();
  }

  private void notifyWaiters(RunEnd end, String namespace) {
    List<Waiter> list = waiters.remove(end.runId());
    if (list == null) {
      return;
    }
    RunId successor = end.continuedTo();
    for (Waiter waiter : list) {
      if (!waiter.namespace.equals(namespace)) {
        call(waiter, Optional.empty());
      } else if (successor == null) {
        call(waiter, Optional.of(end));
      } else {
        follow(waiter, successor);
      }
    }
  }

  private static void call(Waiter waiter, Optional<RunEnd> end) {
    try {
      waiter.onEnd.accept(end);
    } catch (RuntimeException bug) {
      log.atError()
          .setCause(bug)
          .addKeyValue("run", end.map(RunEnd::runId).orElse(null))
          .log("completion callback of a run failed");
    }
  }

  private void read(RunId run) {
    lock.lock();
    try {
      toRead.add(run);
      notEmpty.signal();
    } finally {
      lock.unlock();
    }
  }

  private void readLoop() {
    long lastFallback = System.nanoTime();
    while (!closed) {
      try {
        List<RunId> batch = take();
        if (batch.isEmpty()
            || System.nanoTime() - lastFallback > TimeUnit.MILLISECONDS.toNanos(FALLBACK_READ_MS)) {
          lastFallback = System.nanoTime();
          addDueForFallback();
        }
        if (!batch.isEmpty()) {
          readAndNotify(batch);
        }
      } catch (InterruptedException stopped) {
        return;
      } catch (RuntimeException unavailable) {
        // The waiters stay registered; the fallback reads them again.
        log.atDebug()
            .addKeyValue("cause", unavailable.getMessage())
            .log("completions of runs could not be read");
      }
    }
  }

  /** Adds awaited runs that were not read for a while, in case a server message was lost. */
  private void addDueForFallback() {
    long now = System.nanoTime();
    waiters.forEach(
        (run, list) -> {
          for (Waiter waiter : list) {
            if (waiter.isDue(now)) {
              read(run);
            }
          }
        });
  }

  private List<RunId> take() throws InterruptedException {
    lock.lockInterruptibly();
    try {
      long left = TimeUnit.MILLISECONDS.toNanos(FALLBACK_READ_MS);
      while (toRead.isEmpty() && left > 0) {
        left = notEmpty.awaitNanos(left);
      }
      List<RunId> batch = new ArrayList<>();
      var all = toRead.iterator();
      while (all.hasNext() && batch.size() < READ_MAX) {
        batch.add(all.next());
        all.remove();
      }
      return batch;
    } finally {
      lock.unlock();
    }
  }

  private void readAndNotify(List<RunId> batch) {
    Map<RunId, Found> found = new HashMap<>();
    database
        .read(
            session ->
                session
                    .query(SQL)
                    .bind(readBytesMax)
                    .bindUuids(batch, RunId::value)
                    .list(RunCompletions::map))
        .forEach(row -> found.put(row.end.runId(), row));
    events.read(batch.size());
    for (RunId run : batch) {
      Found row = found.get(run);
      if (row == null) {
        notifyWaiters(new RunEnd(run, RunStatus.PENDING, null, null), "");
      } else if (row.later) {
        read(run);
      } else if (row.end.status().isFinal()) {
        notifyWaiters(row.end, row.namespace);
      } else {
        answerOtherNamespaces(run, row.namespace);
        publishAwaited(run);
      }
    }
  }

  /** Asks the server on which the open run started to publish its end, once for each waiter. */
  private void publishAwaited(RunId run) {
    for (Waiter waiter : waiters.getOrDefault(run, List.of())) {
      if (!run.equals(waiter.published)) {
        waiter.published = run;
        events.awaited(run);
      }
    }
  }

  /** Answers waiters of other namespaces: for them the run does not exist. */
  private void answerOtherNamespaces(RunId run, String namespace) {
    for (Waiter waiter : waiters.getOrDefault(run, List.of())) {
      if (!waiter.namespace.equals(namespace)) {
        removeWaiter(run, waiter);
        call(waiter, Optional.empty());
      }
    }
  }

  /** {@code later}: the output was not read because of the byte limit. */
  private record Found(String namespace, RunEnd end, boolean later) {}

  private static Found map(Row row) throws SQLException {
    return new Found(
        row.text("namespace"),
        new RunEnd(
            row.runId("run_id"),
            RunStatus.valueOf(row.text("status")),
            row.payloadOrNull("data", "metadata"),
            row.failureOrNull("error"),
            row.runIdOrNull("last_run_id")),
        row.bool("later"));
  }

  @Override
  public void close() {
    closed = true;
    reader.interrupt();
  }
}
