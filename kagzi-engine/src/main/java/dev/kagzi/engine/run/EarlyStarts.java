package dev.kagzi.engine.run;

import dev.kagzi.engine.db.Database;
import dev.kagzi.engine.db.Session;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.WorkerId;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Starts whose run a worker has before they are durable: its code begins while the start is being
 * written, and waits before its first effect. A run that has none ends in little more than the time
 * of two commits.
 *
 * <p>One at a time: a server that has more to do writes many starts with one commit, and hands them
 * over together. Thread-safe.
 */
public final class EarlyStarts {
  // The namespace is compared in a form that no index has: the primary key is to be taken.
  static final String SQL =
      """
      SELECT created_at
        FROM kagzi.workflow_runs
       WHERE run_id = ? AND namespace || '' = ? AND epoch = ? AND locked_by = ?
         AND status = 'RUNNING'
      """;

  private final Database database;

  /** The last one, which may be over. */
  private final AtomicReference<@Nullable StartRun> last = new AtomicReference<>();

  public EarlyStarts(Database database) {
    this.database = database;
  }

  /** Hands the run over now if that is possible; the start is on its way to the database. */
  void offer(StartRun start) {
    Handover slot = start.handover();
    StartRun before = last.get();
    if (slot != null
        && mayBeEarly(start)
        && (before == null || before.done().isDone())
        && last.compareAndSet(before, start)) {
      slot.handEarly(start);
    }
  }

  // With an external id there may well be another run: code must not begin for nothing. A deadline
  // counts from a time that only the database knows.
  private static boolean mayBeEarly(StartRun start) {
    return start.isPlain()
        && start.request().externalId().isEmpty()
        && start.lineage().equals(StartRun.Lineage.CLIENT);
  }

  /** The start of the run, if it is under way: what is reported of the run has to wait for it. */
  public @Nullable CompletableFuture<StartResult> underWay(RunId run) {
    StartRun start = last.get();
    return start == null || start.done().isDone() || !start.runId().equals(run)
        ? null
        : start.done();
  }

  /** When the run was started, if it was, and if the claim is the worker's. */
  public CompletableFuture<Optional<Instant>> createdAt(
      String namespace, Claim claim, WorkerId worker) {
    StartRun start = last.get();
    Instant known = start == null ? null : start.claimedAt(namespace, claim, worker);
    if (known != null) {
      return CompletableFuture.completedFuture(Optional.of(known));
    }
    CompletableFuture<Optional<Instant>> answer = new CompletableFuture<>();
    Thread.ofVirtual()
        .name("kagzi-confirm")
        .start(
            () -> {
              try {
                answer.complete(database.read(session -> find(session, namespace, claim, worker)));
              } catch (RuntimeException | Error e) {
                answer.completeExceptionally(e);
              }
            });
    return answer;
  }

  private static Optional<Instant> find(
      Session session, String namespace, Claim claim, WorkerId worker) throws SQLException {
    return session
        .query(SQL)
        .bind(claim.runId().value())
        .bind(namespace)
        .bind(claim.epoch())
        .bind(worker.value())
        .first(row -> row.time("created_at"));
  }
}
