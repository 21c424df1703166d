package dev.kagzi.engine.internal.schedule;

import dev.kagzi.engine.internal.db.Row;
import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;

/**
 * Effects of the end of a schedule's run, in the transaction of the end: the end is counted, unless
 * the run was cancelled, and the buffered slot becomes a run, unless another run is open or the
 * schedule or its namespace is disabled.
 *
 * <p>The lock of a template with BUFFER_ONE orders an end and a fire. A fire that holds it sees the
 * run as open and buffers its slot; the end, which gets the lock later, finds the slot. An end that
 * holds it delays the fire. When two runs end at once, the second sees that the first has ended.
 *
 * <p>Ends lock runs first, then templates. Firing locks only templates and skips locked ones. So
 * there is no deadlock.
 */
public final class ScheduledRunEnds {
  static final String COUNT_SQL =
      """
      INSERT INTO kagzi.schedule_changes (schedule_id, completed, failed)
      SELECT * FROM unnest(?::uuid[], ?::int[], ?::int[])
      """;

  private static final String WAITING =
      """
      SELECT t.run_id, extract(epoch FROM t.buffered_at)::bigint AS slot,
             t.status = 'SCHEDULED'
               AND coalesce((SELECT m.enabled FROM kagzi.namespaces m
                              WHERE m.namespace = t.namespace), false) AS works
        FROM kagzi.workflow_runs t
       WHERE t.cron_expr IS NOT NULL
      """;

  public static final String LOCK_SQL =
      WAITING
          + """
               AND t.run_id = ANY (?::uuid[])
               AND (t.overlap_policy = 'BUFFER_ONE' OR t.buffered_at IS NOT NULL)
             ORDER BY t.run_id
               FOR NO KEY UPDATE
            """;

  static final String LOCK_OVERDUE_SQL =
      WAITING
          + """
               AND t.buffered_at IS NOT NULL
               AND NOT EXISTS (SELECT 1 FROM kagzi.workflow_runs r
                                WHERE r.schedule_id = t.run_id AND r.available_at IS NOT NULL)
             ORDER BY t.run_id
             LIMIT ?
               FOR NO KEY UPDATE SKIP LOCKED
            """;

  static final String TAKEN_SQL =
      """
      UPDATE kagzi.workflow_runs
         SET buffered_at = NULL,
             total_runs = total_runs + CASE WHEN run_id = ANY (?::uuid[]) THEN 1 ELSE 0 END,
             missed_runs = missed_runs + CASE WHEN run_id = ANY (?::uuid[]) THEN 1 ELSE 0 END,
             last_fired_at = kagzi.clock()
       WHERE run_id = ANY (?::uuid[]) AND cron_expr IS NOT NULL
      """;

  private ScheduledRunEnds() {}

  /** A status change of a schedule's run: it ended, or it was resumed. */
  public record StatusChange(RunId schedule, RunStatus fromStatus, RunStatus toStatus) {
    private int count(Set<RunStatus> statuses) {
      return (statuses.contains(toStatus) ? 1 : 0) - (statuses.contains(fromStatus) ? 1 : 0);
    }

    private int completed() {
      return count(Set.of(RunStatus.COMPLETED));
    }

    private int failed() {
      return count(Set.of(RunStatus.FAILED, RunStatus.TIMED_OUT));
    }
  }

  private record Waiting(RunId schedule, long slot, boolean works) {
    static Waiting map(Row row) throws SQLException {
      return new Waiting(
          row.runId("run_id"),
          ScheduleTemplates.orNone(row.bigintOrNull("slot")),
          row.bool("works"));
    }
  }

  /** Counts the ends and starts buffered slots. Call after the ends have been written. */
  public static List<FiredRun> apply(Session tx, List<StatusChange> changes) throws SQLException {
    List<StatusChange> counted =
        changes.stream().filter(t -> t.completed() != 0 || t.failed() != 0).toList();
    if (!counted.isEmpty()) {
      tx.query(COUNT_SQL)
          .bindUuids(counted, t -> t.schedule.value())
          .bindInts(counted, StatusChange::completed)
          .bindInts(counted, StatusChange::failed)
          .update();
    }
    Set<RunId> ended = new java.util.TreeSet<>();
    changes.stream().filter(t -> t.toStatus.isFinal()).forEach(t -> ended.add(t.schedule));
    return ended.isEmpty() ? List.of() : start(tx, lock(tx, ended));
  }

  private static List<Waiting> lock(Session tx, Collection<RunId> schedules) throws SQLException {
    return tx.query(LOCK_SQL).bindUuids(schedules, RunId::value).list(Waiting::map);
  }

  /**
   * Starts buffered slots whose schedules have no open run. The end of a run leaves such a slot if
   * the overlap policy is changed during the end, for example.
   */
  static List<FiredRun> startOverdueBuffered(Session tx, int max) throws SQLException {
    return start(tx, tx.query(LOCK_OVERDUE_SQL).bind(max).list(Waiting::map));
  }

  private static List<FiredRun> start(Session tx, List<Waiting> locked) throws SQLException {
    List<Waiting> waiting =
        locked.stream().filter(w -> w.works && w.slot != FireTimes.NONE).toList();
    Set<RunId> open =
        ScheduleTemplates.withOpenRuns(tx, waiting.stream().map(Waiting::schedule).toList());
    List<FireRuns.Wanted> wanted = new ArrayList<>();
    for (Waiting one : waiting) {
      if (!open.contains(one.schedule)) {
        wanted.add(FireRuns.Wanted.ofSlot(one.schedule, one.slot, 0));
      }
    }
    if (wanted.isEmpty()) {
      return List.of();
    }
    FireRuns.Inserted inserted = FireRuns.insert(tx, wanted);
    tx.query(TAKEN_SQL)
        .bindUuids(inserted.runs(), run -> run.schedule().value())
        .bindUuids(inserted.conflicts(), w -> w.schedule().value())
        .bindUuids(wanted, w -> w.schedule().value())
        .update();
    return inserted.runs();
  }
}
