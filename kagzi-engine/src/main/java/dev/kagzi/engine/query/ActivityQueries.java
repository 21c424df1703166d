package dev.kagzi.engine.query;

import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.query.Activity.DueSchedule;
import dev.kagzi.engine.query.Activity.Minute;
import dev.kagzi.engine.query.Activity.TypeRate;
import java.sql.SQLException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Reads the numbers of runs from {@code run_counts}, and what happened in the last hour from {@code
 * run_rates}. From the table of runs it reads only a limited number of rows, each kind by its own
 * index: due, crashed and blocked runs, and schedules.
 */
final class ActivityQueries {
  private static final String MINUTES =
      """
      SELECT r.minute, sum(r.started)::bigint AS started, sum(r.completed)::bigint AS completed,
             sum(r.failed)::bigint AS failed
        FROM kagzi.run_rates r
       WHERE r.namespace = ? AND r.minute > kagzi.clock() - interval '60 minutes'
       GROUP BY r.minute
      """;

  private static final String TYPES =
      """
      SELECT r.workflow_type, sum(r.started)::bigint AS started,
             sum(r.completed)::bigint AS completed, sum(r.failed)::bigint AS failed
        FROM kagzi.run_rates r
       WHERE r.namespace = ? AND r.minute > kagzi.clock() - interval '60 minutes'
       GROUP BY r.workflow_type
       ORDER BY failed DESC, started DESC, r.workflow_type
       LIMIT ?
      """;

  private static final String SLOTS =
      """
      SELECT coalesce(sum(w.concurrency_limit) FILTER (WHERE w.sends_count), 0)::bigint AS slots,
             coalesce(sum(greatest(w.concurrency_limit - w.active_count, 0))
                        FILTER (WHERE w.sends_count), 0)::bigint AS slots_free
        FROM kagzi.workers w
       WHERE w.namespace = ? AND w.status = 'ONLINE'
      """;

  private static final String SCHEDULES =
      """
      SELECT t.run_id, t.schedule_name, t.workflow_type, t.fire_at
        FROM kagzi.workflow_runs t
       WHERE t.namespace = ? AND t.cron_expr IS NOT NULL AND t.status = 'SCHEDULED'
         AND t.available_at < 'infinity' AND t.fire_at < 'infinity'
       ORDER BY t.available_at, t.run_id
       LIMIT ?
      """;

  private static final String CLOCK = "SELECT kagzi.clock() AS now";

  private final Session session;
  private final String namespace;

  ActivityQueries(Session session, String namespace) {
    this.session = session;
    this.namespace = namespace;
  }

  Activity read() throws SQLException {
    long[] slots =
        slots(namespace)
            .on(session)
            .first(row -> new long[] {row.bigint("slots"), row.bigint("slots_free")})
            .orElseThrow();
    return new Activity(
        new StatsQueries(session).stats(namespace),
        new QueueQueries(session, namespace).longest(Activity.QUEUES_MAX),
        minutes(),
        types(),
        blocked(),
        new AttentionQueries(session).crashing(namespace),
        new AttentionQueries(session).disabled(),
        new ServedQueries(session).read(namespace, null, null),
        slots[0],
        slots[1],
        schedules());
  }

  private List<Minute> minutes() throws SQLException {
    Map<Instant, Minute> found = new HashMap<>();
    minutes(namespace)
        .on(session)
        .list(
            row -> {
              Minute minute =
                  new Minute(
                      row.time("minute"),
                      row.bigint("started"),
                      row.bigint("completed"),
                      row.bigint("failed"));
              return found.put(minute.at(), minute);
            });
    Instant last =
        session
            .query(CLOCK)
            .first(row -> row.time("now"))
            .orElseThrow()
            .truncatedTo(ChronoUnit.MINUTES);
    List<Minute> all = new ArrayList<>();
    for (int ago = Activity.MINUTES - 1; ago >= 0; ago--) {
      Instant at = last.minus(ago, ChronoUnit.MINUTES);
      all.add(found.getOrDefault(at, new Minute(at, 0, 0, 0)));
    }
    return all;
  }

  private List<TypeRate> types() throws SQLException {
    return types(namespace)
        .on(session)
        .list(
            row ->
                new TypeRate(
                    row.text("workflow_type"),
                    row.bigint("started"),
                    row.bigint("completed"),
                    row.bigint("failed")));
  }

  private RunCount blocked() throws SQLException {
    RunFilter blocked =
        new RunFilter(
            namespace, Set.of(), null, null, null, null, null, null, null, null, false, true);
    return new RunQueries(session).count(blocked);
  }

  private List<DueSchedule> schedules() throws SQLException {
    return schedules(namespace)
        .on(session)
        .list(
            row ->
                new DueSchedule(
                    row.runId("run_id"),
                    row.textOrEmpty("schedule_name"),
                    row.text("workflow_type"),
                    row.time("fire_at")));
  }

  static SqlBuilder minutes(String namespace) {
    return new SqlBuilder().add(MINUTES, namespace);
  }

  static SqlBuilder types(String namespace) {
    return new SqlBuilder().add(TYPES, namespace, Activity.TYPES_MAX);
  }

  static SqlBuilder slots(String namespace) {
    return new SqlBuilder().add(SLOTS, namespace);
  }

  static SqlBuilder schedules(String namespace) {
    return new SqlBuilder().add(SCHEDULES, namespace, Activity.SCHEDULES_MAX);
  }
}
