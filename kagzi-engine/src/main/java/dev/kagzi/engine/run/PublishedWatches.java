package dev.kagzi.engine.run;

import dev.kagzi.engine.internal.db.Database;
import dev.kagzi.engine.thread.EssentialThreads;
import dev.kagzi.engine.value.RunId;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Notifies callers that follow the published values of runs. A value that this server stores
 * notifies them at once. Values that other servers store are found by one statement per second for
 * all callers. Without callers no statement is sent. Thread-safe.
 */
public final class PublishedWatches implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(PublishedWatches.class);
  private static final int READ_MAX = 1_000;
  private static final long READ_NANOS = TimeUnit.SECONDS.toNanos(1);

  /**
   * Returns the positions of the watches that have something to report: a new value, the end of the
   * run, or that the run does not exist in the namespace.
   */
  public static final String SQL =
      """
      SELECT n.place
        FROM unnest(?::uuid[], ?::text[], ?::text[], ?::bigint[]) WITH ORDINALITY
               AS n (run_id, namespace, name, after_version, place)
        LEFT JOIN kagzi.workflow_runs r ON r.run_id = n.run_id
       CROSS JOIN LATERAL (
             SELECT max(v.version) AS version
               FROM kagzi.published_values v
              WHERE v.run_id = n.run_id AND v.data IS NOT NULL
                AND (n.name = '' OR v.name = n.name)) AS p
       WHERE p.version > n.after_version
          OR r.run_id IS NULL
          OR r.namespace <> n.namespace
          OR r.status IN ('COMPLETED', 'FAILED', 'CANCELLED', 'TIMED_OUT')
      """;

  private final Database database;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();

  /** Changed under the lock; read without it by {@link #changed}, for every run that ends. */
  private final Map<RunId, Set<Watch>> watches = new ConcurrentHashMap<>();

  /** Watches that the reader checks at once, before it checks all; guarded by the lock. */
  private final Set<Watch> due = new LinkedHashSet<>();

  /** When the reader checks all watches next; only the reader uses it. */
  private long readAllNanos = System.nanoTime();

  private final Thread reader;
  private volatile boolean closed;

  public PublishedWatches(Database database, EssentialThreads threads) {
    this.database = database;
    this.reader = threads.loop("kagzi-published", this::readLoop);
    reader.start();
  }

  /** What a caller waits for; close it to unsubscribe. */
  public final class Watch implements AutoCloseable {
    private final String namespace;
    private final RunId run;
    private final String name;
    private final long after;
    private final Runnable onChange;

    private Watch(String namespace, RunId run, String name, long after, Runnable onChange) {
      this.namespace = namespace;
      this.run = run;
      this.name = name;
      this.after = after;
      this.onChange = onChange;
    }

    @Override
    public void close() {
      remove(this);
    }
  }

  /**
   * Calls {@code onChange} once: when the run has a value after {@code after}, when it has ended,
   * or if it is not in the namespace. It must not block.
   *
   * @param name of the values; empty: any
   */
  public Watch watch(String namespace, RunId run, String name, long after, Runnable onChange) {
    Watch watch = new Watch(namespace, run, name, after, onChange);
    lock.lock();
    try {
      watches.computeIfAbsent(run, id -> new LinkedHashSet<>()).add(watch);
      due.add(watch);
      changed.signal();
    } finally {
      lock.unlock();
    }
    return watch;
  }

  /** The run has published a value, or has ended. */
  public void changed(RunId run) {
    if (!watches.containsKey(run)) {
      return;
    }
    lock.lock();
    try {
      due.addAll(watches.getOrDefault(run, Set.of()));
      changed.signal();
    } finally {
      lock.unlock();
    }
  }

  private boolean remove(Watch watch) {
    lock.lock();
    try {
      due.remove(watch);
      Set<Watch> ofRun = watches.getOrDefault(watch.run, Set.of());
      boolean removed = ofRun.contains(watch) && ofRun.remove(watch);
      if (removed && ofRun.isEmpty()) {
        watches.remove(watch.run);
      }
      return removed;
    } finally {
      lock.unlock();
    }
  }

  private void readLoop() {
    while (!closed) {
      try {
        List<Watch> batch = take();
        for (int from = 0; from < batch.size(); from += READ_MAX) {
          readAndNotify(batch.subList(from, Math.min(batch.size(), from + READ_MAX)));
        }
      } catch (InterruptedException stopped) {
        return;
      } catch (RuntimeException unavailable) {
        // The watches stay registered; they are read again within a second.
        log.atDebug()
            .addKeyValue("cause", unavailable.getMessage())
            .log("published values could not be read");
      }
    }
  }

  /**
   * Waits for watches that are due. Returns all watches once per second, also if some are due all
   * the time: only that finds what other servers have stored.
   */
  private List<Watch> take() throws InterruptedException {
    lock.lockInterruptibly();
    try {
      long leftNanos = readAllNanos - System.nanoTime();
      while (watches.isEmpty() || (due.isEmpty() && leftNanos > 0)) {
        if (watches.isEmpty()) {
          changed.await();
        } else {
          long unused = changed.awaitNanos(leftNanos);
        }
        leftNanos = readAllNanos - System.nanoTime();
      }
      List<Watch> batch = new ArrayList<>();
      if (leftNanos > 0) {
        batch.addAll(due);
      } else {
        watches.values().forEach(batch::addAll);
        readAllNanos = System.nanoTime() + READ_NANOS;
      }
      due.clear();
      return batch;
    } finally {
      lock.unlock();
    }
  }

  private void readAndNotify(List<Watch> batch) {
    List<Integer> places =
        database.read(
            session ->
                session
                    .query(SQL)
                    .bindUuids(batch, watch -> watch.run.value())
                    .bindTexts(batch, watch -> watch.namespace)
                    .bindTexts(batch, watch -> watch.name)
                    .bindLongs(batch, watch -> watch.after)
                    .list(row -> row.integer("place")));
    for (int place : places) {
      Watch watch = batch.get(place - 1);
      if (remove(watch)) {
        call(watch);
      }
    }
  }

  private static void call(Watch watch) {
    try {
      watch.onChange.run();
    } catch (RuntimeException bug) {
      log.atError()
          .setCause(bug)
          .addKeyValue("run", watch.run)
          .log("callback of a published value failed");
    }
  }

  @Override
  public void close() {
    closed = true;
    reader.interrupt();
  }
}
