package dev.kagzi.engine.internal.worker;

import dev.kagzi.engine.config.WorkerConfig;
import dev.kagzi.engine.internal.db.Database;
import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.internal.dispatch.ClaimRegistry;
import dev.kagzi.engine.internal.dispatch.HeldRuns;
import dev.kagzi.engine.internal.journal.Journal;
import dev.kagzi.engine.internal.run.ExpireStep;
import dev.kagzi.engine.internal.run.FailCrashedRun;
import dev.kagzi.engine.internal.run.RunWrite;
import dev.kagzi.engine.internal.run.TakeClaim;
import dev.kagzi.engine.internal.run.TakeReason;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.StepRef;
import dev.kagzi.engine.value.WorkerId;
import java.sql.SQLException;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Takes runs away from workers that crashed, hang or lost their tasks. There are six ways, the
 * first six constants of {@link TakeReason}. This class has a method for each, in the same order. A
 * claim query takes over runs whose lease has ended. The other ways end, under the lock of the run,
 * in {@code transition.RunMutations}: in {@code take}, or in {@code fail} after too many crashes.
 * Thread-safe.
 */
public final class Recovery {
  private static final Logger log = LoggerFactory.getLogger(Recovery.class);
  private static final int STALE_MAX = 100;
  private static final int ORPHANED_MAX = 500;

  private final Database database;
  private final WorkerConfig config;
  private final ClaimRegistry registry;
  private final Journal<RunWrite<?>> journal;
  private final Consumer<WorkerId> evict;

  public Recovery(
      Database database,
      WorkerConfig config,
      ClaimRegistry registry,
      Journal<RunWrite<?>> journal,
      Consumer<WorkerId> evict) {
    this.database = database;
    this.config = config;
    this.registry = registry;
    this.journal = journal;
    this.evict = evict;
  }

  /**
   * {@link TakeReason#STREAM_BROKEN}: called a while after the break. Releases nothing if the
   * worker has attached again, to any server, or sent a heartbeat since.
   */
  void releaseStreamBroken(WorkerId worker, UUID attachId, long brokenNanos) {
    long brokenMs = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - brokenNanos);
    releaseOffline(
        TakeReason.STREAM_BROKEN,
        tx -> WorkerRows.markDetachedOffline(tx, worker, attachId, brokenMs).stream().toList());
  }

  /**
   * {@link TakeReason#WORKER_STALE}: marks workers whose last heartbeat is too old as offline and
   * releases their claims; returns how many workers. Blocks.
   */
  public int releaseStale() {
    return releaseOffline(
        TakeReason.WORKER_STALE,
        tx -> WorkerRows.markStaleOffline(tx, config.stale().toMillis(), STALE_MAX));
  }

  /**
   * {@link TakeReason#LEASE_ENDED}: a claim query takes over runs whose lease has ended, counts the
   * crash and, from the second one in a row, delays the run ({@link
   * dev.kagzi.engine.internal.dispatch.ClaimRuns}). It leaves a run whose workers crashed too often
   * to this method, which fails it.
   */
  public void failCrashed(RunId run) {
    journal.append(new FailCrashedRun(run));
  }

  /**
   * {@link TakeReason#CLAIM_ORPHANED}: releases claims of workers that have been offline for a
   * while, if the run has a lease of its own; returns how many. The server that marked the worker
   * offline may have died before it released the claims, and the run would wait for the end of its
   * long lease. A worker that registered again has listed its claims by then and keeps them.
   * Blocks.
   */
  public int releaseOrphaned() {
    List<Claim> orphaned =
        database.read(
            session -> HeldRuns.orphaned(session, config.stale().toMillis(), ORPHANED_MAX));
    if (!orphaned.isEmpty()) {
      take(orphaned, TakeReason.CLAIM_ORPHANED);
      log.atWarn()
          .addKeyValue("claims", orphaned.size())
          .addKeyValue("reason", TakeReason.CLAIM_ORPHANED)
          .log("claims released");
    }
    return orphaned.size();
  }

  /**
   * {@link TakeReason#CLAIM_UNLISTED}: releases claims that a heartbeat does not list, but only
   * those that were handed out before {@code beforeNanos}. A younger claim may still be in transit
   * to the worker.
   */
  void releaseUnlisted(WorkerId worker, List<Claim> listed, long beforeNanos) {
    List<Claim> unlisted = registry.unlisted(worker, listed, beforeNanos);
    if (!unlisted.isEmpty()) {
      log.atWarn()
          .addKeyValue("worker", worker)
          .addKeyValue("claims", unlisted.size())
          .addKeyValue("reason", TakeReason.CLAIM_UNLISTED)
          .log("claims released");
      // Remove the entries even if the release fails: a wrong entry must not be released again.
      unlisted.forEach(registry::remove);
      take(unlisted, TakeReason.CLAIM_UNLISTED);
    }
  }

  /**
   * {@link TakeReason#STEP_HUNG}: fails the attempt, whose policy decides when the run continues,
   * and takes the run from its worker.
   */
  public void releaseHung(StepRef step) {
    journal.append(new ExpireStep(step));
  }

  private int releaseOffline(TakeReason reason, Session.Work<List<WorkerRows.Known>> markOffline) {
    List<WorkerRows.Known> gone =
        database.write(
            tx -> {
              List<WorkerRows.Known> marked = markOffline.run(tx);
              WorkerRows.event(tx, marked, "OFFLINE", reason.text());
              return marked;
            });
    gone.forEach(worker -> releaseAll(worker, reason));
    return gone.size();
  }

  /**
   * Releases the claims of a worker that has been marked offline. Tasks that still wait for its
   * next poll are released first and do not count as crashes: the worker never received them.
   */
  public void releaseAll(WorkerRows.Known worker, TakeReason reason) {
    evict.accept(worker.id());
    List<Claim> held = database.read(session -> held(session, worker));
    take(held, reason);
    log.atLevel(reason == TakeReason.WORKER_LEFT ? Level.INFO : Level.WARN)
        .addKeyValue("worker", worker.id())
        .addKeyValue("namespace", worker.queue().namespace())
        .addKeyValue("queue", worker.queue().queue())
        .addKeyValue("claims", held.size())
        .addKeyValue("reason", reason)
        .log("worker is offline, claims released");
  }

  public List<Claim> held(Session session, WorkerRows.Known worker) throws SQLException {
    return HeldRuns.of(
            session, worker.id(), worker.queue(), worker.types(), config.lease().toMillis())
        .stream()
        .map(HeldRuns.Held::claim)
        .toList();
  }

  /**
   * Returns whether the worker has runs, including those whose lease has ended and that no other
   * worker has claimed.
   */
  public boolean hasRuns(Session session, WorkerRows.Known worker) throws SQLException {
    return !held(session, worker).isEmpty()
        || HeldRuns.hasLapsed(session, worker.id(), worker.queue(), worker.types());
  }

  /** Takes the claims from their holders, in the lanes of their runs. Does not wait. */
  public void take(List<Claim> claims, TakeReason reason) {
    if (!claims.isEmpty()) {
      journal.append(
          claims.stream().<RunWrite<?>>map(claim -> new TakeClaim(claim, reason)).toList());
    }
  }
}
