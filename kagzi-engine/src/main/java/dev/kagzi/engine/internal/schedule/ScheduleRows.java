package dev.kagzi.engine.internal.schedule;

import dev.kagzi.engine.internal.db.Query;
import dev.kagzi.engine.internal.db.Row;
import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.internal.page.Cursor;
import dev.kagzi.engine.internal.page.Pager;
import dev.kagzi.engine.internal.retry.RetryPolicyJson;
import dev.kagzi.engine.internal.value.Json;
import dev.kagzi.engine.schedule.Overlap;
import dev.kagzi.engine.schedule.ScheduleSpec;
import dev.kagzi.engine.schedule.ScheduleView;
import dev.kagzi.engine.value.Failure;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The templates as users create, change and list them. {@link ScheduleTemplates} is for firing. */
public final class ScheduleRows {
  private static final String VALUES =
      """
        FROM (VALUES (?::uuid, ?::text, ?::text, ?::text, ?::text, ?::text, ?::text, ?::text,
                      ?::text, ?::text, ?::int, ?::bigint, ?::text, ?::bigint, ?::bigint, ?::text,
                      ?::text, ?::bigint))
               AS n (run_id, namespace, name, task_queue, workflow_type, version, status, cron_expr,
                     time_zone, overlap_policy, max_catchup, jitter_ms, retry_policy,
                     execution_timeout_ms, step_timeout_ms, on_failure_workflow,
                     on_failure_task_queue, fire_us)
      """;

  static final String INSERT_SQL =
      """
      INSERT INTO kagzi.workflow_runs
             (run_id, namespace, schedule_name, task_queue, workflow_type, version, status, origin,
              cron_expr, time_zone, overlap_policy, max_catchup, jitter_ms, retry_policy,
              execution_timeout_ms, step_timeout_ms, on_failure_workflow, on_failure_task_queue,
              fire_at, available_at, total_runs, missed_runs, created_at, updated_at)
      SELECT n.run_id, n.namespace, n.name, n.task_queue, n.workflow_type, n.version, n.status,
             'SCHEDULE', n.cron_expr, n.time_zone, n.overlap_policy, n.max_catchup, n.jitter_ms,
             n.retry_policy::jsonb, n.execution_timeout_ms, n.step_timeout_ms,
             n.on_failure_workflow, n.on_failure_task_queue, kagzi.at(n.fire_us),
             kagzi.at(n.fire_us), 0, 0, kagzi.clock(), kagzi.clock()
      """
          + VALUES
          + """
          ON CONFLICT DO NOTHING
      RETURNING run_id
      """;

  static final String UPDATE_SQL =
      """
      UPDATE kagzi.workflow_runs t
         SET schedule_name = n.name, task_queue = n.task_queue, workflow_type = n.workflow_type,
             version = n.version, status = n.status, cron_expr = n.cron_expr,
             time_zone = n.time_zone, overlap_policy = n.overlap_policy,
             max_catchup = n.max_catchup, jitter_ms = n.jitter_ms,
             retry_policy = n.retry_policy::jsonb,
             execution_timeout_ms = n.execution_timeout_ms, step_timeout_ms = n.step_timeout_ms,
             on_failure_workflow = n.on_failure_workflow,
             on_failure_task_queue = n.on_failure_task_queue,
             fire_at = kagzi.at(n.fire_us), available_at = kagzi.at(n.fire_us), error = NULL,
             updated_at = kagzi.clock()
      """
          + VALUES
          + """
       WHERE t.run_id = n.run_id AND t.namespace = n.namespace AND t.cron_expr IS NOT NULL
      """;

  static final String LOCK_SQL =
      """
      SELECT run_id FROM kagzi.workflow_runs
       WHERE run_id = ? AND cron_expr IS NOT NULL
         FOR NO KEY UPDATE
      """;

  static final String DELETE_INPUT_SQL =
      "DELETE FROM kagzi.workflow_payloads WHERE run_id = ? AND kind = 'INPUT'";

  static final String INSERT_INPUT_SQL =
      """
      INSERT INTO kagzi.workflow_payloads (run_id, kind, data, metadata, created_at)
      VALUES (?, 'INPUT', ?, ?::jsonb, kagzi.clock())
      """;

  static final String DELETE_SQL =
      """
      WITH c AS (DELETE FROM kagzi.schedule_counts WHERE schedule_id = ?)
      DELETE FROM kagzi.workflow_runs WHERE run_id = ? AND cron_expr IS NOT NULL
      """;

  // Lists omit larger inputs unless requested. A page ends before its inputs exceed one gRPC
  // message.
  private static final int LISTED_BYTES_MAX = 4_096;
  private static final long PAGE_BYTES_MAX = 3L << 20;

  private static final String WEIGHED =
      """
      SELECT namespace, run_id, schedule_name, task_queue, workflow_type, version, status, cron_expr,
             time_zone, overlap_policy, max_catchup, jitter_ms, retry_policy, execution_timeout_ms,
             step_timeout_ms, on_failure_workflow, on_failure_task_queue, next_fire_at,
             last_fired_at, buffered_at, total_runs, missed_runs, created_at, updated_at, error,
             metadata, completed, failed, fits, CASE WHEN fits THEN data END AS data
        FROM (SELECT p.*, p.n = 1 OR ? >= sum(coalesce(octet_length(p.data), 0))
                                           OVER (ORDER BY p.n) AS fits
                FROM (SELECT l.*, row_number() OVER () AS n FROM (
      """;

  private static final String VIEW =
      """
      SELECT t.namespace, t.run_id, t.schedule_name, t.task_queue, t.workflow_type, t.version,
             t.status, t.cron_expr, t.time_zone, t.overlap_policy, t.max_catchup, t.jitter_ms,
             t.retry_policy, t.execution_timeout_ms, t.step_timeout_ms, t.on_failure_workflow,
             t.on_failure_task_queue, nullif(t.fire_at, 'infinity') AS next_fire_at,
             t.last_fired_at, t.buffered_at, t.total_runs, t.missed_runs, t.created_at,
             t.updated_at, t.error, i.metadata,
             CASE WHEN octet_length(i.data) <= ? THEN i.data ELSE '' END AS data,
             coalesce(c.completed, 0) + coalesce(d.completed, 0) AS completed,
             coalesce(c.failed, 0) + coalesce(d.failed, 0) AS failed
        FROM kagzi.workflow_runs t
        LEFT JOIN kagzi.workflow_payloads i ON i.run_id = t.run_id AND i.kind = 'INPUT'
        LEFT JOIN kagzi.schedule_counts c ON c.schedule_id = t.run_id
        LEFT JOIN (SELECT schedule_id, sum(completed)::bigint AS completed,
                          sum(failed)::bigint AS failed
                     FROM kagzi.schedule_changes
                    GROUP BY schedule_id) AS d ON d.schedule_id = t.run_id
       WHERE t.namespace = ? AND t.cron_expr IS NOT NULL
      """;

  private static final String FILTER =
      """
         AND (?::text IS NULL OR t.task_queue = ?)
         AND (?::text IS NULL OR t.workflow_type = ?)
         AND (?::text IS NULL OR t.status = ?)
      """;

  private static final String COUNT =
      """
      SELECT count(*) AS rows FROM kagzi.workflow_runs t
       WHERE t.namespace = ? AND t.cron_expr IS NOT NULL
      """
          + FILTER;

  private static final long US_PER_SECOND = 1_000_000;

  private ScheduleRows() {}

  public record Filter(
      String namespace,
      @Nullable String taskQueue,
      @Nullable String workflowType,
      @Nullable Boolean enabled) {
    private @Nullable String status() {
      return enabled == null ? null : ScheduleRows.status(enabled);
    }
  }

  public record Written(
      RunId id, String namespace, ScheduleSpec spec, boolean enabled, long nextFire) {}

  static String status(boolean enabled) {
    return (enabled ? RunStatus.SCHEDULED : RunStatus.PAUSED).name();
  }

  public static Instant now(Session session) throws SQLException {
    return session.query("SELECT kagzi.clock() AS now").first(row -> row.time("now")).orElseThrow();
  }

  /** Returns false when the id or the name exists. */
  public static boolean insert(Session tx, Written schedule) throws SQLException {
    boolean inserted = bind(tx, INSERT_SQL, schedule).first(row -> row.uuid("run_id")).isPresent();
    if (inserted) {
      insertInput(tx, schedule);
    }
    return inserted;
  }

  /** Updates all but the input. */
  public static void update(Session tx, Written schedule) throws SQLException {
    bind(tx, UPDATE_SQL, schedule).update();
  }

  public static void updateInput(Session tx, Written schedule) throws SQLException {
    tx.query(DELETE_INPUT_SQL).bind(schedule.id.value()).update();
    insertInput(tx, schedule);
  }

  private static Query bind(Session tx, String sql, Written schedule) throws SQLException {
    ScheduleSpec spec = schedule.spec;
    return tx.query(sql)
        .bind(schedule.id.value())
        .bind(schedule.namespace)
        .bind(orNull(spec.name()))
        .bind(spec.taskQueue())
        .bind(spec.workflowType())
        .bind(spec.version())
        .bind(status(schedule.enabled))
        .bind(spec.cronExpr())
        .bind(spec.timeZone())
        .bind(spec.overlap().name())
        .bind(spec.maxCatchup())
        .bind(spec.jitterMs())
        .bind(RetryPolicyJson.encode(spec.retryPolicy()))
        .bindLong(spec.executionTimeoutMs())
        .bindLong(spec.stepTimeoutMs())
        .bind(orNull(spec.onFailureWorkflow()))
        .bind(orNull(spec.onFailureTaskQueue()))
        .bind(
            schedule.nextFire == FireTimes.NONE
                ? Long.MAX_VALUE
                : schedule.nextFire * US_PER_SECOND);
  }

  private static void insertInput(Session tx, Written schedule) throws SQLException {
    Payload input = schedule.spec.input();
    if (!input.isEmpty()) {
      tx.query(INSERT_INPUT_SQL)
          .bind(schedule.id.value())
          .bind(input.data())
          .bind(Json.encode(input.metadata()))
          .update();
    }
  }

  public static boolean delete(Session tx, RunId id) throws SQLException {
    tx.query(DELETE_INPUT_SQL).bind(id.value()).update();
    return tx.query(DELETE_SQL).bind(id.value()).bind(id.value()).update() > 0;
  }

  public static Optional<ScheduleView> find(Session session, String namespace, RunId id)
      throws SQLException {
    return session
        .query(VIEW + " AND t.run_id = ?")
        .bind(Integer.MAX_VALUE)
        .bind(namespace)
        .bind(id.value())
        .first(ScheduleRows::view);
  }

  /** Locks a schedule that must exist: it cannot fire or be changed until the transaction ends. */
  public static ScheduleView require(Session tx, String namespace, RunId id) throws SQLException {
    return lock(tx, namespace, id).orElseThrow(() -> Refusal.notFound("schedule", id));
  }

  /** Like {@link #require}, but returns empty for a schedule that does not exist. */
  public static Optional<ScheduleView> lock(Session tx, String namespace, RunId id)
      throws SQLException {
    // Read by a separate statement: after waiting for a lock, a statement sees the new version of
    // the locked row, but an old snapshot of all other tables.
    tx.query(LOCK_SQL).bind(id.value()).list(row -> row.uuid("run_id"));
    return find(tx, namespace, id);
  }

  public static Optional<ScheduleView> byName(Session session, String namespace, String name)
      throws SQLException {
    return session
        .query(VIEW + " AND t.schedule_name = ?")
        .bind(Integer.MAX_VALUE)
        .bind(namespace)
        .bind(name)
        .first(ScheduleRows::view);
  }

  public record Listed(Session session, Filter filter, boolean payloads)
      implements Pager.Source<ScheduleView> {
    @Override
    public List<Pager.Found<ScheduleView>> rows(@Nullable Cursor from, boolean forward, int rowsMax)
        throws SQLException {
      String order = forward ? "DESC" : "ASC";
      String beyond =
          from == null
              ? ""
              : " AND (t.created_at, t.run_id) " + (forward ? "<" : ">") + " (kagzi.at(?), ?)";
      Query query =
          filtered(
              session
                  .query(
                      WEIGHED
                          + VIEW
                          + FILTER
                          + beyond
                          + " ORDER BY t.created_at "
                          + order
                          + ", t.run_id "
                          + order
                          + " LIMIT ?) l) p) w ORDER BY n")
                  .bind(PAGE_BYTES_MAX)
                  .bind(payloads ? Integer.MAX_VALUE : LISTED_BYTES_MAX));
      if (from != null) {
        query.bind(from.number(0)).bind(from.uuid(1));
      }
      return query.bind(rowsMax).list(ScheduleRows::found);
    }

    private Query filtered(Query query) throws SQLException {
      return query
          .bind(filter.namespace)
          .bind(filter.taskQueue)
          .bind(filter.taskQueue)
          .bind(filter.workflowType)
          .bind(filter.workflowType)
          .bind(filter.status())
          .bind(filter.status());
    }

    @Override
    public long count() throws SQLException {
      return filtered(session.query(COUNT)).first(row -> row.bigint("rows")).orElse(0L);
    }
  }

  private static Pager.Found<ScheduleView> found(Row row) throws SQLException {
    ScheduleView view = view(row);
    Cursor cursor = Cursor.of(Cursor.micros(view.createdAt()), view.id().toString());
    return new Pager.Found<>(view, cursor, row.bool("fits"));
  }

  private static ScheduleView view(Row row) throws SQLException {
    Failure problem = row.failureOrNull("error");
    return new ScheduleView(
        row.text("namespace"),
        row.runId("run_id"),
        spec(row),
        row.text("status").equals(RunStatus.SCHEDULED.name()),
        row.bigint("total_runs"),
        row.bigint("completed"),
        row.bigint("failed"),
        row.bigint("missed_runs"),
        row.time("created_at"),
        row.time("updated_at"),
        row.timeOrNull("next_fire_at"),
        row.timeOrNull("last_fired_at"),
        row.timeOrNull("buffered_at"),
        problem == null ? "" : problem.message());
  }

  private static ScheduleSpec spec(Row row) throws SQLException {
    Payload input = row.payloadOrNull("data", "metadata");
    return new ScheduleSpec(
        row.textOrEmpty("schedule_name"),
        row.text("task_queue"),
        row.text("workflow_type"),
        row.text("version"),
        row.text("cron_expr"),
        row.text("time_zone"),
        input == null ? Payload.EMPTY : input,
        Overlap.valueOf(row.text("overlap_policy")),
        row.integer("max_catchup"),
        row.bigint("jitter_ms"),
        RetryPolicyJson.decode(row.textOrNull("retry_policy")),
        row.bigintOrNull("execution_timeout_ms"),
        row.bigintOrNull("step_timeout_ms"),
        row.textOrEmpty("on_failure_workflow"),
        row.textOrEmpty("on_failure_task_queue"));
  }

  private static @Nullable String orNull(String text) {
    return text.isEmpty() ? null : text;
  }
}
