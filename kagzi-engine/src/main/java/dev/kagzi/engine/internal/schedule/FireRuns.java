package dev.kagzi.engine.internal.schedule;

import dev.kagzi.engine.internal.db.Row;
import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.internal.run.InsertRuns;
import dev.kagzi.engine.internal.run.ReservedIds;
import dev.kagzi.engine.value.QueueName;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.TypeVersion;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Creates the runs of schedules with one statement, which copies the templates. A slot is a time at
 * which a schedule fires; the run of a manual trigger has none.
 */
public final class FireRuns {
  private static final Logger log = LoggerFactory.getLogger(FireRuns.class);

  /** Skips a slot that already has a run, or whose external id an open run has. */
  static final String SQL =
      """
      WITH r AS (
        INSERT INTO kagzi.workflow_runs
               (run_id, namespace, external_id, task_queue, workflow_type, version, retry_policy,
                origin, status, available_at, created_at, deadline_at, execution_timeout_ms,
                step_timeout_ms, on_failure_workflow, on_failure_task_queue, schedule_id, fire_at)
        SELECT n.run_id, t.namespace, n.external_id, t.task_queue,
               t.workflow_type,
               CASE WHEN t.version = '' THEN coalesce(w.default_version, '') ELSE t.version END,
               t.retry_policy, 'SCHEDULE', 'PENDING', d.due_at,
               kagzi.clock(), d.due_at + t.execution_timeout_ms * interval '1 millisecond',
               t.execution_timeout_ms, t.step_timeout_ms, t.on_failure_workflow,
               t.on_failure_task_queue, t.run_id, kagzi.at(n.fire_us)
          FROM unnest(?::uuid[], ?::uuid[], ?::bigint[], ?::text[], ?::bigint[])
                 AS n (run_id, schedule_id, fire_us, external_id, due_us)
          JOIN kagzi.workflow_runs t ON t.run_id = n.schedule_id
          LEFT JOIN kagzi.workflow_types w
            ON w.namespace = t.namespace AND w.workflow_type = t.workflow_type
         CROSS JOIN LATERAL (
               SELECT kagzi.clock() + n.due_us * interval '1 microsecond' AS due_at) AS d
            ON CONFLICT DO NOTHING
        RETURNING run_id, schedule_id, namespace, task_queue, workflow_type, version, status,
                  created_at, execution_timeout_ms),
      """
          + InsertRuns.COUNTED
          + """
            , p AS (
              INSERT INTO kagzi.workflow_payloads (run_id, kind, data, metadata, created_at)
              SELECT r.run_id, 'INPUT', i.data, i.metadata, r.created_at
                FROM r
                JOIN kagzi.workflow_payloads i ON i.run_id = r.schedule_id AND i.kind = 'INPUT')
            SELECT run_id, schedule_id, namespace, task_queue, workflow_type, version,
                   execution_timeout_ms
              FROM r
            """;

  static final String WITHOUT_RUN_SQL =
      """
      SELECT n.run_id
        FROM unnest(?::uuid[], ?::uuid[], ?::bigint[]) AS n (run_id, schedule_id, fire_us)
       WHERE NOT EXISTS (SELECT 1 FROM kagzi.workflow_runs r
                          WHERE r.schedule_id = n.schedule_id AND r.fire_at = kagzi.at(n.fire_us))
      """;

  // namespace || '' matches no index, so that the planner uses the primary key.
  private static final String IS_OF_SQL =
      "SELECT 1 AS one FROM kagzi.workflow_runs WHERE run_id = ? AND schedule_id = ?"
          + " AND namespace || '' = ?";

  private static final long US_PER_MS = 1_000;
  private static final long US_PER_SECOND = 1_000_000;

  private FireRuns() {}

  /**
   * A run to be created.
   *
   * @param slot the fire time in seconds since 1970; null for a manual trigger
   * @param delayMs delay of its start
   */
  public record Wanted(RunId runId, RunId schedule, @Nullable Long slot, long delayMs) {
    /**
     * The run of a slot that is due. Its id is derived from the schedule and the slot. If a
     * promoted standby lacks the run, the slot fires again with the same run id, so the steps have
     * the same idempotency keys.
     */
    static Wanted ofSlot(RunId schedule, long slot, long delayMs) {
      return new Wanted(slotId(schedule, "slot", slot), schedule, slot, delayMs);
    }

    /**
     * The run of a slot that a call requests. Its id is also derived from the call, because an
     * earlier run of the slot may have been purged. The new run has another id and executes the
     * steps again.
     */
    public static Wanted ofCall(UUID call, RunId schedule, long slot) {
      return new Wanted(slotId(schedule, call.toString(), slot), schedule, slot, 0);
    }

    private static RunId slotId(RunId schedule, String word, long slot) {
      return schedule.derived(word + " " + slot, Instant.ofEpochSecond(slot));
    }

    private String externalId() {
      String key = slot == null ? "trigger:" + runId : Instant.ofEpochSecond(slot).toString();
      return ReservedIds.SCHEDULE + schedule + ":" + key;
    }

    private @Nullable Long fireUs() {
      return slot == null ? null : slot * US_PER_SECOND;
    }
  }

  /**
   * The result of an insert.
   *
   * @param conflicts slots without a run because another run has their external id
   */
  public record Inserted(List<FiredRun> runs, List<Wanted> conflicts) {}

  /** Inserts the runs. A slot that already has a run is in neither list of the result. */
  public static Inserted insert(Session tx, List<Wanted> wanted) throws SQLException {
    if (wanted.isEmpty()) {
      return new Inserted(List.of(), List.of());
    }
    List<FiredRun> runs = insertRuns(tx, wanted);
    List<Wanted> conflicts =
        runs.size() == wanted.size() ? List.of() : conflicts(tx, notIn(runs, wanted));
    for (Wanted conflict : conflicts) {
      log.atWarn()
          .addKeyValue("schedule", conflict.schedule)
          .addKeyValue("external_id", conflict.externalId())
          .log("a slot made no run: another run that is active has its external id");
    }
    return new Inserted(runs, conflicts);
  }

  private static List<Wanted> notIn(List<FiredRun> runs, List<Wanted> wanted) {
    Set<RunId> made = new HashSet<>();
    runs.forEach(run -> made.add(run.runId()));
    return wanted.stream().filter(w -> w.slot != null && !made.contains(w.runId)).toList();
  }

  private static List<Wanted> conflicts(Session tx, List<Wanted> notMade) throws SQLException {
    if (notMade.isEmpty()) {
      return notMade;
    }
    Set<RunId> withoutRun =
        new HashSet<>(
            tx.query(WITHOUT_RUN_SQL)
                .bindUuids(notMade, w -> w.runId.value())
                .bindUuids(notMade, w -> w.schedule.value())
                .bindNullableLongs(notMade, Wanted::fireUs)
                .list(row -> row.runId("run_id")));
    return notMade.stream().filter(w -> withoutRun.contains(w.runId)).toList();
  }

  private static List<FiredRun> insertRuns(Session tx, List<Wanted> wanted) throws SQLException {
    List<Long> dueUs = new ArrayList<>(wanted.size());
    for (int i = 0; i < wanted.size(); i++) {
      // Earlier slots become due some microseconds earlier, so that they are claimed in order.
      dueUs.add(wanted.get(i).delayMs * US_PER_MS - (wanted.size() - i));
    }
    Map<RunId, Long> delaysMs = new HashMap<>();
    wanted.forEach(w -> delaysMs.put(w.runId, w.delayMs));
    return tx.query(SQL)
        .bindUuids(wanted, w -> w.runId.value())
        .bindUuids(wanted, w -> w.schedule.value())
        .bindNullableLongs(wanted, Wanted::fireUs)
        .bindTexts(wanted, Wanted::externalId)
        .bindLongs(dueUs, us -> us)
        .list(row -> fired(row, delaysMs));
  }

  public static boolean isOf(Session tx, RunId run, RunId schedule, String namespace)
      throws SQLException {
    return tx.query(IS_OF_SQL)
        .bind(run.value())
        .bind(schedule.value())
        .bind(namespace)
        .first(row -> true)
        .isPresent();
  }

  private static FiredRun fired(Row row, Map<RunId, Long> delaysMs) throws SQLException {
    RunId id = row.runId("run_id");
    return new FiredRun(
        id,
        row.runId("schedule_id"),
        new QueueName(row.text("namespace"), row.text("task_queue")),
        new TypeVersion(row.text("workflow_type"), row.text("version")),
        delaysMs.getOrDefault(id, 0L),
        row.bigintOrNull("execution_timeout_ms"));
  }
}
