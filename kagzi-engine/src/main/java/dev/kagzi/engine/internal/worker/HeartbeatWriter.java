package dev.kagzi.engine.internal.worker;

import dev.kagzi.engine.internal.db.DatabaseFailureLog;
import dev.kagzi.engine.internal.db.Row;
import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.internal.db.SqlErrors;
import dev.kagzi.engine.internal.dispatch.HeldRuns;
import dev.kagzi.engine.internal.journal.BatchWriter;
import dev.kagzi.engine.internal.value.Uuids;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.WorkerId;
import dev.kagzi.engine.value.WorkerStatus;
import dev.kagzi.engine.worker.WorkerHeartbeat;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.event.Level;

/**
 * Stores heartbeats and renews leases. A lease with less than half of its length left is set to now
 * plus its length. So a heartbeat that is executed twice does not extend the lease twice.
 */
final class HeartbeatWriter implements BatchWriter<HeartbeatWrite> {
  /**
   * A heartbeat that is sent again after a lost answer finds its own time and does not count twice.
   * SKIP LOCKED: one locked row must not delay the heartbeats of all other workers.
   */
  static final String BEAT_SQL =
      """
      UPDATE kagzi.workers w
         SET last_heartbeat_at = kagzi.clock(),
             active_count = coalesce(n.active_count, w.active_count),
             sends_count = CASE WHEN n.active_count IS NULL THEN w.sends_count ELSE true END,
             total_completed = greatest(n.completed_total, w.total_completed
               + CASE WHEN w.last_heartbeat_at = kagzi.at(n.before_us) THEN 0 ELSE n.completed END),
             total_failed = greatest(n.failed_total, w.total_failed
               + CASE WHEN w.last_heartbeat_at = kagzi.at(n.before_us) THEN 0 ELSE n.failed END)
        FROM (SELECT x.worker_id, b.active_count, b.completed, b.failed, b.completed_total,
                     b.failed_total, b.before_us, b.namespace
                FROM unnest(?::uuid[], ?::int[], ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[],
                            ?::bigint[], ?::text[])
                       AS b (worker_id, active_count, completed, failed, completed_total,
                             failed_total, before_us, namespace)
                JOIN kagzi.workers x ON x.worker_id = b.worker_id
               ORDER BY x.worker_id
                 FOR NO KEY UPDATE OF x SKIP LOCKED) AS n
       WHERE w.worker_id = n.worker_id
         AND w.status <> 'OFFLINE'
         AND w.namespace || '' = coalesce(n.namespace, w.namespace)
      RETURNING w.worker_id, w.status, w.namespace,
                (extract(epoch FROM w.last_heartbeat_at) * 1000000)::bigint AS recorded_us
      """;

  /**
   * Finds the workers that {@link #BEAT_SQL} skipped because another transaction held their row
   * lock. They count as alive.
   */
  static final String LOCKED_SQL =
      """
      SELECT w.worker_id, w.status, w.namespace
        FROM unnest(?::uuid[], ?::text[]) AS n (worker_id, namespace)
        JOIN kagzi.workers w ON w.worker_id = n.worker_id
       WHERE w.status || '' <> 'OFFLINE'
         AND w.namespace || '' = coalesce(n.namespace, w.namespace)
      """;

  /**
   * A run of another namespace is treated as missing: its claim is reported as lost, and the run is
   * not changed.
   *
   * <p>Compares times instead of subtracting them. A run that waits without a timeout has {@code
   * infinity}, which PostgreSQL before 17 cannot subtract.
   */
  static final String LOOK_SQL =
      """
      SELECT n.worker_id, n.run_id, n.epoch, r.epoch AS present_epoch, r.status, r.locked_by,
             r.cancel_epoch = r.epoch AS cancel_requested,
             r.available_at < kagzi.clock() + coalesce(r.heartbeat_timeout_ms, n.lease_ms) / 2
                                                * interval '1 millisecond' AS short
        FROM unnest(?::uuid[], ?::uuid[], ?::int[], ?::bigint[], ?::text[])
               AS n (worker_id, run_id, epoch, lease_ms, namespace)
        LEFT JOIN kagzi.workflow_runs r
          ON r.run_id = n.run_id AND r.namespace || '' = n.namespace
      """;

  /**
   * Compares the epoch again under the lock. SKIP LOCKED: one row that is locked for long must not
   * delay the heartbeats of all workers. The run's own lane renews a locked run.
   */
  static final String RENEW_SQL =
      """
      UPDATE kagzi.workflow_runs r
         SET available_at = least(
               kagzi.clock() + coalesce(r.heartbeat_timeout_ms, ?) * interval '1 millisecond',
               kagzi.at(l.until_us)),
             locked_by = l.worker_id
        FROM (SELECT x.run_id, n.epoch, n.worker_id, n.until_us
                FROM unnest(?::uuid[], ?::int[], ?::uuid[], ?::bigint[])
                       AS n (run_id, epoch, worker_id, until_us)
                JOIN kagzi.workflow_runs x ON x.run_id = n.run_id
               ORDER BY x.run_id
                 FOR NO KEY UPDATE OF x SKIP LOCKED) AS l
       WHERE r.run_id = l.run_id
         AND r.epoch = l.epoch
         AND r.status = 'RUNNING'
      RETURNING r.run_id
      """;

  /**
   * The lane of heartbeats has its own session, whose commits do not wait for the disk. Only a
   * crash of PostgreSQL or its machine can lose them: about the last half second.
   *
   * <p>The next heartbeat of each worker restores the lost data: the time of the heartbeat, the
   * holder of a run, and the lease, which is renewed when less than half is left. A lost renewal
   * can release a run early. It cannot make two claims valid: the run's epoch is the fence, and
   * only durable commits change it. Only the deltas that a worker added to its totals in that half
   * second stay lost.
   */
  static final String ASYNC_COMMIT_SQL = "SET synchronous_commit = off";

  private final long leaseMs;
  private final Listener listener;

  HeartbeatWriter(long leaseMs, Listener listener) {
    this.leaseMs = leaseMs;
    this.listener = listener;
  }

  /** Called after the commit. */
  interface Listener {
    /** These workers are alive: their heartbeats were stored, or skipped because of a row lock. */
    void stored(Map<WorkerId, WorkerStatus> present);

    /** The run was locked: the run's own lane must renew the lease of this claim. */
    void renewElsewhere(WorkerId worker, Claim claim);
  }

  /**
   * The counts of all heartbeats of one worker in one batch: the sums of the deltas, the largest
   * totals, and the last active count.
   */
  private record Counts(
      @Nullable Integer active,
      long completed,
      long failed,
      long completedTotal,
      long failedTotal) {
    static final Counts NONE = new Counts(null, 0, 0, 0, 0);

    static Counts of(WorkerHeartbeat heartbeat) {
      return new Counts(
          heartbeat.activeCount(),
          heartbeat.completedDelta(),
          heartbeat.failedDelta(),
          heartbeat.completedTotal(),
          heartbeat.failedTotal());
    }

    Counts plus(Counts later) {
      return new Counts(
          later.active == null ? active : later.active,
          completed + later.completed,
          failed + later.failed,
          Math.max(completedTotal, later.completedTotal),
          Math.max(failedTotal, later.failedTotal));
    }
  }

  /**
   * A claim to be renewed.
   *
   * @param untilUs upper limit of the new lease; null for a full lease
   */
  private record Renewal(WorkerId worker, Claim claim, @Nullable Long untilUs) {}

  private record Present(WorkerStatus status, String namespace) {}

  private record CurrentClaim(
      WorkerId worker,
      Claim claim,
      int presentEpoch,
      @Nullable RunStatus status,
      boolean isHeldByOther,
      boolean isShort,
      boolean isCancelRequested) {}

  @Override
  public void prepare(Session session) throws SQLException {
    session.query(ASYNC_COMMIT_SQL).execute();
  }

  /**
   * Stores the heartbeat of an idle worker without a transaction. A heartbeat that adds to totals
   * needs one: if the answer to a single statement is lost, its recorded time is unknown, and a
   * second send would count twice.
   */
  @Override
  public @Nullable Effects writeAlone(Session session, List<HeartbeatWrite> batch)
      throws SQLException {
    WorkerHeartbeat first = batch.getFirst().heartbeat();
    List<Claim> claims = first.claims();
    boolean standsAlone =
        batch.size() == 1
            && claims != null
            && claims.isEmpty()
            && first.completedDelta() == 0
            && first.failedDelta() == 0;
    return standsAlone ? write(session, batch) : null;
  }

  @Override
  public Effects write(Session tx, List<HeartbeatWrite> writes) throws SQLException {
    // Only the claims in a worker's last heartbeat count; the deltas of all its heartbeats add up.
    Map<WorkerId, HeartbeatWrite> byWorker = new LinkedHashMap<>();
    Map<WorkerId, Counts> counts = new HashMap<>();
    List<HeartbeatWrite> superseded = new ArrayList<>();
    writes.stream()
        .sorted(Comparator.comparing(w -> id(w).value(), Uuids.ORDER))
        .forEach(
            write -> {
              counts.merge(id(write), Counts.of(write.heartbeat()), Counts::plus);
              HeartbeatWrite before = byWorker.put(id(write), write);
              if (before != null) {
                superseded.add(before);
              }
            });
    Map<WorkerId, Present> present = store(tx, byWorker, counts);
    ClaimNews news = new ClaimNews();
    List<HeartbeatWrite> known =
        byWorker.values().stream().filter(w -> present.containsKey(id(w))).toList();
    List<Renewal> locked = renew(tx, listed(tx, known), present, news);
    Map<WorkerId, WorkerStatus> statuses = statuses(present);
    for (HeartbeatWrite write : byWorker.values()) {
      answer(write, statuses.get(id(write)), news);
    }
    for (HeartbeatWrite write : superseded) {
      answer(write, statuses.get(id(write)), new ClaimNews());
    }
    return effects(statuses, locked);
  }

  /**
   * Renews each claim in its own savepoint: one bad run must not cost the worker its other claims.
   */
  @Override
  public Optional<Effects> writeInParts(Session tx, HeartbeatWrite write) throws SQLException {
    WorkerId worker = id(write);
    Map<WorkerId, Present> present =
        store(tx, Map.of(worker, write), Map.of(worker, Counts.of(write.heartbeat())));
    ClaimNews news = new ClaimNews();
    List<Renewal> locked = new ArrayList<>();
    for (Renewal one : present.isEmpty() ? List.<Renewal>of() : listed(tx, List.of(write))) {
      try {
        locked.addAll(tx.inSavepoint(part -> renew(part, List.of(one), present, news)));
      } catch (SQLException e) {
        if (SqlErrors.remedy(e) != SqlErrors.Remedy.SPLIT) {
          throw e;
        }
        DatabaseFailureLog.logRefused(
            Level.ERROR, HeartbeatWrite.CALL, "run", one.claim.runId(), e);
      }
    }
    Map<WorkerId, WorkerStatus> statuses = statuses(present);
    answer(write, statuses.get(worker), news);
    return Optional.of(effects(statuses, locked));
  }

  private Effects effects(Map<WorkerId, WorkerStatus> statuses, List<Renewal> locked) {
    return () -> {
      listener.stored(statuses);
      locked.forEach(renewal -> listener.renewElsewhere(renewal.worker, renewal.claim));
    };
  }

  private static Map<WorkerId, WorkerStatus> statuses(Map<WorkerId, Present> present) {
    Map<WorkerId, WorkerStatus> statuses = new HashMap<>();
    present.forEach((worker, row) -> statuses.put(worker, row.status));
    return statuses;
  }

  private static WorkerId id(HeartbeatWrite write) {
    return write.heartbeat().workerId();
  }

  private static void answer(HeartbeatWrite write, @Nullable WorkerStatus status, ClaimNews news) {
    if (status == null) {
      write.refuse(Refusal.notFound("worker", id(write)));
      return;
    }
    write.answer(news.result(id(write), status == WorkerStatus.DRAINING));
  }

  private static Map<WorkerId, Present> store(
      Session tx, Map<WorkerId, HeartbeatWrite> byWorker, Map<WorkerId, Counts> counts)
      throws SQLException {
    Collection<HeartbeatWrite> writes = byWorker.values();
    Map<WorkerId, Present> present = new HashMap<>();
    tx.query(BEAT_SQL)
        .bindUuids(writes, w -> id(w).value())
        .bindNullableInts(writes, w -> counts.getOrDefault(id(w), Counts.NONE).active)
        .bindLongs(writes, w -> counts.getOrDefault(id(w), Counts.NONE).completed)
        .bindLongs(writes, w -> counts.getOrDefault(id(w), Counts.NONE).failed)
        .bindLongs(writes, w -> counts.getOrDefault(id(w), Counts.NONE).completedTotal)
        .bindLongs(writes, w -> counts.getOrDefault(id(w), Counts.NONE).failedTotal)
        .bindNullableLongs(writes, HeartbeatWrite::recordedUs)
        .bindTexts(writes, w -> w.heartbeat().namespace())
        .list(
            row -> {
              WorkerId worker = new WorkerId(row.uuid("worker_id"));
              Objects.requireNonNull(byWorker.get(worker)).recorded(row.bigint("recorded_us"));
              return present.put(worker, present(row));
            });
    List<HeartbeatWrite> unrecorded =
        writes.stream().filter(write -> !present.containsKey(id(write))).toList();
    if (!unrecorded.isEmpty()) {
      tx.query(LOCKED_SQL)
          .bindUuids(unrecorded, w -> id(w).value())
          .bindTexts(unrecorded, w -> w.heartbeat().namespace())
          .list(row -> present.put(new WorkerId(row.uuid("worker_id")), present(row)));
    }
    return present;
  }

  private static Present present(Row row) throws SQLException {
    return new Present(WorkerStatus.valueOf(row.text("status")), row.text("namespace"));
  }

  private List<Renewal> listed(Session tx, List<HeartbeatWrite> writes) throws SQLException {
    List<Renewal> listed = new ArrayList<>();
    for (HeartbeatWrite write : writes) {
      List<Claim> claims = write.heartbeat().claims();
      if (claims == null) {
        listed.addAll(held(tx, id(write)));
      } else {
        claims.forEach(claim -> listed.add(new Renewal(id(write), claim, null)));
      }
    }
    return listed;
  }

  /**
   * Renews the held claims whose lease is short, or whose worker has registered again. If a claim
   * is not held any more, or should clean up, adds it to {@code news}.
   *
   * @return claims that were not renewed because their runs are locked; the lanes of these runs
   *     must renew them
   */
  private List<Renewal> renew(
      Session tx, List<Renewal> listed, Map<WorkerId, Present> present, ClaimNews news)
      throws SQLException {
    if (listed.isEmpty()) {
      return List.of();
    }
    Map<Claim, Long> untilUs = new HashMap<>();
    for (Renewal renewal : listed) {
      if (renewal.untilUs != null) {
        untilUs.put(renewal.claim, renewal.untilUs);
      }
    }
    List<Renewal> due = new ArrayList<>();
    for (CurrentClaim run : readClaims(tx, listed, present)) {
      if (run.status == RunStatus.RUNNING && run.presentEpoch == run.claim.epoch()) {
        if (run.isShort || run.isHeldByOther) {
          due.add(new Renewal(run.worker, run.claim, untilUs.get(run.claim)));
        }
        if (run.isCancelRequested) {
          news.cancelRequested(run.worker, run.claim);
        }
      } else {
        news.gone(run.worker, run.claim, run.status);
      }
    }
    if (due.isEmpty()) {
      return due;
    }
    Set<RunId> renewed =
        new HashSet<>(
            tx.query(RENEW_SQL)
                .bind(leaseMs)
                .bindUuids(due, r -> r.claim.runId().value())
                .bindInts(due, r -> r.claim.epoch())
                .bindUuids(due, r -> r.worker.value())
                .bindNullableLongs(due, Renewal::untilUs)
                .list(row -> new RunId(row.uuid("run_id"))));
    // Skip unacknowledged claims (untilUs is set: the worker has made no call about the run yet).
    // If such a run is locked, its first call probably holds the lock, and the next heartbeat
    // renews the lease.
    return due.stream()
        .filter(r -> r.untilUs == null && !renewed.contains(r.claim.runId()))
        .toList();
  }

  private List<CurrentClaim> readClaims(
      Session tx, List<Renewal> listed, Map<WorkerId, Present> present) throws SQLException {
    return tx.query(LOOK_SQL)
        .bindUuids(listed, r -> r.worker.value())
        .bindUuids(listed, r -> r.claim.runId().value())
        .bindInts(listed, r -> r.claim.epoch())
        .bindLongs(listed, r -> leaseMs)
        .bindTexts(listed, r -> Objects.requireNonNull(present.get(r.worker)).namespace)
        .list(
            row -> {
              String status = row.textOrNull("status");
              WorkerId worker = new WorkerId(row.uuid("worker_id"));
              return new CurrentClaim(
                  worker,
                  new Claim(new RunId(row.uuid("run_id")), row.integer("epoch")),
                  row.integer("present_epoch"),
                  status == null ? null : RunStatus.valueOf(status),
                  !worker.value().equals(row.uuidOrNull("locked_by")),
                  row.bool("short"),
                  row.bool("cancel_requested"));
            });
  }

  /**
   * Returns the claims of a worker whose heartbeats do not list them. Leaves out a claim about
   * which the worker has made no call, if its lease has reached the limit ({@link
   * HeldRuns#unacknowledged}).
   */
  private List<Renewal> held(Session tx, WorkerId worker) throws SQLException {
    Optional<WorkerRows.Known> known = WorkerRows.find(tx, worker);
    if (known.isEmpty()) {
      return List.of();
    }
    List<Claim> claims = new ArrayList<>();
    for (HeldRuns.Held run :
        HeldRuns.of(tx, worker, known.get().queue(), known.get().types(), leaseMs)) {
      claims.add(run.claim());
    }
    Map<RunId, HeldRuns.RenewalLimit> unacknowledged =
        claims.isEmpty() ? Map.of() : HeldRuns.unacknowledged(tx, claims, leaseMs);
    List<Renewal> renewals = new ArrayList<>();
    for (Claim claim : claims) {
      HeldRuns.RenewalLimit limit = unacknowledged.get(claim.runId());
      if (limit == null || limit.renewable()) {
        renewals.add(new Renewal(worker, claim, limit == null ? null : limit.untilUs()));
      }
    }
    return renewals;
  }
}
