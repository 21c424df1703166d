package dev.kagzi.engine.internal.schedule;

import dev.kagzi.engine.internal.db.Row;
import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.schedule.Overlap;
import dev.kagzi.engine.value.RunId;
import java.sql.SQLException;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Locks due templates and advances them. Slots are seconds since 1970, by the database's clock. */
public final class ScheduleTemplates {
  private static final String COLUMNS =
      """
      SELECT t.run_id, t.cron_expr, t.time_zone, t.overlap_policy, t.max_catchup, t.jitter_ms,
             extract(epoch FROM t.fire_at)::bigint AS next_slot,
             extract(epoch FROM t.buffered_at)::bigint AS buffered,
             floor(extract(epoch FROM kagzi.clock()) * 1000)::bigint AS now_ms,
             (SELECT octet_length(i.data) + coalesce(pg_column_size(i.metadata), 0)
                FROM kagzi.workflow_payloads i
               WHERE i.run_id = t.run_id AND i.kind = 'INPUT') AS input_bytes
        FROM kagzi.workflow_runs t
        JOIN kagzi.namespaces m ON m.namespace = t.namespace AND m.enabled
       WHERE t.cron_expr IS NOT NULL AND t.status = 'SCHEDULED'
         AND t.available_at <= kagzi.clock()
      """;

  /** Newest first: templates that are late must not delay those that are on time. */
  static final String LOCK_DUE_SQL =
      COLUMNS
          + """
             ORDER BY t.available_at DESC
             LIMIT ?
               FOR NO KEY UPDATE OF t SKIP LOCKED
            """;

  static final String LOCK_ONE_SQL =
      COLUMNS
          + """
               AND t.run_id = ?
               FOR NO KEY UPDATE OF t SKIP LOCKED
            """;

  static final String DUE_IDS_SQL =
      """
      SELECT t.run_id
        FROM kagzi.workflow_runs t
       WHERE t.cron_expr IS NOT NULL AND t.status = 'SCHEDULED'
         AND t.available_at <= kagzi.clock()
       ORDER BY t.available_at DESC
       LIMIT ?
      """;

  static final String OPEN_SQL =
      """
      SELECT n.schedule_id
        FROM unnest(?::uuid[]) AS n (schedule_id)
       WHERE EXISTS (SELECT 1 FROM kagzi.workflow_runs r
                      WHERE r.schedule_id = n.schedule_id AND r.available_at IS NOT NULL)
      """;

  static final String ADVANCE_SQL =
      """
      UPDATE kagzi.workflow_runs t
         SET fire_at = kagzi.at(n.next_us),
             available_at = kagzi.at(n.next_us),
             buffered_at = kagzi.at(n.buffered_us),
             total_runs = t.total_runs + n.fired,
             missed_runs = t.missed_runs + n.missed,
             last_fired_at = CASE WHEN n.fired > 0 THEN c.now ELSE t.last_fired_at END,
             error = NULL
        FROM unnest(?::uuid[], ?::bigint[], ?::bigint[], ?::int[], ?::bigint[])
               AS n (run_id, next_us, buffered_us, fired, missed),
             (SELECT kagzi.clock() AS now) AS c
       WHERE t.run_id = n.run_id
      """;

  static final String STARTED_SQL =
      """
      UPDATE kagzi.workflow_runs
         SET total_runs = total_runs + ?, last_fired_at = kagzi.clock()
       WHERE run_id = ? AND cron_expr IS NOT NULL
      """;

  /** Postpones the template by a minute; its next slot does not change. */
  static final String POSTPONE_SQL =
      """
      UPDATE kagzi.workflow_runs
         SET available_at = kagzi.clock() + interval '1 minute', error = ?::jsonb
       WHERE run_id = ? AND cron_expr IS NOT NULL AND status = 'SCHEDULED'
         AND available_at <= kagzi.clock()
      """;

  /** Milliseconds until the next template is due; zero or negative if one is. */
  static final String NEXT_SQL =
      """
      SELECT ceil(extract(epoch FROM t.available_at - kagzi.clock()) * 1000)::bigint AS due_ms
        FROM kagzi.workflow_runs t
        JOIN kagzi.namespaces m ON m.namespace = t.namespace AND m.enabled
       WHERE t.cron_expr IS NOT NULL AND t.status = 'SCHEDULED'
         AND t.available_at < 'infinity'
       ORDER BY t.available_at
       LIMIT 1
      """;

  /** The due template with the latest fire time, locked or not. */
  static final String NEWEST_LEFT_SQL =
      """
      SELECT floor(extract(epoch FROM t.available_at))::bigint AS due_second,
             floor(extract(epoch FROM kagzi.clock()))::bigint AS now_second
        FROM kagzi.workflow_runs t
        JOIN kagzi.namespaces m ON m.namespace = t.namespace AND m.enabled
       WHERE t.cron_expr IS NOT NULL AND t.status = 'SCHEDULED'
         AND t.available_at <= kagzi.clock()
       ORDER BY t.available_at DESC
       LIMIT 1
      """;

  private static final long US_PER_SECOND = 1_000_000;
  private static final long NEVER_US = Long.MAX_VALUE;

  private ScheduleTemplates() {}

  /**
   * A due template, locked.
   *
   * @param overlapPolicy as stored; parsed later, so that an unknown value does not fail the batch
   */
  record Template(
      RunId id,
      String cronExpr,
      String timeZone,
      String overlapPolicy,
      int maxCatchup,
      long jitterMs,
      long nextSlot,
      long buffered,
      long nowMs,
      long inputBytes) {

    boolean forbidsOverlap() {
      return !overlapPolicy.equals(Overlap.ALLOW.name());
    }

    Overlap overlap() {
      return Overlap.read(overlapPolicy);
    }

    long nowSecond() {
      return Math.floorDiv(nowMs, 1_000);
    }

    /** The delay of a run after its slot, by jitter: constant for one schedule. */
    long shiftMs() {
      if (jitterMs == 0) {
        return 0;
      }
      long mixed = id.value().getLeastSignificantBits() * 0x9E3779B97F4A7C15L;
      return Math.floorMod(mixed ^ (mixed >>> 32), jitterMs);
    }

    long delayMs(long slot) {
      return Math.max(0, slot * 1_000 + shiftMs() - nowMs);
    }

    /** How long ago the run of the slot was to start; zero if that is later. */
    long lateMs(long slot) {
      return Math.max(0, nowMs - slot * 1_000 - shiftMs());
    }
  }

  /**
   * The result for one template.
   *
   * @param fired number of runs that were created
   * @param conflicts slots of the plan without a run because another run has their external id
   */
  record Advance(RunId id, FirePlan plan, int fired, int conflicts) {}

  static List<Template> lockDue(Session tx, int max) throws SQLException {
    return tx.query(LOCK_DUE_SQL).bind(max).list(ScheduleTemplates::map);
  }

  static List<Template> lockOne(Session tx, RunId id) throws SQLException {
    return tx.query(LOCK_ONE_SQL).bind(id.value()).list(ScheduleTemplates::map);
  }

  static List<RunId> dueIds(Session session, int max) throws SQLException {
    return session.query(DUE_IDS_SQL).bind(max).list(row -> row.runId("run_id"));
  }

  private static Template map(Row row) throws SQLException {
    return new Template(
        row.runId("run_id"),
        row.text("cron_expr"),
        row.text("time_zone"),
        row.text("overlap_policy"),
        row.integer("max_catchup"),
        row.bigint("jitter_ms"),
        row.bigint("next_slot"),
        orNone(row.bigintOrNull("buffered")),
        row.bigint("now_ms"),
        Objects.requireNonNullElse(row.bigintOrNull("input_bytes"), 0L));
  }

  static long orNone(@Nullable Long slot) {
    return slot == null ? FireTimes.NONE : slot;
  }

  /** Call after the lock: this separate statement sees runs committed before the lock. */
  static Set<RunId> withOpenRuns(Session tx, Collection<RunId> schedules) throws SQLException {
    if (schedules.isEmpty()) {
      return Set.of();
    }
    return new HashSet<>(
        tx.query(OPEN_SQL)
            .bindUuids(schedules, RunId::value)
            .list(row -> row.runId("schedule_id")));
  }

  static void advance(Session tx, List<Advance> advances) throws SQLException {
    if (!advances.isEmpty()) {
      tx.query(ADVANCE_SQL)
          .bindUuids(advances, a -> a.id.value())
          .bindLongs(advances, a -> a.plan.next() == FireTimes.NONE ? NEVER_US : us(a.plan.next()))
          .bindNullableLongs(
              advances,
              a -> a.plan.buffered() == FireTimes.NONE ? null : Long.valueOf(us(a.plan.buffered())))
          .bindInts(advances, Advance::fired)
          .bindLongs(advances, a -> a.plan.missed() + a.conflicts)
          .update();
    }
  }

  /** Counts runs that were started by a trigger or a back-fill. */
  public static void started(Session tx, RunId id, int runs) throws SQLException {
    tx.query(STARTED_SQL).bind(runs).bind(id.value()).update();
  }

  static void postpone(Session tx, RunId id, String error) throws SQLException {
    tx.query(POSTPONE_SQL).bind(error).bind(id.value()).update();
  }

  static @Nullable Long nextDueMs(Session session) throws SQLException {
    return session.query(NEXT_SQL).first(row -> row.bigint("due_ms")).orElse(null);
  }

  /** A template that is still due after a round, for example because it is locked. */
  record Left(long dueSecond, long nowSecond) {}

  static @Nullable Left newestLeft(Session session) throws SQLException {
    return session
        .query(NEWEST_LEFT_SQL)
        .first(row -> new Left(row.bigint("due_second"), row.bigint("now_second")))
        .orElse(null);
  }

  private static long us(long second) {
    return second * US_PER_SECOND;
  }
}
