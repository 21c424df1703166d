package dev.kagzi.engine.query;

import dev.kagzi.engine.internal.db.Row;
import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.internal.page.EpochMicros;
import dev.kagzi.engine.internal.retry.RetryPolicyJson;
import dev.kagzi.engine.internal.value.SleepSql;
import dev.kagzi.engine.value.Failure;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.StepKind;
import dev.kagzi.engine.value.StepRef;
import dev.kagzi.engine.value.StepStatus;
import dev.kagzi.engine.value.WorkerId;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Reads the facts of an explanation, with a few statements that each use an index and read a
 * limited number of rows. Only the steps of the run are read as a whole. The statements do not form
 * a transaction: if the run changes meanwhile, its explanation may mix facts from before and after
 * the change.
 */
final class WaitQueries {
  static final int STEPS_MAX = 100;
  static final int AHEAD_MAX = 10_000;
  private static final int WORKERS_MAX = 1_000;
  private static final int QUEUES_MAX = 5;
  private static final int SCHEDULE_RUNS_MAX = 10;
  private static final int PROGRESS_BYTES_MAX = 1_000;

  private static final String RUN_SQL =
      """
      SELECT r.namespace, r.run_id, r.task_queue, r.workflow_type, r.version, r.status,
             r.created_at, r.finished_at, r.continued_to, r.epoch, r.acknowledged_epoch, r.locked_by,
             r.taken_from, r.claimed_at,
             r.available_at, r.waits_for, r.waits_for_all, r.attempts, r.crashes, r.retry_policy,
             r.error, r.blocked_by, r.deadline_at, r.cancel_requested_at, r.cron_expr, r.schedule_name, r.overlap_policy,
             r.fire_at, r.buffered_at, r.last_fired_at, coalesce(n.enabled, true) AS enabled,
             kagzi.clock() AS now,
             (SELECT min(m.created_at) FROM kagzi.run_messages m
               WHERE m.to_run = r.run_id) AS message_at,
             (SELECT count(*) FROM kagzi.run_signals g
               WHERE g.run_id = r.run_id AND g.step_id IS NULL
                 AND g.answer IS NULL) AS buffered_signals,
             ARRAY(SELECT DISTINCT g.name
                     FROM kagzi.run_signals g
                    WHERE g.run_id = r.run_id AND g.step_id IS NULL AND g.answer IS NULL
                    ORDER BY g.name) AS signal_names
        FROM kagzi.workflow_runs r
        LEFT JOIN kagzi.namespaces n ON n.namespace = r.namespace
       WHERE r.namespace = ? AND r.run_id = ?
      """;

  // The last attempt of each step. A step whose last attempt failed waits for its retry, unless the
  // code received the failure.
  private static final String STEPS_SQL =
      """
      SELECT l.step_id, l.name, l.attempt, l.epoch, l.kind, l.status, l.error, l.retry_policy, l.due_at,
             l.timeout_at, l.child_run_id, l.began_at, l.failures, l.progress, l.progress_metadata,
             p.error AS previous_error,
             (extract(epoch FROM p.finished_at - p.started_at) * 1000)::bigint AS previous_ms
        FROM (SELECT DISTINCT ON (s.step_id)
                     s.step_id, s.name, s.attempt, s.epoch, s.kind, %s AS status, s.final, s.error,
                     s.retry_policy, s.due_at, s.timeout_at, s.child_run_id,
                     coalesce(s.started_at, s.created_at) AS began_at,
                     count(*) FILTER (WHERE s.status = 'FAILED')
                       OVER (PARTITION BY s.step_id, s.run_attempt) AS failures,
                     CASE WHEN octet_length(s.progress) <= ? THEN s.progress END AS progress,
                     s.progress_metadata
                FROM kagzi.step_runs s
               WHERE s.run_id = ?
               ORDER BY s.step_id, s.attempt DESC) AS l
        LEFT JOIN kagzi.step_runs p
          ON p.run_id = ? AND p.step_id = l.step_id AND p.attempt = l.attempt - 1
         AND p.status = 'FAILED'
       WHERE l.status IN ('RUNNING', 'PENDING') OR (l.status = 'FAILED' AND NOT l.final)
       ORDER BY l.began_at DESC, l.step_id
       LIMIT ?
      """
          .formatted(SleepSql.status("s"));

  private static final String LAST_STEP_SQL =
      """
      SELECT s.step_id, %s AS status, max(s.epoch) OVER () AS epoch,
             coalesce(%s, s.started_at, s.created_at) AS at
        FROM kagzi.step_runs s
       WHERE s.run_id = ?
       ORDER BY coalesce(s.finished_at, s.started_at, s.created_at) DESC,
                s.kind = 'SLEEP' DESC, s.step_id
       LIMIT 1
      """
          .formatted(SleepSql.status("s"), SleepSql.finishedAt("s"));

  private static final String DEFAULT_VERSION_SQL =
      """
      SELECT default_version FROM kagzi.workflow_types WHERE namespace = ? AND workflow_type = ?
      """;

  private static final String CHILDREN_SQL =
      """
      SELECT r.run_id, r.workflow_type, r.status, r.created_at
        FROM kagzi.workflow_runs r
       WHERE r.run_id = ANY (?::uuid[])
      """;

  // Only index entries are read: the runs of this type and version that are due earlier.
  private static final String AHEAD_SQL =
      """
      SELECT count(*)::int AS ahead
        FROM (SELECT 1
                FROM kagzi.workflow_runs w
               WHERE w.namespace = ? AND w.task_queue = ?
                 AND w.workflow_type = ? AND w.version = ?
                 AND w.available_at IS NOT NULL AND w.cron_expr IS NULL
                 AND w.available_at < kagzi.at(?)
               LIMIT ?) AS a
      """;

  private static final String ELSEWHERE_SQL =
      """
      SELECT DISTINCT w.task_queue
        FROM kagzi.workers w
       WHERE w.namespace = ? AND w.task_queue <> ? AND w.status = 'ONLINE'
         AND w.workflow_types @> ARRAY[?::text]
       ORDER BY w.task_queue
       LIMIT ?
      """;

  // Without ORDER BY: a sort by time would make the planner read the ended runs of the schedule.
  private static final String SCHEDULE_RUNS_SQL =
      """
      SELECT r.run_id, r.workflow_type, r.status, r.created_at
        FROM kagzi.workflow_runs r
       WHERE r.schedule_id = ? AND r.available_at IS NOT NULL
       LIMIT ?
      """;

  private final Session session;
  private final QueryRules rules;

  WaitQueries(Session session, QueryRules rules) {
    this.session = session;
    this.rules = rules;
  }

  /** A run and the time at which it was read. */
  private record Found(WaitFacts.Run run, Instant now) {}

  Optional<WaitFacts> find(String namespace, RunId id) throws SQLException {
    return find(namespace, id, true);
  }

  /**
   * @param isParent whether to read the facts of the first child that the run waits for
   */
  private Optional<WaitFacts> find(String namespace, RunId id, boolean isParent)
      throws SQLException {
    Optional<Found> found = run(namespace, id).on(session).first(WaitQueries::found);
    return found.isEmpty() ? Optional.empty() : Optional.of(facts(found.get(), isParent));
  }

  private WaitFacts facts(Found found, boolean isParent) throws SQLException {
    WaitFacts.Run run = found.run;
    boolean isOpenRun = !run.status().isFinal() && run.template() == null;
    boolean isRunning = run.status() == RunStatus.RUNNING;
    WorkerId holder = isRunning ? run.lockedBy() : run.takenFrom();
    List<WaitFacts.Step> steps =
        isOpenRun ? steps(run.runId()).on(session).list(row -> step(run.runId(), row)) : List.of();
    return new WaitFacts(
        found.now,
        run,
        steps,
        children(steps),
        isRunning ? last(run.runId()).on(session).first(WaitQueries::lastStep).orElse(null) : null,
        holder == null ? null : workers().registered(holder).orElse(null),
        isOpenRun && WaitFacts.isDue(run, found.now) ? queue(run) : null,
        run.template() == null ? List.of() : scheduleRuns(run.runId()),
        isParent ? child(run, steps) : null);
  }

  private @Nullable WaitFacts child(WaitFacts.Run run, List<WaitFacts.Step> steps)
      throws SQLException {
    for (WaitFacts.Step step : steps) {
      RunId child = step.child();
      if (child != null && run.isSuspendedFor(step)) {
        return find(run.namespace(), child, false).orElse(null);
      }
    }
    return null;
  }

  private WorkerQueries workers() {
    return new WorkerQueries(session, rules.leaseMs());
  }

  private Map<RunId, WaitFacts.Child> children(List<WaitFacts.Step> steps) throws SQLException {
    UUID[] ids =
        steps.stream()
            .map(WaitFacts.Step::child)
            .filter(Objects::nonNull)
            .map(RunId::value)
            .toArray(UUID[]::new);
    Map<RunId, WaitFacts.Child> children = new HashMap<>();
    if (ids.length > 0) {
      children(ids)
          .on(session)
          .list(WaitQueries::child)
          .forEach(child -> children.put(child.runId(), child));
    }
    return children;
  }

  private WaitFacts.Queue queue(WaitFacts.Run run) throws SQLException {
    List<WorkerView> present =
        WorkerQueries.present(run.namespace(), run.taskQueue(), WORKERS_MAX)
            .on(session)
            .list(WorkerQueries::view);
    SlotQueries.TakenSlots slots = new SlotQueries(session).read(run, present, rules.leaseMs());
    return new WaitFacts.Queue(
        present,
        slots.held(),
        slots.holding(),
        ahead(run).on(session).first(row -> row.integer("ahead")).orElse(0),
        elsewhere(run).on(session).list(row -> row.text("task_queue")),
        defaultVersion(run).on(session).first(row -> row.text("default_version")).orElse(""));
  }

  private List<WaitFacts.Child> scheduleRuns(RunId schedule) throws SQLException {
    return openOf(schedule).on(session).list(WaitQueries::child).stream()
        .sorted(Comparator.comparing(WaitFacts.Child::createdAt))
        .toList();
  }

  static SqlBuilder run(String namespace, RunId id) {
    return new SqlBuilder().add(RUN_SQL, namespace, id.value());
  }

  static SqlBuilder steps(RunId run) {
    return new SqlBuilder().add(STEPS_SQL, PROGRESS_BYTES_MAX, run.value(), run.value(), STEPS_MAX);
  }

  static SqlBuilder last(RunId run) {
    return new SqlBuilder().add(LAST_STEP_SQL, run.value());
  }

  static SqlBuilder children(UUID[] ids) {
    return new SqlBuilder().add(CHILDREN_SQL, (Object) ids);
  }

  static SqlBuilder ahead(WaitFacts.Run run) {
    Instant due = run.availableAt();
    return new SqlBuilder()
        .add(
            AHEAD_SQL,
            run.namespace(),
            run.taskQueue(),
            run.type(),
            run.version(),
            due == null ? 0L : EpochMicros.micros(due),
            AHEAD_MAX);
  }

  static SqlBuilder defaultVersion(WaitFacts.Run run) {
    return new SqlBuilder().add(DEFAULT_VERSION_SQL, run.namespace(), run.type());
  }

  static SqlBuilder elsewhere(WaitFacts.Run run) {
    return new SqlBuilder()
        .add(ELSEWHERE_SQL, run.namespace(), run.taskQueue(), run.type(), QUEUES_MAX);
  }

  static SqlBuilder openOf(RunId schedule) {
    return new SqlBuilder().add(SCHEDULE_RUNS_SQL, schedule.value(), SCHEDULE_RUNS_MAX);
  }

  private static Found found(Row row) throws SQLException {
    WaitFacts.Run run =
        new WaitFacts.Run(
            row.text("namespace"),
            row.bool("enabled"),
            row.runId("run_id"),
            row.text("task_queue"),
            row.text("workflow_type"),
            row.text("version"),
            RunStatus.valueOf(row.text("status")),
            row.time("created_at"),
            row.timeOrNull("finished_at"),
            row.integer("epoch"),
            row.integerOrNull("acknowledged_epoch"),
            row.workerIdOrNull("locked_by"),
            row.workerIdOrNull("taken_from"),
            row.timeOrNull("claimed_at"),
            row.timeOrNull("available_at"),
            row.texts("waits_for"),
            row.bool("waits_for_all"),
            row.integer("attempts"),
            row.integer("crashes"),
            RetryPolicyJson.decode(row.textOrNull("retry_policy")),
            row.failureOrNull("error"),
            row.failureOrNull("blocked_by"),
            row.timeOrNull("deadline_at"),
            row.timeOrNull("cancel_requested_at"),
            row.timeOrNull("message_at"),
            new WaitFacts.Signals(row.integer("buffered_signals"), row.texts("signal_names")),
            row.runIdOrNull("continued_to"),
            template(row));
    return new Found(run, row.time("now"));
  }

  private static WaitFacts.@Nullable Template template(Row row) throws SQLException {
    return row.textOrNull("cron_expr") == null
        ? null
        : new WaitFacts.Template(
            row.textOrEmpty("schedule_name"),
            row.textOrEmpty("overlap_policy"),
            row.timeOrNull("fire_at"),
            row.timeOrNull("buffered_at"),
            row.timeOrNull("last_fired_at"));
  }

  private static WaitFacts.Step step(RunId run, Row row) throws SQLException {
    return new WaitFacts.Step(
        new StepRef(run, row.text("step_id"), row.integer("attempt"), row.integer("epoch")),
        row.textOrNull("name"),
        StepKind.valueOf(row.text("kind")),
        StepStatus.valueOf(row.text("status")),
        row.time("began_at"),
        row.integer("failures"),
        row.failureOrNull("error"),
        RetryPolicyJson.decode(row.textOrNull("retry_policy")),
        row.timeOrNull("due_at"),
        row.timeOrNull("timeout_at"),
        row.runIdOrNull("child_run_id"),
        row.payloadOrNull("progress", "progress_metadata"),
        failedBefore(row));
  }

  private static WaitFacts.@Nullable FailedAttempt failedBefore(Row row) throws SQLException {
    Failure error = row.failureOrNull("previous_error");
    Long tookMs = row.bigintOrNull("previous_ms");
    return error == null
        ? null
        : new WaitFacts.FailedAttempt(
            row.integer("attempt") - 1, error, tookMs == null ? null : Duration.ofMillis(tookMs));
  }

  private static WaitFacts.LastStep lastStep(Row row) throws SQLException {
    return new WaitFacts.LastStep(
        row.text("step_id"),
        StepStatus.valueOf(row.text("status")),
        row.integer("epoch"),
        row.time("at"));
  }

  private static WaitFacts.Child child(Row row) throws SQLException {
    return new WaitFacts.Child(
        row.runId("run_id"),
        row.text("workflow_type"),
        RunStatus.valueOf(row.text("status")),
        row.time("created_at"));
  }
}
