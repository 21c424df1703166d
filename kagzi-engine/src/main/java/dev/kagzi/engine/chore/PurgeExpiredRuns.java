package dev.kagzi.engine.chore;

import dev.kagzi.engine.db.Database;
import dev.kagzi.engine.db.Session;
import dev.kagzi.engine.message.Messages;
import dev.kagzi.engine.namespace.Namespaces;
import dev.kagzi.engine.request.IdempotentCalls;
import dev.kagzi.engine.run.ExpiredRuns;
import dev.kagzi.engine.run.RunCounts;
import dev.kagzi.engine.step.DeleteSteps;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.worker.Workers;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Deletes runs that ended long ago, with all that belongs to them, and workers that left long ago.
 * Goes through the namespaces one after the other, for part of its time and in small transactions:
 * a run and its rows go together, and what takes long is made smaller the next time. The steps of a
 * run with a long history follow it in slices; that they do is written down with the run's end. How
 * long a namespace keeps its runs is asked anew each time: who says that they stay is heard at
 * once.
 */
public final class PurgeExpiredRuns implements Chore {
  private static final Logger log = LoggerFactory.getLogger(PurgeExpiredRuns.class);
  private static final long TURN_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
  private static final long BATCH_MS_MAX = 50;
  private static final int BATCH_MAX = 500;
  private static final int WEIGHT_MIN = 100;
  private static final int WEIGHT_MAX = 2_000;
  private static final int SLICE_MAX = 1_000;
  private static final int WORKERS_MAX = 500;
  private static final int ZEROS_MAX = 1_000;
  private static final int REQUESTS_MAX = 1_000;

  private final Database database;
  private final Namespaces namespaces;
  private final Workers workers;
  private final RetentionConfig config;
  private final Deque<String> left = new ArrayDeque<>();
  private final Deque<RunId> expired = new ArrayDeque<>();
  private final Deque<RunId> stepsLeft = new ArrayDeque<>();
  private @Nullable String lastNamespace;
  private @Nullable String namespace;
  private ExpiredRuns.Place place = ExpiredRuns.Place.BEGIN;
  private boolean underWay;
  private long nextNanos = System.nanoTime();
  private int batch = BATCH_MAX / 10;
  private int weight = WEIGHT_MAX / 4;
  private long forgotten;
  private long workersForgotten;

  public PurgeExpiredRuns(
      Database database, Namespaces namespaces, Workers workers, RetentionConfig config) {
    this.database = database;
    this.namespaces = namespaces;
    this.workers = workers;
    this.config = config;
  }

  @Override
  public void run() {
    long began = System.nanoTime();
    if (!underWay && began - nextNanos < 0) {
      return;
    }
    if (!underWay) {
      underWay = true;
      stepsLeft.addAll(
          database.read(session -> PendingMaintenance.runsWithStepsLeft(session, BATCH_MAX)));
    }
    while (underWay
        && System.nanoTime() - began < TURN_NANOS
        && !Thread.currentThread().isInterrupted()) {
      if (!stepsLeft.isEmpty()) {
        forgetSteps(stepsLeft.element());
      } else if (!expired.isEmpty()) {
        if (!forgetSome()) {
          return;
        }
      } else if (namespace != null) {
        walkOn(namespace);
      } else if (!nextNamespace()) {
        end(began);
      }
    }
  }

  private boolean nextNamespace() {
    if (left.isEmpty()) {
      left.addAll(namespaces.names(lastNamespace));
    }
    namespace = left.poll();
    if (namespace == null) {
      return false;
    }
    lastNamespace = namespace;
    place = ExpiredRuns.Place.BEGIN;
    return true;
  }

  private void walkOn(String of) {
    List<ExpiredRuns.Found> slice = database.read(session -> slice(session, of));
    for (ExpiredRuns.Found run : slice) {
      place = run.place();
      if (run.expired()) {
        expired.add(run.runId());
      }
    }
    if (slice.size() < SLICE_MAX && expired.isEmpty()) {
      namespace = null;
    }
  }

  private List<ExpiredRuns.Found> slice(Session session, String of) throws SQLException {
    long keepMs = keepMs(session, of);
    return keepMs == 0 ? List.of() : ExpiredRuns.walk(session, of, keepMs, place, SLICE_MAX);
  }

  private long keepMs(Session session, String of) throws SQLException {
    return Namespaces.retentionMs(session, of, config.runs().toMillis());
  }

  /** False when another server is at it. */
  private boolean forgetSome() {
    String of = namespace;
    if (of == null) {
      throw new IllegalStateException("namespace: none (expected: the one of the runs)");
    }
    Some some = some();
    long began = System.nanoTime();
    int count = database.write(tx -> forget(tx, some, of));
    if (count < 0) {
      return false;
    }
    if (some.stepsFollow && count > 0) {
      stepsLeft.addAll(some.runs);
    }
    learn(began);
    forgotten += count;
    some.runs.forEach(run -> expired.poll());
    return true;
  }

  private void learn(long beganNanos) {
    if (System.nanoTime() - beganNanos > TimeUnit.MILLISECONDS.toNanos(BATCH_MS_MAX)) {
      batch = Math.max(1, batch / 2);
      weight = Math.max(WEIGHT_MIN, weight / 2);
    } else {
      batch = Math.min(BATCH_MAX, batch + 10);
      weight = Math.min(WEIGHT_MAX, weight + WEIGHT_MIN);
    }
  }

  private void forgetSteps(RunId run) {
    long began = System.nanoTime();
    boolean all =
        database.write(
            tx -> {
              boolean last = DeleteSteps.deleteSome(tx, run, weight) == 0;
              if (last) {
                PendingMaintenance.take(tx, PendingMaintenance.steps(run));
              }
              return last;
            });
    learn(began);
    if (all) {
      stepsLeft.remove();
    }
  }

  /**
   * What goes in one transaction.
   *
   * @param stepsFollow whether it is one run, whose steps are too many to go with it
   */
  private record Some(List<RunId> runs, boolean stepsFollow) {}

  /** As many as go quickly; one with a long or heavy history goes alone. */
  private Some some() {
    List<RunId> next = expired.stream().limit(batch).toList();
    Map<RunId, Integer> steps = database.read(session -> DeleteSteps.weigh(session, next, weight));
    Map<RunId, Integer> payloads = database.read(session -> ExpiredRuns.weigh(session, next));
    List<RunId> some = new ArrayList<>();
    int sum = 0;
    for (RunId run : next) {
      sum += steps.getOrDefault(run, 0) + payloads.getOrDefault(run, 0);
      if (some.isEmpty() || sum <= weight) {
        some.add(run);
      } else {
        break;
      }
    }
    return new Some(some, steps.getOrDefault(some.getFirst(), 0) >= weight);
  }

  private int forget(Session tx, Some some, String of) throws SQLException {
    if (!ExpiredRuns.takeTurn(tx)) {
      return -1;
    }
    long keepMs = keepMs(tx, of);
    if (keepMs == 0) {
      return 0;
    }
    List<RunId> runs = ExpiredRuns.lock(tx, some.runs, keepMs);
    if (!runs.isEmpty()) {
      if (some.stepsFollow) {
        PendingMaintenance.owe(tx, PendingMaintenance.steps(runs.getFirst()));
      } else {
        DeleteSteps.delete(tx, runs);
      }
      Messages.delete(tx, runs);
      ExpiredRuns.delete(tx, runs);
    }
    return runs.size();
  }

  private void end(long nowNanos) {
    Duration keep = config.workers();
    int gone = keep.isZero() ? 0 : workers.forgetOffline(keep.toMillis(), WORKERS_MAX);
    workersForgotten += gone;
    int zeros = database.write(tx -> RunCounts.forgetZeros(tx, ZEROS_MAX));
    int requests = database.write(tx -> IdempotentCalls.purge(tx, REQUESTS_MAX));
    if (gone == WORKERS_MAX || zeros == ZEROS_MAX || requests == REQUESTS_MAX) {
      // There may be more: the next round comes by here again.
      return;
    }
    if (forgotten > 0 || workersForgotten > 0) {
      log.atInfo()
          .addKeyValue("runs", forgotten)
          .addKeyValue("workers", workersForgotten)
          .log("deleted what ended long ago");
    }
    forgotten = 0;
    workersForgotten = 0;
    lastNamespace = null;
    underWay = false;
    nextNanos = nowNanos + config.interval().toNanos();
  }
}
