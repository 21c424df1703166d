package dev.kagzi.engine.run;

import dev.kagzi.engine.db.Database;
import dev.kagzi.engine.db.Session;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.WorkerId;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiPredicate;
import java.util.stream.Stream;
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
      SELECT created_at, status, status = 'RUNNING' AND epoch = ? AND locked_by = ? AS held
        FROM kagzi.workflow_runs
       WHERE run_id = ? AND namespace || '' = ?
      """;

  /** A run that another server starts may not be there yet. */
  private static final List<Duration> LOOK_AFTER =
      Stream.of(0, 20, 80, 300, 1_000).map(Duration::ofMillis).toList();

  private final Database database;
  private final BiPredicate<WorkerId, Claim> isHeld;

  /** The last one, which may be over. */
  private final AtomicReference<@Nullable StartRun> last = new AtomicReference<>();

  /**
   * @param isHeld whether a worker has a claim, as far as this server knows
   */
  public EarlyStarts(Database database, BiPredicate<WorkerId, Claim> isHeld) {
    this.database = database;
    this.isHeld = isHeld;
  }

  /**
   * What has become of a start.
   *
   * @param status of the run, whoever has it
   * @param isHeld by the worker in question
   */
  public record Found(Instant createdAt, RunStatus status, boolean isHeld) {
    static final Found NOTHING = new Found(Instant.EPOCH, RunStatus.RUNNING, false);
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

  /** Whether the run has started, and is the worker's. */
  public CompletableFuture<Found> find(String namespace, Claim claim, WorkerId worker) {
    StartRun start = last.get();
    Instant claimedAt = start == null ? null : start.claimedAt(namespace, claim, worker);
    if (claimedAt != null && isHeld.test(worker, claim)) {
      return CompletableFuture.completedFuture(new Found(claimedAt, RunStatus.RUNNING, true));
    }
    // What this server has tried to start is there by now, or never will be.
    boolean own = start != null && start.runId().equals(claim.runId());
    CompletableFuture<Found> answer = new CompletableFuture<>();
    Thread.ofVirtual()
        .name("kagzi-confirm")
        .start(
            () -> {
              try {
                answer.complete(look(namespace, claim, worker, own));
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                answer.completeExceptionally(e);
              } catch (RuntimeException | Error e) {
                answer.completeExceptionally(e);
              }
            });
    return answer;
  }

  private Found look(String namespace, Claim claim, WorkerId worker, boolean once)
      throws InterruptedException {
    for (Duration pause : once ? List.of(Duration.ZERO) : LOOK_AFTER) {
      Thread.sleep(pause);
      Optional<Found> found = database.answer(session -> find(session, namespace, claim, worker));
      if (found.isPresent()) {
        return found.get();
      }
    }
    return Found.NOTHING;
  }

  private static Optional<Found> find(
      Session session, String namespace, Claim claim, WorkerId worker) throws SQLException {
    return session
        .query(SQL)
        .bind(claim.epoch())
        .bind(worker.value())
        .bind(claim.runId().value())
        .bind(namespace)
        .first(
            row ->
                new Found(
                    row.time("created_at"),
                    RunStatus.valueOf(row.text("status")),
                    row.bool("held")));
  }
}
