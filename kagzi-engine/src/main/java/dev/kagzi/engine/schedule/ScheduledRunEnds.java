package dev.kagzi.engine.schedule;

import dev.kagzi.engine.db.Row;
import dev.kagzi.engine.db.Session;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;

/**
 * What the end of a schedule's run does, in the transaction of the end: it is counted, and the slot
 * that waited for it becomes a run.
 *
 * <p>The template's lock decides between an end and a fire: a fire that holds it sees the run as
 * open and lets its slot wait, and the end, which comes for the lock later, finds the slot; an end
 * that holds it keeps the fire away until it is durable. Of two runs that end at once, the second
 * to come by sees that the first has ended. Ends take the lock after the runs they have, and
 * whoever fires locks templates only and waits for none: nobody waits in a circle.
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

  static final String LOCK_FORGOTTEN_SQL =
      WAITING
          + """
               AND t.buffered_at IS NOT NULL
               AND NOT EXISTS (SELECT FROM kagzi.workflow_runs r
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

  /** A run of a schedule that has ended, or that goes on after its end. */
  public record Turn(RunId schedule, RunStatus was, RunStatus became) {
    private int count(Set<RunStatus> statuses) {
      return (statuses.contains(became) ? 1 : 0) - (statuses.contains(was) ? 1 : 0);
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
          new RunId(row.uuid("run_id")),
          ScheduleTemplates.orNone(row.bigintOrNull("slot")),
          row.bool("works"));
    }
  }

  /** Counts, and starts what waited. The ends must have been written before. */
  public static List<FiredRun> apply(Session tx, List<Turn> turns) throws SQLException {
    List<Turn> counted = turns.stream().filter(t -> t.completed() != 0 || t.failed() != 0).toList();
    if (!counted.isEmpty()) {
      tx.query(COUNT_SQL)
          .bindUuids(counted, t -> t.schedule.value())
          .bindInts(counted, Turn::completed)
          .bindInts(counted, Turn::failed)
          .update();
    }
    Set<RunId> ended = new java.util.TreeSet<>();
    turns.stream().filter(t -> t.became.isFinal()).forEach(t -> ended.add(t.schedule));
    return ended.isEmpty() ? List.of() : start(tx, lock(tx, ended));
  }

  private static List<Waiting> lock(Session tx, Collection<RunId> schedules) throws SQLException {
    return tx.query(LOCK_SQL).bindUuids(schedules, RunId::value).list(Waiting::map);
  }

  /** Starts slots that wait although nothing runs: a server that knows no schedules ended it. */
  static List<FiredRun> startForgotten(Session tx, int max) throws SQLException {
    return start(tx, tx.query(LOCK_FORGOTTEN_SQL).bind(max).list(Waiting::map));
  }

  private static List<FiredRun> start(Session tx, List<Waiting> locked) throws SQLException {
    List<Waiting> waiting =
        locked.stream().filter(w -> w.works && w.slot != FireTimes.NONE).toList();
    Set<RunId> open =
        ScheduleTemplates.withOpenRuns(tx, waiting.stream().map(Waiting::schedule).toList());
    List<FireRuns.Wanted> wanted = new ArrayList<>();
    for (Waiting one : waiting) {
      if (!open.contains(one.schedule)) {
        wanted.add(
            new FireRuns.Wanted(RunId.next(one.schedule.shard()), one.schedule, one.slot, 0));
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
