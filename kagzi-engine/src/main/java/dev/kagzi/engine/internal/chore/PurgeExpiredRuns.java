package dev.kagzi.engine.internal.chore;

import dev.kagzi.engine.config.RetentionConfig;
import dev.kagzi.engine.internal.db.Database;
import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.internal.message.Messages;
import dev.kagzi.engine.internal.namespace.NamespaceRows;
import dev.kagzi.engine.internal.published.PublishedRows;
import dev.kagzi.engine.internal.request.IdempotentCalls;
import dev.kagzi.engine.internal.run.ExpiredRuns;
import dev.kagzi.engine.internal.run.RunCounts;
import dev.kagzi.engine.internal.signal.SignalRows;
import dev.kagzi.engine.internal.step.DeleteSteps;
import dev.kagzi.engine.namespace.Namespaces;
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
 * Deletes runs that ended longer ago than their retention, with all their rows. It walks the
 * namespaces one after the other, in time slices and small transactions. A slow transaction makes
 * the next one smaller. The steps of a run with a long history are deleted in several transactions,
 * and the run in the last one: as long as steps are left, no start can take the id. A row of {@code
 * maintenance_tasks} marks such a run, so that nobody can resume it. Every transaction that deletes
 * runs reads the namespace's retention again, so that a longer one applies at once.
 *
 * <p>At the end of a round, it deletes workers that have been offline for long, counts that are
 * zero, and old rows of {@code run_rates} and {@code requests}.
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
  private static final int RATES_MAX = 1_000;
  private static final int REQUESTS_MAX = 1_000;

  /**
   * Prefix of a task of an older server, which deleted long runs before their steps; the id of a
   * deleted run that still has steps or signals follows.
   */
  private static final String STEPS_TASK = "STEPS ";

  private static final String ADD_TASK_SQL =
      "INSERT INTO kagzi.maintenance_tasks (task) VALUES (?) ON CONFLICT DO NOTHING";
  private static final String REMOVE_TASKS_SQL =
      "DELETE FROM kagzi.maintenance_tasks WHERE task = ANY (?::text[])";

  private final Database database;
  private final Namespaces namespaces;
  private final Workers workers;
  private final RetentionConfig config;
  private final Deque<String> namespacesLeft = new ArrayDeque<>();
  private final Deque<RunId> expired = new ArrayDeque<>();
  private final Deque<RunId> stepsLeft = new ArrayDeque<>();
  private @Nullable String lastNamespace;
  private @Nullable String namespace;
  private ExpiredRuns.Position position = ExpiredRuns.Position.BEGIN;
  private boolean inProgress;

  /** Whether the first of the expired runs is being deleted in slices. */
  private boolean inSlices;

  private long nextNanos = System.nanoTime();
  private int batch = BATCH_MAX / 10;
  private int weight = WEIGHT_MAX / 4;
  private long runsDeleted;
  private long workersDeleted;

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
    if (!inProgress && began - nextNanos < 0) {
      return;
    }
    if (!inProgress) {
      inProgress = true;
      stepsLeft.addAll(database.read(PurgeExpiredRuns::runsWithStepsLeft));
    }
    while (inProgress
        && System.nanoTime() - began < TURN_NANOS
        && !Thread.currentThread().isInterrupted()) {
      if (!stepsLeft.isEmpty()) {
        if (!deleteStepsLeft(stepsLeft.element())) {
          return;
        }
      } else if (!expired.isEmpty()) {
        if (!deleteBatch()) {
          return;
        }
      } else if (namespace != null) {
        findExpired(namespace);
      } else if (!advanceNamespace()) {
        finishRound(began);
      }
    }
  }

  private static List<RunId> runsWithStepsLeft(Session session) throws SQLException {
    return session
        .query("SELECT task FROM kagzi.maintenance_tasks WHERE starts_with(task, ?) LIMIT ?")
        .bind(STEPS_TASK)
        .bind(BATCH_MAX)
        .list(row -> RunId.parse(row.text("task").substring(STEPS_TASK.length())).orElseThrow());
  }

  private boolean advanceNamespace() {
    if (namespacesLeft.isEmpty()) {
      namespacesLeft.addAll(namespaces.names(lastNamespace));
    }
    namespace = namespacesLeft.poll();
    if (namespace == null) {
      return false;
    }
    lastNamespace = namespace;
    position = ExpiredRuns.Position.BEGIN;
    return true;
  }

  private void findExpired(String of) {
    List<ExpiredRuns.Found> slice = database.read(session -> slice(session, of));
    for (ExpiredRuns.Found run : slice) {
      position = run.position();
      if (run.expired()) {
        expired.add(run.runId());
      }
    }
    if (slice.size() < SLICE_MAX && expired.isEmpty()) {
      namespace = null;
    }
  }

  private List<ExpiredRuns.Found> slice(Session session, String of) throws SQLException {
    long retentionMs = retentionMs(session, of);
    return retentionMs == 0
        ? List.of()
        : ExpiredRuns.scan(session, of, retentionMs, position, SLICE_MAX);
  }

  private long retentionMs(Session session, String of) throws SQLException {
    return NamespaceRows.retentionMs(session, of, config.runs().toMillis());
  }

  /** Returns false when another server is purging. */
  private boolean deleteBatch() {
    String of = namespace;
    if (of == null) {
      throw new IllegalStateException("namespace: none (expected: the one of the runs)");
    }
    Selection selected = selectBatch();
    long began = System.nanoTime();
    int count = database.write(tx -> deleteRuns(tx, selected, of));
    if (count < 0) {
      return false;
    }
    adaptBatchSize(began);
    inSlices = selected.isSlice && count > 0;
    if (!inSlices) {
      runsDeleted += count;
      selected.runs.forEach(run -> expired.poll());
    }
    return true;
  }

  private void adaptBatchSize(long beganNanos) {
    if (System.nanoTime() - beganNanos > TimeUnit.MILLISECONDS.toNanos(BATCH_MS_MAX)) {
      batch = Math.max(1, batch / 2);
      weight = Math.max(WEIGHT_MIN, weight / 2);
    } else {
      batch = Math.min(BATCH_MAX, batch + 10);
      weight = Math.min(WEIGHT_MAX, weight + WEIGHT_MIN);
    }
  }

  /** Returns false when another server is purging. */
  private boolean deleteStepsLeft(RunId run) {
    long began = System.nanoTime();
    int count = database.write(tx -> deleteStepsLeft(tx, run));
    if (count < 0) {
      return false;
    }
    adaptBatchSize(began);
    if (count == 0) {
      stepsLeft.remove();
    }
    return true;
  }

  private int deleteStepsLeft(Session tx, RunId run) throws SQLException {
    if (!ExpiredRuns.tryLockDeletion(tx)) {
      return -1;
    }
    // If another server has removed the task, the steps belong to a new run with the same id.
    if (!hasTask(tx, STEPS_TASK + run)) {
      return 0;
    }
    int count = deleteSlice(tx, run);
    if (count == 0) {
      removeTasks(tx, STEPS_TASK, List.of(run));
    }
    return count;
  }

  private static boolean hasTask(Session tx, String task) throws SQLException {
    return tx.query("SELECT task FROM kagzi.maintenance_tasks WHERE task = ?")
        .bind(task)
        .first(row -> true)
        .orElse(false);
  }

  private static void removeTasks(Session tx, String prefix, List<RunId> runs) throws SQLException {
    tx.query(REMOVE_TASKS_SQL).bindTexts(runs, run -> prefix + run).update();
  }

  private int deleteSlice(Session tx, RunId run) throws SQLException {
    int steps = DeleteSteps.deleteSome(tx, run, weight);
    return steps > 0 ? steps : SignalRows.deleteSome(tx, run, weight);
  }

  /**
   * The runs of one transaction.
   *
   * @param isSlice true for a single run whose steps and signals are too many for one transaction:
   *     only some of them are deleted
   */
  private record Selection(List<RunId> runs, boolean isSlice) {}

  /** Selects as many runs as a short transaction can delete; a run with many rows alone. */
  private Selection selectBatch() {
    List<RunId> next = expired.stream().limit(inSlices ? 1 : batch).toList();
    Map<RunId, Integer> steps =
        database.read(session -> DeleteSteps.storedRows(session, next, weight));
    Map<RunId, Integer> signals =
        database.read(session -> SignalRows.storedRows(session, next, weight));
    Map<RunId, Integer> payloads = database.read(session -> ExpiredRuns.storedRows(session, next));
    Map<RunId, Integer> published =
        database.read(session -> PublishedRows.storedRows(session, next));
    RunId first = next.getFirst();
    if (steps.getOrDefault(first, 0) + signals.getOrDefault(first, 0) >= weight) {
      return new Selection(List.of(first), true);
    }
    List<RunId> selected = new ArrayList<>();
    int sum = 0;
    for (RunId run : next) {
      sum += steps.getOrDefault(run, 0) + signals.getOrDefault(run, 0);
      sum += payloads.getOrDefault(run, 0) + published.getOrDefault(run, 0);
      if (selected.isEmpty() || sum <= weight) {
        selected.add(run);
      } else {
        break;
      }
    }
    return new Selection(selected, false);
  }

  private int deleteRuns(Session tx, Selection selected, String of) throws SQLException {
    if (!ExpiredRuns.tryLockDeletion(tx)) {
      return -1;
    }
    long retentionMs = retentionMs(tx, of);
    if (retentionMs == 0) {
      return 0;
    }
    List<RunId> runs = ExpiredRuns.lock(tx, selected.runs, retentionMs);
    if (runs.isEmpty()) {
      return 0;
    }
    if (selected.isSlice) {
      tx.query(ADD_TASK_SQL).bind(ExpiredRuns.PURGE_TASK + runs.getFirst()).update();
      int unused = deleteSlice(tx, runs.getFirst());
    } else {
      DeleteSteps.delete(tx, runs);
      SignalRows.delete(tx, runs);
      PublishedRows.delete(tx, runs);
      Messages.delete(tx, runs);
      ExpiredRuns.delete(tx, runs);
      removeTasks(tx, ExpiredRuns.PURGE_TASK, runs);
    }
    return runs.size();
  }

  private void finishRound(long nowNanos) {
    Duration keep = config.workers();
    int workersGone = keep.isZero() ? 0 : workers.purgeOffline(keep.toMillis(), WORKERS_MAX);
    workersDeleted += workersGone;
    int zeros = database.write(tx -> RunCounts.deleteZeros(tx, ZEROS_MAX));
    int rates = database.write(tx -> RunCounts.deleteOldRates(tx, RATES_MAX));
    int requests = database.write(tx -> IdempotentCalls.purge(tx, REQUESTS_MAX));
    if (workersGone == WORKERS_MAX
        || zeros == ZEROS_MAX
        || rates == RATES_MAX
        || requests == REQUESTS_MAX) {
      // A full batch: there may be more, so this method is called again before the round ends.
      return;
    }
    if (runsDeleted > 0 || workersDeleted > 0) {
      log.atInfo()
          .addKeyValue("runs", runsDeleted)
          .addKeyValue("workers", workersDeleted)
          .log("deleted expired runs and workers");
    }
    runsDeleted = 0;
    workersDeleted = 0;
    lastNamespace = null;
    inProgress = false;
    nextNanos = nowNanos + config.interval().toNanos();
  }
}
