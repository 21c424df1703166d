package dev.kagzi.engine.internal.dispatch;

import dev.kagzi.engine.dispatch.PollRequest;
import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.QueueName;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.WorkerId;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Finds the runs that a worker holds. An index by worker exists only for runs whose start sets the
 * length of their lease ({@code heartbeat_timeout_ms}). The leases of all other runs end within the
 * server's lease time, so the query finds them in a short range of the claim index.
 */
public final class HeldRuns {
  public static final String SQL =
      """
      SELECT h.run_id, h.epoch, h.workflow_type
        FROM unnest(?::text[], ?::text[]) AS t (workflow_type, version)
       CROSS JOIN LATERAL (
             SELECT w.run_id, w.epoch, w.workflow_type
               FROM kagzi.workflow_runs w
              WHERE w.namespace = ? AND w.task_queue = ?
                AND w.workflow_type = t.workflow_type AND w.version = t.version
                AND w.available_at IS NOT NULL AND w.cron_expr IS NULL
                AND w.available_at > kagzi.clock()
                AND w.available_at <= kagzi.clock() + ? * interval '1 millisecond'
                AND w.status = 'RUNNING'
                AND w.locked_by = ?
                AND w.heartbeat_timeout_ms IS NULL) AS h
      UNION ALL
      SELECT w.run_id, w.epoch, w.workflow_type
        FROM kagzi.workflow_runs w
       WHERE w.locked_by = ?
         AND w.heartbeat_timeout_ms IS NOT NULL
         AND w.available_at IS NOT NULL AND w.cron_expr IS NULL
         AND w.available_at > kagzi.clock()
         AND w.status = 'RUNNING'
      """;

  /**
   * How many due runs of one type and version are searched for runs whose lease has ended. These
   * runs are among all due runs in the claim index, and a backlog may be long.
   */
  public static final int LAPSED_SEARCHED_MAX = 10_000;

  /**
   * Finds one run whose lease has ended and that this worker still holds, among the first {@link
   * #LAPSED_SEARCHED_MAX} due runs of each type, or among runs with a lease of their own.
   */
  public static final String LAPSED_SQL =
      """
      SELECT h.run_id
        FROM unnest(?::text[], ?::text[]) AS t (workflow_type, version)
       CROSS JOIN LATERAL (
             SELECT w.run_id, w.status, w.locked_by
               FROM kagzi.workflow_runs w
              WHERE w.namespace = ? AND w.task_queue = ?
                AND w.workflow_type = t.workflow_type AND w.version = t.version
                AND w.available_at IS NOT NULL AND w.cron_expr IS NULL
                AND w.available_at <= kagzi.clock()
              ORDER BY w.available_at
              LIMIT ?) AS h
       WHERE h.status = 'RUNNING' AND h.locked_by = ?
      UNION ALL
      SELECT w.run_id
        FROM kagzi.workflow_runs w
       WHERE w.locked_by = ?
         AND w.heartbeat_timeout_ms IS NOT NULL
         AND w.available_at IS NOT NULL AND w.cron_expr IS NULL
         AND w.available_at <= kagzi.clock()
         AND w.status = 'RUNNING'
       LIMIT 1
      """;

  // The recursive part finds each holder with one index probe, without reading all its runs.
  public static final String ORPHANED_SQL =
      """
      WITH RECURSIVE holder AS (
        (SELECT w.locked_by
           FROM kagzi.workflow_runs w
          WHERE w.locked_by IS NOT NULL
            AND w.heartbeat_timeout_ms IS NOT NULL
            AND w.available_at IS NOT NULL AND w.cron_expr IS NULL
          ORDER BY w.locked_by LIMIT 1)
        UNION ALL
        SELECT (SELECT w.locked_by
                  FROM kagzi.workflow_runs w
                 WHERE w.locked_by > h.locked_by
                   AND w.heartbeat_timeout_ms IS NOT NULL
                   AND w.available_at IS NOT NULL AND w.cron_expr IS NULL
                 ORDER BY w.locked_by LIMIT 1)
          FROM holder h
         WHERE h.locked_by IS NOT NULL)
      SELECT f.run_id, f.epoch
        FROM holder h
        JOIN kagzi.workers k ON k.worker_id = h.locked_by
       CROSS JOIN LATERAL (
             SELECT w.run_id, w.epoch
               FROM kagzi.workflow_runs w
              WHERE w.locked_by = k.worker_id
                AND w.heartbeat_timeout_ms IS NOT NULL
                AND w.available_at IS NOT NULL AND w.cron_expr IS NULL
                AND w.status = 'RUNNING'
              LIMIT ?) AS f
       WHERE k.status || '' = 'OFFLINE'
         AND k.deregistered_at < kagzi.clock() - ? * interval '1 millisecond'
      """;

  private static final long UNACKNOWLEDGED_MS_MAX = Duration.ofMinutes(10).toMillis();

  /**
   * Claims about which the worker has made no call yet, and until when their lease may be renewed.
   * The answer to the poll may have been lost; then no worker executes the run. The limit begins
   * with the length of the lease. It doubles with each crash of the run, up to 10 minutes (or the
   * lease, if that is longer), so that code which computes for long before its first call gets more
   * time.
   */
  public static final String UNACKNOWLEDGED_SQL =
      """
      SELECT r.run_id, r.available_at < u.until AS renewable,
             (extract(epoch FROM u.until) * 1000000)::bigint AS until_us
        FROM unnest(?::uuid[], ?::int[]) AS n (run_id, epoch)
        JOIN kagzi.workflow_runs r ON r.run_id = n.run_id AND r.epoch = n.epoch
       CROSS JOIN LATERAL (SELECT coalesce(r.heartbeat_timeout_ms, ?::bigint) AS ms) AS l
       CROSS JOIN LATERAL (
             SELECT coalesce(r.claimed_at, r.created_at)
                      + greatest(l.ms, least(?::bigint, l.ms * 2 ^ least(r.crashes, 20)))
                          * interval '1 millisecond' AS until) AS u
       WHERE r.acknowledged_epoch IS DISTINCT FROM r.epoch
         AND NOT EXISTS (SELECT 1 FROM kagzi.step_runs s
                          WHERE s.run_id = r.run_id AND s.epoch = r.epoch)
      """;

  private HeldRuns() {}

  /**
   * Until when the lease of a claim without a call may be extended.
   *
   * @param renewable false if the lease already lasts that long
   */
  public record RenewalLimit(boolean renewable, long untilUs) {}

  /** Returns those of the claims about which the worker has made no call yet. */
  public static Map<RunId, RenewalLimit> unacknowledged(
      Session session, List<Claim> claims, long leaseMs) throws SQLException {
    Map<RunId, RenewalLimit> unacknowledged = new HashMap<>();
    session
        .query(UNACKNOWLEDGED_SQL)
        .bindUuids(claims, c -> c.runId().value())
        .bindInts(claims, Claim::epoch)
        .bind(leaseMs)
        .bind(UNACKNOWLEDGED_MS_MAX)
        .list(
            row ->
                unacknowledged.put(
                    new RunId(row.uuid("run_id")),
                    new RenewalLimit(row.bool("renewable"), row.bigint("until_us"))));
    return unacknowledged;
  }

  /**
   * Serializes the claims for a worker until the transaction ends, so that two concurrent ones
   * cannot use the same free capacity.
   */
  static void lock(Session tx, WorkerId worker) throws SQLException {
    tx.query("SELECT pg_advisory_xact_lock(hashtextextended(?, 0))")
        .bind(worker.toString())
        .execute();
  }

  public record Held(Claim claim, String workflowType) {}

  /** The runs of these types that the worker holds, and all its runs with their own lease. */
  public static List<Held> of(
      Session session,
      WorkerId worker,
      QueueName queue,
      List<PollRequest.Wanted> types,
      long leaseMsMax)
      throws SQLException {
    List<PollRequest.Wanted> exact = ClaimRuns.withVersions(session, queue, types);
    return session
        .query(SQL)
        .bindTexts(exact, PollRequest.Wanted::type)
        .bindTexts(exact, PollRequest.Wanted::version)
        .bind(queue.namespace())
        .bind(queue.queue())
        .bind(leaseMsMax)
        .bind(worker.value())
        .bind(worker.value())
        .list(
            row ->
                new Held(
                    new Claim(new RunId(row.uuid("run_id")), row.integer("epoch")),
                    row.text("workflow_type")));
  }

  /**
   * Returns whether the worker has a run of these types whose lease has ended and that no other
   * worker has claimed. Not for every poll: it searches up to {@link #LAPSED_SEARCHED_MAX} due runs
   * of each type and version.
   */
  public static boolean hasLapsed(
      Session session, WorkerId worker, QueueName queue, List<PollRequest.Wanted> types)
      throws SQLException {
    List<PollRequest.Wanted> exact = ClaimRuns.withVersions(session, queue, types);
    return session
        .query(LAPSED_SQL)
        .bindTexts(exact, PollRequest.Wanted::type)
        .bindTexts(exact, PollRequest.Wanted::version)
        .bind(queue.namespace())
        .bind(queue.queue())
        .bind(LAPSED_SEARCHED_MAX)
        .bind(worker.value())
        .bind(worker.value())
        .first(row -> row.runId("run_id"))
        .isPresent();
  }

  /**
   * Claims of workers that have been offline for more than {@code offlineMs}; at most {@code max}
   * of each worker. Only of runs with their own lease, which may be long: other leases end soon.
   */
  public static List<Claim> orphaned(Session session, long offlineMs, int max) throws SQLException {
    return session
        .query(ORPHANED_SQL)
        .bind(max)
        .bind(offlineMs)
        .list(row -> new Claim(new RunId(row.uuid("run_id")), row.integer("epoch")));
  }

  /**
   * Returns the polled types that are below their limit, each with its remaining capacity (0: it
   * has no limit). Empty if the worker's total limit is reached.
   */
  static List<PollRequest.Wanted> within(
      WorkerLimits limits, List<PollRequest.Wanted> types, List<Held> held) {
    if (limits.all() != null && held.size() >= limits.all()) {
      return List.of();
    }
    Map<String, Integer> counts = new HashMap<>();
    held.forEach(run -> counts.merge(run.workflowType(), 1, Integer::sum));
    List<PollRequest.Wanted> left = new ArrayList<>();
    for (PollRequest.Wanted type : types) {
      Integer limit = limits.byType().get(type.type());
      int free = limit == null ? 1 : limit - counts.getOrDefault(type.type(), 0);
      if (free > 0) {
        left.add(type.withTasksMax(limit == null ? 0 : free));
      }
    }
    return left;
  }
}
