package dev.kagzi.engine.run;

import dev.kagzi.engine.db.Database;
import dev.kagzi.engine.db.Row;
import dev.kagzi.engine.db.Session;
import dev.kagzi.engine.thread.EssentialThreads;
import dev.kagzi.engine.value.Json;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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
 * Whoever awaits the end of a run. A run that ends through this server is told from memory; others
 * are read, many at a time, when a notice says so and from time to time in any case. Thread-safe.
 */
public final class RunCompletions implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(RunCompletions.class);
  private static final int READ_MAX = 1_000;
  private static final long LOOK_MS = 2_000;

  /**
   * Which of these have ended, and how; a run that is not there has no row. Outputs come up to a
   * sum of bytes and one more; those after it are to be asked for later.
   */
  public static final String SQL =
      """
      SELECT e.run_id, e.namespace, e.status, e.error, e.metadata, e.later,
             CASE WHEN NOT e.later THEN e.data END AS data
        FROM (SELECT r.run_id, r.namespace, r.status, r.error, p.data, p.metadata,
                     coalesce(sum(octet_length(p.data)) OVER (ORDER BY n.place)
                                - octet_length(p.data) > ?::bigint, false) AS later
                FROM unnest(?::uuid[]) WITH ORDINALITY AS n (run_id, place)
                JOIN kagzi.workflow_runs r ON r.run_id = n.run_id
                LEFT JOIN kagzi.workflow_payloads p
                       ON p.run_id = r.run_id AND p.kind = 'OUTPUT' AND r.status = 'COMPLETED'
               WHERE r.cron_expr IS NULL) AS e
      """;

  private final Database database;
  private final long readBytesMax;
  private final RecentCompletions recent = new RecentCompletions();
  private final Map<RunId, List<Waiter>> waiters = new ConcurrentHashMap<>();
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition filled = lock.newCondition();
  private Map<RunId, Boolean> toRead = new LinkedHashMap<>();
  private final Thread reader;
  private volatile boolean closed;

  public RunCompletions(Database database, long readBytesMax, EssentialThreads threads) {
    this.database = database;
    this.readBytesMax = readBytesMax;
    this.reader = threads.loop("kagzi-endings", this::readLoop);
    reader.start();
  }

  /** A wish to hear of an end; closed when nobody listens any more. */
  public interface Watch extends AutoCloseable {
    @Override
    void close();
  }

  private static final class Waiter {
    private final String namespace;
    private final Consumer<Optional<RunEnd>> onEnd;
    private volatile long lookedAtNanos = System.nanoTime();

    Waiter(String namespace, Consumer<Optional<RunEnd>> onEnd) {
      this.namespace = namespace;
      this.onEnd = onEnd;
    }

    /** True once per fallback interval. */
    boolean isDue(long nowNanos) {
      if (nowNanos - lookedAtNanos < TimeUnit.MILLISECONDS.toNanos(LOOK_MS)) {
        return false;
      }
      lookedAtNanos = nowNanos;
      return true;
    }
  }

  /** Calls back once: with the end, or with nothing when the namespace has no such run. */
  public Watch watch(String namespace, RunId run, Consumer<Optional<RunEnd>> onEnd) {
    Waiter waiter = new Waiter(namespace, onEnd);
    // Stand first, then look: an end in between is told twice, and the second time finds nobody.
    waiters.compute(
        run,
        (id, list) -> {
          List<Waiter> all = list == null ? new CopyOnWriteArrayList<>() : list;
          all.add(waiter);
          return all;
        });
    RunEnd end = recent.end(run, namespace);
    if (end != null) {
      tell(end, namespace);
    } else if (!recent.isActive(run, namespace)) {
      read(run);
    }
    return () -> forget(run, waiter);
  }

  private void forget(RunId run, Waiter waiter) {
    waiters.computeIfPresent(
        run,
        (id, list) -> {
          list.remove(waiter);
          return list.isEmpty() ? null : list;
        });
  }

  /** A run has started through this server: it need not be looked up. */
  public void started(String namespace, RunId run) {
    recent.started(namespace, run);
  }

  /** A run has ended through this server. */
  public void ended(RunEnd end) {
    String namespace = recent.ended(end);
    if (namespace != null) {
      tell(end, namespace);
    } else if (waiters.containsKey(end.runId())) {
      read(end.runId());
    }
  }

  /** A run has ended elsewhere: how must be read. */
  public void endedElsewhere(RunId run) {
    recent.forget(run);
    if (waiters.containsKey(run)) {
      read(run);
    }
  }

  /** Notices may be lost: read all that is awaited. */
  public void lookAtEverything() {
    lock.lock();
    try {
      waiters.keySet().forEach(run -> toRead.put(run, true));
      filled.signal();
    } finally {
      lock.unlock();
    }
  }

  private void tell(RunEnd end, String namespace) {
    List<Waiter> list = waiters.remove(end.runId());
    if (list == null) {
      return;
    }
    for (Waiter waiter : list) {
      call(waiter, waiter.namespace.equals(namespace) ? Optional.of(end) : Optional.empty());
    }
  }

  private static void call(Waiter waiter, Optional<RunEnd> end) {
    try {
      waiter.onEnd.accept(end);
    } catch (RuntimeException bug) {
      log.atError().setCause(bug).log("telling of an end failed");
    }
  }

  private void read(RunId run) {
    lock.lock();
    try {
      toRead.put(run, true);
      filled.signal();
    } finally {
      lock.unlock();
    }
  }

  private void readLoop() {
    long lastLook = System.nanoTime();
    while (!closed) {
      try {
        List<RunId> batch = take();
        if (batch.isEmpty()
            || System.nanoTime() - lastLook > TimeUnit.MILLISECONDS.toNanos(LOOK_MS)) {
          lastLook = System.nanoTime();
          lookAtSome();
        }
        if (!batch.isEmpty()) {
          readAndTell(batch);
        }
      } catch (InterruptedException stopped) {
        return;
      } catch (RuntimeException away) {
        // The waiters stay; the next look finds them again.
        log.atDebug().addKeyValue("cause", away.getMessage()).log("ends could not be read");
      }
    }
  }

  /** The slow fallback for notices that were lost. */
  private void lookAtSome() {
    lock.lock();
    try {
      long now = System.nanoTime();
      for (Map.Entry<RunId, List<Waiter>> entry : waiters.entrySet()) {
        for (Waiter waiter : entry.getValue()) {
          if (waiter.isDue(now)) {
            toRead.put(entry.getKey(), true);
          }
        }
      }
    } finally {
      lock.unlock();
    }
  }

  private List<RunId> take() throws InterruptedException {
    lock.lockInterruptibly();
    try {
      long left = TimeUnit.MILLISECONDS.toNanos(LOOK_MS);
      while (toRead.isEmpty() && left > 0) {
        left = filled.awaitNanos(left);
      }
      List<RunId> batch = new ArrayList<>();
      var all = toRead.keySet().iterator();
      while (all.hasNext() && batch.size() < READ_MAX) {
        batch.add(all.next());
        all.remove();
      }
      return batch;
    } finally {
      lock.unlock();
    }
  }

  private void readAndTell(List<RunId> batch) {
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
    for (RunId run : batch) {
      Found row = found.get(run);
      if (row == null) {
        tell(new RunEnd(run, RunStatus.PENDING, null, null), "");
      } else if (row.later) {
        read(run);
      } else if (row.end.status().isFinal()) {
        tell(row.end, row.namespace);
      } else {
        tellStrangers(run, row.namespace);
      }
    }
  }

  /** A run of another namespace is not there for whoever asks. */
  private void tellStrangers(RunId run, String namespace) {
    for (Waiter waiter : waiters.getOrDefault(run, List.of())) {
      if (!waiter.namespace.equals(namespace)) {
        forget(run, waiter);
        call(waiter, Optional.empty());
      }
    }
  }

  /** With {@code later} the output was not read. */
  private record Found(String namespace, RunEnd end, boolean later) {}

  private static Found map(Row row) throws SQLException {
    String error = row.textOrNull("error");
    byte[] data = row.bytes("data");
    return new Found(
        row.text("namespace"),
        new RunEnd(
            new RunId(row.uuid("run_id")),
            RunStatus.valueOf(row.text("status")),
            data == null ? null : new Payload(data, Json.decode(row.textOrNull("metadata"))),
            error == null ? null : Json.decodeFailure(error)),
        row.bool("later"));
  }

  /** How a run ended, if it has. */
  static @Nullable RunEnd read(Session session, RunId run) throws SQLException {
    return session
        .query(SQL)
        .bind(0L)
        .bindUuids(List.of(run), RunId::value)
        .first(RunCompletions::map)
        .map(Found::end)
        .orElse(null);
  }

  @Override
  public void close() {
    closed = true;
    reader.interrupt();
  }
}
