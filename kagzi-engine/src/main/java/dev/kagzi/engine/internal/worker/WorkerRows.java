package dev.kagzi.engine.internal.worker;

import dev.kagzi.engine.dispatch.PollRequest;
import dev.kagzi.engine.internal.db.Row;
import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.internal.dispatch.WorkerLimits;
import dev.kagzi.engine.internal.value.Json;
import dev.kagzi.engine.value.QueueName;
import dev.kagzi.engine.value.WorkerId;
import dev.kagzi.engine.value.WorkerStatus;
import dev.kagzi.engine.worker.WorkerRegistration;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

public final class WorkerRows {
  private static final String COLUMNS =
      " worker_id, namespace, task_queue, workflow_types, served_versions, status,"
          + " concurrency_limit, type_limits, simple ";

  /** Marks the earlier registration of the same instance offline. */
  static final String REPLACE_SQL =
      """
      UPDATE kagzi.workers
         SET status = 'OFFLINE', deregistered_at = kagzi.clock(), attach_id = NULL
       WHERE namespace = ? AND task_queue = ? AND hostname = ? AND pid = ? AND instance_id = ?
         AND instance_id <> '' AND status <> 'OFFLINE'
      RETURNING"""
          + COLUMNS;

  static final String INSERT_SQL =
      """
      INSERT INTO kagzi.workers
             (worker_id, namespace, task_queue, workflow_types, served_versions, hostname, pid,
              instance_id, version, labels, concurrency_limit, type_limits, status,
              registered_at, last_heartbeat_at)
      VALUES (?, ?, ?, ?::text[], ?::text[], ?, ?, ?, ?, ?::jsonb, ?, ?::jsonb, 'ONLINE',
              kagzi.clock(), kagzi.clock())
      RETURNING"""
          + COLUMNS;

  static final String FIND_SQL = "SELECT" + COLUMNS + "FROM kagzi.workers WHERE worker_id = ?";

  /** The worker polls as simple clients do. */
  static final String MARK_SIMPLE_SQL =
      """
      UPDATE kagzi.workers SET simple = true
       WHERE worker_id = ?
      RETURNING"""
          + COLUMNS;

  static final String DRAIN_SQL =
      """
      UPDATE kagzi.workers SET status = 'DRAINING'
       WHERE worker_id = ? AND status = 'ONLINE'
      RETURNING"""
          + COLUMNS;

  static final String OFFLINE_SQL =
      """
      UPDATE kagzi.workers
         SET status = 'OFFLINE', deregistered_at = kagzi.clock(), attach_id = NULL, active_count = 0,
             died = ?
       WHERE worker_id = ? AND status <> 'OFFLINE'
      RETURNING"""
          + COLUMNS;

  static final String STALE_SQL =
      """
      UPDATE kagzi.workers
         SET status = 'OFFLINE', deregistered_at = kagzi.clock(), attach_id = NULL, active_count = 0,
             died = true
       WHERE worker_id IN (
               SELECT worker_id FROM kagzi.workers
                WHERE status <> 'OFFLINE'
                  AND last_heartbeat_at < kagzi.clock() - ? * interval '1 millisecond'
                ORDER BY worker_id LIMIT ? FOR UPDATE SKIP LOCKED)
      RETURNING"""
          + COLUMNS;

  static final String ATTACH_SQL =
      """
      UPDATE kagzi.workers SET attach_id = ?
       WHERE worker_id = ? AND namespace = ? AND status <> 'OFFLINE'
      RETURNING"""
          + COLUMNS;

  /**
   * Marks a worker offline if its stream broke, it has not attached again and sent no heartbeat
   * since.
   */
  static final String DETACHED_SQL =
      """
      UPDATE kagzi.workers
         SET status = 'OFFLINE', deregistered_at = kagzi.clock(), attach_id = NULL, active_count = 0,
             died = true
       WHERE worker_id = ? AND attach_id = ? AND status <> 'OFFLINE'
         AND last_heartbeat_at < kagzi.clock() - ? * interval '1 millisecond'
      RETURNING"""
          + COLUMNS;

  static final String PURGE_SQL =
      """
      WITH gone AS (
        DELETE FROM kagzi.workers
         WHERE worker_id IN (
                 SELECT worker_id FROM kagzi.workers
                  WHERE status = 'OFFLINE'
                    AND deregistered_at < kagzi.clock() - ? * interval '1 millisecond'
                  ORDER BY worker_id LIMIT ? FOR UPDATE SKIP LOCKED)
        RETURNING worker_id),
      events AS (
        DELETE FROM kagzi.worker_events e USING gone WHERE e.worker_id = gone.worker_id)
      SELECT count(*) AS workers FROM gone
      """;

  static final String EVENT_SQL =
      """
      INSERT INTO kagzi.worker_events (worker_id, event, reason, at)
      SELECT n.worker_id, ?, ?, kagzi.clock() FROM unnest(?::uuid[]) AS n (worker_id)
      """;

  private WorkerRows() {}

  public record Known(
      WorkerId id,
      QueueName queue,
      List<PollRequest.Wanted> types,
      WorkerStatus status,
      WorkerLimits limits,
      boolean isSimple) {}

  static Known map(Row row) throws SQLException {
    List<String> types = row.texts("workflow_types");
    List<String> versions = row.texts("served_versions");
    List<PollRequest.Wanted> served = new ArrayList<>();
    for (int i = 0; i < types.size(); i++) {
      served.add(new PollRequest.Wanted(types.get(i), versions.get(i), 0));
    }
    return new Known(
        new WorkerId(row.uuid("worker_id")),
        new QueueName(row.text("namespace"), row.text("task_queue")),
        List.copyOf(served),
        WorkerStatus.valueOf(row.text("status")),
        new WorkerLimits(
            row.integerOrNull("concurrency_limit"),
            Json.decodeCounts(row.textOrNull("type_limits")),
            served),
        row.bool("simple"));
  }

  static Optional<Known> markSimple(Session tx, WorkerId worker) throws SQLException {
    return tx.query(MARK_SIMPLE_SQL).bind(worker.value()).first(WorkerRows::map);
  }

  public static Optional<Known> find(Session session, WorkerId worker) throws SQLException {
    return session.query(FIND_SQL).bind(worker.value()).first(WorkerRows::map);
  }

  public static Known insert(Session tx, WorkerRegistration r) throws SQLException {
    WorkerId id = WorkerId.next();
    List<String> types = new ArrayList<>();
    List<String> versions = new ArrayList<>();
    r.served()
        .forEach(
            type -> {
              types.add(type.type());
              versions.add(r.anyVersion() ? PollRequest.ANY_VERSION : type.version());
            });
    return tx.query(INSERT_SQL)
        .bind(id.value())
        .bind(r.queue().namespace())
        .bind(r.queue().queue())
        .bindTextArray(types)
        .bindTextArray(versions)
        .bind(r.hostname())
        .bind(r.pid())
        .bind(r.instanceId())
        .bind(r.version())
        .bind(Json.encode(r.labels()))
        .bindInt(r.concurrencyLimit())
        .bind(Json.encodeCounts(r.typeLimits()))
        .first(WorkerRows::map)
        .orElseThrow();
  }

  public static List<Known> replace(Session tx, WorkerRegistration r) throws SQLException {
    return tx.query(REPLACE_SQL)
        .bind(r.queue().namespace())
        .bind(r.queue().queue())
        .bind(r.hostname())
        .bind(r.pid())
        .bind(r.instanceId())
        .list(WorkerRows::map);
  }

  public static Optional<Known> drain(Session tx, WorkerId worker) throws SQLException {
    return tx.query(DRAIN_SQL).bind(worker.value()).first(WorkerRows::map);
  }

  /** {@code died} is false for a worker that deregistered. */
  public static Optional<Known> offline(Session tx, WorkerId worker, boolean died)
      throws SQLException {
    return tx.query(OFFLINE_SQL).bind(died).bind(worker.value()).first(WorkerRows::map);
  }

  static List<Known> markStaleOffline(Session tx, long staleMs, int max) throws SQLException {
    return tx.query(STALE_SQL).bind(staleMs).bind(max).list(WorkerRows::map);
  }

  public static int purge(Session tx, long offlineMs, int max) throws SQLException {
    return tx.query(PURGE_SQL)
        .bind(offlineMs)
        .bind(max)
        .first(row -> row.integer("workers"))
        .orElse(0);
  }

  static Optional<Known> attach(Session tx, WorkerId worker, String namespace, UUID attachId)
      throws SQLException {
    return tx.query(ATTACH_SQL)
        .bind(attachId)
        .bind(worker.value())
        .bind(namespace)
        .first(WorkerRows::map);
  }

  static Optional<Known> markDetachedOffline(
      Session tx, WorkerId worker, UUID attachId, long silentMs) throws SQLException {
    return tx.query(DETACHED_SQL)
        .bind(worker.value())
        .bind(attachId)
        .bind(silentMs)
        .first(WorkerRows::map);
  }

  public static void event(Session tx, List<Known> workers, String event, String reason)
      throws SQLException {
    if (!workers.isEmpty()) {
      tx.query(EVENT_SQL)
          .bind(event)
          .bind(reason)
          .bindUuids(workers, worker -> worker.id().value())
          .update();
    }
  }
}
