package dev.kagzi.engine.internal.run;

import dev.kagzi.engine.internal.db.Query;
import dev.kagzi.engine.internal.db.Row;
import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.internal.retry.RetryPolicyJson;
import dev.kagzi.engine.internal.value.Json;
import dev.kagzi.engine.internal.value.Uuids;
import dev.kagzi.engine.run.StartRequest;
import dev.kagzi.engine.value.RunId;
import java.sql.SQLException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Inserts new runs and finds the existing runs that they conflict with. */
public final class InsertRuns {
  // Every batch inserts in this order. Two servers that start runs with the same external ids then
  // wait for each other without a deadlock.
  private static final Comparator<StartRun> ORDER =
      Comparator.comparing((StartRun s) -> s.request().namespace())
          .thenComparing(s -> s.request().externalId())
          .thenComparing(s -> s.runId().value(), Uuids.ORDER);

  // The inserting statement also writes run_changes, so that the counts stay exact.
  public static final String COUNTED =
      """
      c AS (
        INSERT INTO kagzi.run_changes
               (namespace, task_queue, workflow_type, version, from_status, to_status, runs)
        SELECT namespace, task_queue, workflow_type, version, NULL, status, count(*)
          FROM r
         GROUP BY namespace, task_queue, workflow_type, version, status)
      """;

  public static final String SQL = insertSql("", "", "", "", "");

  /** Like {@link #SQL}, for runs with options or a lineage beyond parent and step. */
  public static final String OPTIONS_SQL =
      insertSql(
          """
          , deadline_at, execution_timeout_ms, deadline_after_ms, step_timeout_ms,
          heartbeat_timeout_ms, on_failure_workflow, on_failure_task_queue, retry_of, failed_run_id,
          detached, chain_deadline, chain_deadline_after_ms, clean_up_ms""",
          """
          , d.deadline_at, n.execution_timeout_ms,
          CASE WHEN n.deadline_us IS NOT NULL AND d.deadline_at > t.now
               THEN ceil(extract(epoch FROM d.deadline_at - t.now) * 1000)::bigint END,
          n.step_timeout_ms, n.heartbeat_timeout_ms, n.on_failure_workflow,
          n.on_failure_task_queue, n.retry_of, n.failed_run_id, CASE WHEN n.detached THEN true END,
          kagzi.at(n.deadline_us),
          CASE WHEN kagzi.at(n.deadline_us) > t.now
               THEN ceil(extract(epoch FROM kagzi.at(n.deadline_us) - t.now) * 1000)::bigint END,
          nullif(n.clean_up_ms, 0)""",
          """
          , ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[], ?::text[], ?::text[], ?::uuid[],
          ?::uuid[], ?::boolean[], ?::bigint[]""",
          """
          , execution_timeout_ms, deadline_us, step_timeout_ms, heartbeat_timeout_ms,
          on_failure_workflow, on_failure_task_queue, retry_of, failed_run_id, detached,
          clean_up_ms""",
          """
          CROSS JOIN LATERAL (
                SELECT least(t.now + n.execution_timeout_ms * interval '1 millisecond',
                             kagzi.at(n.deadline_us)) AS deadline_at) AS d""");

  private static String insertSql(
      String columns, String values, String parameters, String names, String sources) {
    return """
        WITH r AS (
          INSERT INTO kagzi.workflow_runs
                 (run_id, namespace, external_id, task_queue, workflow_type, version, retry_policy,
                  origin, parent_run_id, parent_step_id, status, epoch, locked_by, claimed_at,
                  available_at, created_at, started_at, headers%s)
          SELECT n.run_id, n.namespace, n.external_id, n.task_queue, n.workflow_type, n.version,
                 n.retry_policy::jsonb, n.origin, n.parent_run_id, n.parent_step_id,
                 CASE WHEN n.locked_by IS NULL THEN 'PENDING' ELSE 'RUNNING' END,
                 CASE WHEN n.locked_by IS NULL THEN 0 ELSE t.base + 1 END,
                 n.locked_by,
                 CASE WHEN n.locked_by IS NULL THEN NULL ELSE t.now END,
                 t.now + n.lease_ms * interval '1 millisecond',
                 t.now,
                 CASE WHEN n.locked_by IS NULL THEN NULL ELSE t.now END,
                 n.headers::jsonb%s
            FROM unnest(?::uuid[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[],
                        ?::text[], ?::uuid[], ?::text[], ?::uuid[], ?::bigint[], ?::text[]%s)
                   AS n (run_id, namespace, external_id, task_queue, workflow_type, version,
                         retry_policy, origin, parent_run_id, parent_step_id, locked_by, lease_ms,
                         headers%s)
           CROSS JOIN (SELECT kagzi.clock() AS now, ?::int AS base) AS t
           %s
              ON CONFLICT DO NOTHING
          RETURNING run_id, created_at, namespace, task_queue, workflow_type, version, status),
        """
            .formatted(columns, values, parameters, names, sources)
        + COUNTED
        + "SELECT run_id, created_at FROM r";
  }

  static final String DELETE_SQL =
      """
      WITH d AS (
        DELETE FROM kagzi.workflow_runs WHERE run_id = ANY (?::uuid[])
        RETURNING namespace, task_queue, workflow_type, version, status)
      INSERT INTO kagzi.run_changes
             (namespace, task_queue, workflow_type, version, from_status, to_status, runs)
      SELECT namespace, task_queue, workflow_type, version, status, NULL, count(*)
        FROM d
       GROUP BY namespace, task_queue, workflow_type, version, status
      """;

  /** One run with its input, as a single autocommit statement. */
  public static final String ALONE_SQL =
      """
      WITH r AS (
        INSERT INTO kagzi.workflow_runs
               (run_id, namespace, external_id, task_queue, workflow_type, version, retry_policy,
                status, epoch, locked_by, claimed_at, available_at, created_at, started_at, headers)
        SELECT n.run_id, n.namespace, n.external_id, n.task_queue, n.workflow_type, n.version,
               n.retry_policy::jsonb,
               CASE WHEN n.locked_by IS NULL THEN 'PENDING' ELSE 'RUNNING' END,
               CASE WHEN n.locked_by IS NULL THEN 0 ELSE t.base + 1 END,
               n.locked_by,
               CASE WHEN n.locked_by IS NULL THEN NULL ELSE t.now END,
               t.now + n.lease_ms * interval '1 millisecond',
               t.now,
               CASE WHEN n.locked_by IS NULL THEN NULL ELSE t.now END,
               n.headers::jsonb
          FROM (VALUES (?::uuid, ?::text, ?::text, ?::text, ?::text, ?::text, ?::text, ?::uuid,
                        ?::bigint, ?::text))
                 AS n (run_id, namespace, external_id, task_queue, workflow_type, version,
                       retry_policy, locked_by, lease_ms, headers)
         CROSS JOIN (SELECT kagzi.clock() AS now, ?::int AS base) AS t
            ON CONFLICT DO NOTHING
        RETURNING run_id, created_at, namespace, task_queue, workflow_type, version, status),
      c AS (
        INSERT INTO kagzi.run_changes
               (namespace, task_queue, workflow_type, version, from_status, to_status, runs)
        SELECT namespace, task_queue, workflow_type, version, NULL, status, 1 FROM r),
      p AS (
        INSERT INTO kagzi.workflow_payloads (run_id, kind, data, metadata, created_at)
        SELECT r.run_id, 'INPUT', i.data, i.metadata::jsonb, r.created_at
          FROM r, (VALUES (?::bytea, ?::text)) AS i (data, metadata)
         WHERE i.data IS NOT NULL)
      SELECT run_id, created_at FROM r
      """;

  /** The run with the same run id, and the active run with the same external id. */
  public static final String CONFLICTS_SQL =
      """
      SELECT n.run_id AS wanted, r.run_id, r.namespace, r.external_id, r.workflow_type, r.locked_by,
             r.epoch, r.status, r.created_at, coalesce(r.available_at > kagzi.clock(), false) AS leased
        FROM unnest(?::uuid[], ?::text[], ?::text[]) AS n (run_id, namespace, external_id)
        JOIN LATERAL (
               SELECT * FROM kagzi.workflow_runs a WHERE a.run_id = n.run_id
               UNION ALL
               SELECT * FROM kagzi.workflow_runs b
                WHERE b.namespace = n.namespace
                  AND b.external_id = n.external_id
                  AND b.ended = '00000000-0000-0000-0000-000000000000'
                  AND b.run_id <> n.run_id
             ) AS r ON true
      """;

  /** The latest ended run with the same external id, unless another run with it is active. */
  public static final String ENDED_SQL =
      """
      SELECT n.run_id AS wanted, r.run_id, r.namespace, r.external_id, r.workflow_type, r.locked_by,
             r.epoch, r.status, r.created_at, false AS leased
        FROM unnest(?::uuid[], ?::text[], ?::text[]) AS n (run_id, namespace, external_id)
        JOIN LATERAL (
               SELECT * FROM (
                        SELECT * FROM kagzi.workflow_runs b
                         WHERE b.namespace = n.namespace
                           AND b.external_id = n.external_id
                           AND b.ended <> '00000000-0000-0000-0000-000000000000'
                           AND b.continued_to IS NULL
                        OFFSET 0) AS e
                ORDER BY e.created_at DESC, e.run_id DESC
                LIMIT 1
             ) AS r ON true
       WHERE NOT EXISTS (
               SELECT 1 FROM kagzi.workflow_runs a
                WHERE a.namespace = n.namespace
                  AND a.external_id = n.external_id
                  AND a.ended = '00000000-0000-0000-0000-000000000000'
                  AND a.run_id <> n.run_id)
      """;

  public static final String PARENTS_SQL =
      """
      SELECT r.run_id
        FROM unnest(?::uuid[], ?::text[]) AS n (run_id, namespace)
        JOIN kagzi.workflow_runs r
          ON r.run_id = n.run_id AND r.namespace || '' = n.namespace AND r.cron_expr IS NULL
      """;

  private InsertRuns() {}

  public static Set<RunId> parents(Session tx, List<StartRun> starts) throws SQLException {
    return new HashSet<>(
        tx.query(PARENTS_SQL)
            .bindUuids(starts, s -> id(s.lineage().parent()))
            .bindTexts(starts, s -> s.request().namespace())
            .list(row -> row.runId("run_id")));
  }

  /**
   * An existing run that decides the answer to the start of run {@code wanted}.
   *
   * @param leased whether the lease of its claim has not ended
   */
  public record ConflictingRun(
      RunId wanted,
      RunId runId,
      String namespace,
      @Nullable String externalId,
      String workflowType,
      @Nullable UUID lockedBy,
      int epoch,
      String status,
      Instant createdAt,
      boolean leased) {}

  /** Inserts the runs that have no conflict. Returns the creation time of each inserted run. */
  public static Map<RunId, Instant> insert(Session tx, List<StartRun> starts) throws SQLException {
    List<StartRun> ordered = new ArrayList<>(starts);
    ordered.sort(ORDER);
    // One statement inserts plain and other starts: with two, servers that start runs with the same
    // external ids could deadlock.
    boolean plain = ordered.stream().allMatch(StartRun::isPlain);
    Map<RunId, Instant> created = new HashMap<>();
    Query query = tx.query(plain ? SQL : OPTIONS_SQL);
    query
        .bindUuids(ordered, s -> s.runId().value())
        .bindTexts(ordered, s -> s.request().namespace())
        .bindTexts(ordered, InsertRuns::externalId)
        .bindTexts(ordered, s -> s.request().taskQueue())
        .bindTexts(ordered, s -> s.request().workflowType())
        .bindTexts(ordered, s -> s.request().version())
        .bindTexts(ordered, s -> RetryPolicyJson.encode(s.request().retryPolicy()))
        .bindTexts(ordered, s -> s.lineage().origin().name())
        .bindUuids(ordered, s -> id(s.lineage().parent()))
        .bindTexts(ordered, s -> s.lineage().parentStep())
        .bindUuids(ordered, InsertRuns::lockedBy)
        .bindLongs(ordered, InsertRuns::leaseMs)
        .bindTexts(ordered, s -> Json.encodeUncached(s.request().options().headers()));
    if (!plain) {
      bindOptions(query, ordered);
    }
    query.bind(tx.epochBase());
    ordered.forEach(start -> start.claimEpoch(tx.epochBase() + 1));
    query.list(row -> created.put(row.runId("run_id"), row.time("created_at")));
    return created;
  }

  private static void bindOptions(Query query, List<StartRun> starts) throws SQLException {
    query
        .bindNullableLongs(starts, s -> s.request().options().executionTimeoutMs())
        .bindNullableLongs(starts, InsertRuns::deadlineUs)
        .bindNullableLongs(starts, s -> s.request().options().stepTimeoutMs())
        .bindNullableLongs(starts, s -> s.request().options().heartbeatTimeoutMs())
        .bindTexts(starts, s -> orNull(s.request().options().onFailureWorkflow()))
        .bindTexts(starts, s -> orNull(s.request().options().onFailureTaskQueue()))
        .bindUuids(starts, s -> id(s.lineage().retryOf()))
        .bindUuids(starts, s -> id(s.lineage().failedRun()))
        .bindBooleans(starts, s -> s.lineage().detached())
        .bindLongs(starts, StartRun::cleanUpMs);
  }

  private static @Nullable Long deadlineUs(StartRun start) {
    Instant deadline = start.request().options().deadline();
    return deadline == null ? null : ChronoUnit.MICROS.between(Instant.EPOCH, deadline);
  }

  private static @Nullable String orNull(String text) {
    return text.isEmpty() ? null : text;
  }

  public static void deleteInserted(Session tx, List<StartRun> starts) throws SQLException {
    tx.query(DELETE_SQL).bindUuids(starts, s -> s.runId().value()).update();
  }

  /** Inserts one run with its input. Returns its creation time, or null if there was a conflict. */
  public static @Nullable Instant insertAlone(Session session, StartRun start) throws SQLException {
    StartRequest request = start.request();
    boolean input = !request.input().isEmpty();
    start.claimEpoch(session.epochBase() + 1);
    return session
        .query(ALONE_SQL)
        .bind(start.runId().value())
        .bind(request.namespace())
        .bind(externalId(start))
        .bind(request.taskQueue())
        .bind(request.workflowType())
        .bind(request.version())
        .bind(RetryPolicyJson.encode(request.retryPolicy()))
        .bind(lockedBy(start))
        .bind(leaseMs(start))
        .bind(Json.encodeUncached(request.options().headers()))
        .bind(session.epochBase())
        .bind(input ? request.input().data() : null)
        .bind(input ? Json.encode(request.input().metadata()) : null)
        .first(row -> row.time("created_at"))
        .orElse(null);
  }

  public static Map<RunId, List<ConflictingRun>> conflicts(Session tx, List<StartRun> starts)
      throws SQLException {
    return conflicts(tx, CONFLICTS_SQL, starts);
  }

  public static Map<RunId, List<ConflictingRun>> ended(Session tx, List<StartRun> starts)
      throws SQLException {
    return conflicts(tx, ENDED_SQL, starts);
  }

  private static Map<RunId, List<ConflictingRun>> conflicts(
      Session tx, String sql, List<StartRun> starts) throws SQLException {
    Map<RunId, List<ConflictingRun>> found = new HashMap<>();
    List<ConflictingRun> conflicts =
        tx.query(sql)
            .bindUuids(starts, s -> s.runId().value())
            .bindTexts(starts, s -> s.request().namespace())
            .bindTexts(starts, InsertRuns::externalId)
            .list(InsertRuns::conflict);
    for (ConflictingRun conflict : conflicts) {
      found.computeIfAbsent(conflict.wanted(), id -> new ArrayList<>()).add(conflict);
    }
    return found;
  }

  private static ConflictingRun conflict(Row row) throws SQLException {
    return new ConflictingRun(
        row.runId("wanted"),
        row.runId("run_id"),
        row.text("namespace"),
        row.textOrNull("external_id"),
        row.text("workflow_type"),
        row.uuidOrNull("locked_by"),
        row.integer("epoch"),
        row.text("status"),
        row.time("created_at"),
        row.bool("leased"));
  }

  private static @Nullable String externalId(StartRun start) {
    String id = start.request().externalId();
    return id.isEmpty() ? null : id;
  }

  private static @Nullable UUID lockedBy(StartRun start) {
    return start.reservation() == null ? null : start.reservation().worker().value();
  }

  private static long leaseMs(StartRun start) {
    return start.reservation() == null ? 0 : start.reservation().leaseMs();
  }

  private static @Nullable UUID id(@Nullable RunId run) {
    return run == null ? null : run.value();
  }
}
