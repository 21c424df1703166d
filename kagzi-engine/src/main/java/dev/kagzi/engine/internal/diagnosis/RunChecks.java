package dev.kagzi.engine.internal.diagnosis;

import dev.kagzi.engine.diagnosis.Check;
import dev.kagzi.engine.diagnosis.Finding;
import dev.kagzi.engine.diagnosis.Finding.FoundRun;
import dev.kagzi.engine.internal.db.Row;
import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.internal.value.CountText;
import dev.kagzi.engine.value.RunId;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/**
 * Finds runs that do not continue. The statements find the queues, types and versions that have
 * open runs in {@code run_counts}, and then read a limited number of runs of each by the claim
 * index. So ended runs cost nothing.
 */
public final class RunChecks {
  private static final int RUNS_MAX = 1_000;
  private static final int GROUPS_MAX = 10;
  private static final int SHOWN_MAX = 5;
  private static final long DUE_WARN_MS = 5 * 60_000;
  private static final long DUE_FAIL_MS = 60 * 60_000;
  private static final long MESSAGE_MS = 60_000;
  private static final long SCHEDULE_MS = 60_000;
  private static final int CRASHES_MIN = 2;
  private static final int KEYS_MAX = 10_000;
  private static final int CRASHING_SEARCHED_MAX = 10_000;

  /** Leases of workers that are executing crashing runs end within this time, too. */
  private static final long CRASHING_AHEAD_MS_MIN = 600_000;

  // A disabled namespace hands out no runs on purpose.
  private static final String KEYS =
      """
      WITH k AS MATERIALIZED (
        SELECT c.namespace, c.task_queue, c.workflow_type, c.version
          FROM (SELECT namespace, task_queue, workflow_type, version
                  FROM kagzi.run_counts
                 WHERE status IN ('PENDING', 'RUNNING', 'SLEEPING') AND runs > 0
                UNION
                SELECT namespace, task_queue, workflow_type, version
                  FROM kagzi.run_changes
                 WHERE to_status IN ('PENDING', 'RUNNING', 'SLEEPING')) c
          JOIN kagzi.namespaces n ON n.namespace = c.namespace AND n.enabled
         LIMIT ?)
      """;

  private static final String KEYS_SEARCHED = KEYS + "SELECT count(*) AS keys FROM k";

  static final String DUE =
      KEYS
          + """
          SELECT k.namespace, k.task_queue, k.workflow_type, d.runs, d.ids,
                 (extract(epoch FROM kagzi.clock() - d.oldest) * 1000)::bigint AS age_ms,
                 (SELECT count(*) FROM kagzi.workers w
                   WHERE w.namespace = k.namespace AND w.task_queue = k.task_queue
                     AND w.status = 'ONLINE') AS workers
            FROM k
           CROSS JOIN LATERAL (
                 SELECT count(*) AS runs, min(r.available_at) AS oldest,
                        (array_agg(r.run_id::text ORDER BY r.available_at))[1:2] AS ids
                   FROM (SELECT w.run_id, w.available_at
                           FROM kagzi.workflow_runs w
                          WHERE w.namespace = k.namespace AND w.task_queue = k.task_queue
                            AND w.workflow_type = k.workflow_type AND w.version = k.version
                            AND w.available_at IS NOT NULL AND w.cron_expr IS NULL
                            AND w.available_at
                                  <= kagzi.clock() - ?::bigint * interval '1 millisecond'
                          ORDER BY w.available_at
                          LIMIT ?) r) AS d
           WHERE d.runs > 0
           ORDER BY d.oldest
           LIMIT ?
          """;

  // A crash makes a run due now or after a short delay. So of the due runs, those that became due
  // last are read: a crashed run must not be hidden by a long queue that waits before it.
  static final String CRASHING =
      KEYS
          + """
          SELECT k.namespace, r.run_id, r.workflow_type, r.crashes
            FROM k
           CROSS JOIN LATERAL (
                 (SELECT w.run_id, w.workflow_type, w.crashes
                    FROM kagzi.workflow_runs w
                   WHERE w.namespace = k.namespace AND w.task_queue = k.task_queue
                     AND w.workflow_type = k.workflow_type AND w.version = k.version
                     AND w.available_at IS NOT NULL AND w.cron_expr IS NULL
                     AND w.available_at > kagzi.clock()
                     AND w.available_at <= kagzi.clock() + ?::bigint * interval '1 millisecond'
                   ORDER BY w.available_at
                   LIMIT ?)
                 UNION ALL
                 (SELECT w.run_id, w.workflow_type, w.crashes
                    FROM kagzi.workflow_runs w
                   WHERE w.namespace = k.namespace AND w.task_queue = k.task_queue
                     AND w.workflow_type = k.workflow_type AND w.version = k.version
                     AND w.available_at IS NOT NULL AND w.cron_expr IS NULL
                     AND w.available_at <= kagzi.clock()
                   ORDER BY w.available_at DESC
                   LIMIT ?)) r
           WHERE r.crashes >= ?
           ORDER BY r.crashes DESC, r.run_id
           LIMIT ?
          """;

  // The order is that of an index, so the planner uses it with any statistics. A RUNNING run
  // keeps blocked_by until its claim ends, but its worker continues it.
  static final String BLOCKED =
      """
      SELECT r.namespace, r.run_id, r.workflow_type
        FROM kagzi.workflow_runs r
       WHERE r.blocked_by IS NOT NULL AND r.status = 'PENDING'
         AND r.available_at IS NOT NULL AND r.cron_expr IS NULL
       ORDER BY r.namespace, r.created_at, r.run_id
       LIMIT ?
      """;

  static final String MESSAGES =
      """
      SELECT m.to_run AS run_id, coalesce(r.namespace, '') AS namespace,
             (extract(epoch FROM kagzi.clock() - m.created_at) * 1000)::bigint AS age_ms
        FROM (SELECT to_run, created_at
                FROM kagzi.run_messages
               WHERE created_at < kagzi.clock() - ?::bigint * interval '1 millisecond'
               ORDER BY created_at
               LIMIT ?) m
        LEFT JOIN kagzi.workflow_runs r ON r.run_id = m.to_run
       ORDER BY m.created_at
      """;

  // A schedule that cannot be fired is tried again after a minute with the same slot: its
  // available_at is never late, but it has an error.
  static final String SCHEDULES =
      """
      SELECT t.namespace, t.schedule_name, coalesce(t.error->>'message', '') AS error,
             (extract(epoch FROM kagzi.clock() - coalesce(t.fire_at, t.available_at))
               * 1000)::bigint AS age_ms
        FROM kagzi.workflow_runs t
        JOIN kagzi.namespaces n ON n.namespace = t.namespace AND n.enabled
       WHERE t.cron_expr IS NOT NULL AND t.status = 'SCHEDULED' AND t.available_at < 'infinity'
         AND t.available_at < kagzi.clock() + interval '2 minutes'
         AND (t.error IS NOT NULL
              OR t.available_at < kagzi.clock() - ?::bigint * interval '1 millisecond')
       ORDER BY t.available_at
       LIMIT ?
      """;

  private final Session session;

  public RunChecks(Session session) {
    this.session = session;
  }

  private record DueRuns(
      String namespace,
      String queue,
      String type,
      long runs,
      List<String> ids,
      long ageMs,
      long workers) {
    static DueRuns of(Row row) throws SQLException {
      return new DueRuns(
          row.text("namespace"),
          row.text("task_queue"),
          row.text("workflow_type"),
          row.bigint("runs"),
          row.texts("ids"),
          row.bigint("age_ms"),
          row.bigint("workers"));
    }

    List<FoundRun> found() {
      return ids.stream()
          .flatMap(id -> RunId.parse(id).stream())
          .map(id -> new FoundRun(namespace, id))
          .toList();
    }

    @Override
    public String toString() {
      return "%s of type %s on queue %s in %s, the first for %s (workers online there: %d)"
          .formatted(atLeast(runs, "run"), type, queue, namespace, Units.time(ageMs), workers);
    }
  }

  /** Adds "at least" to a number that has reached the limit of its query. */
  private static String atLeast(long number, String one) {
    return (number < RUNS_MAX ? "" : "at least ") + CountText.of(number, one);
  }

  public Finding due() throws SQLException {
    List<DueRuns> groups =
        session
            .query(DUE)
            .bind(KEYS_MAX)
            .bind(DUE_WARN_MS)
            .bind(RUNS_MAX)
            .bind(GROUPS_MAX)
            .list(DueRuns::of);
    if (groups.isEmpty()) {
      return Finding.ok(
          Check.DUE_RUNS,
          "no run is due for more than " + Units.time(DUE_WARN_MS) + searched(KEYS_MAX));
    }
    List<FoundRun> runs = groups.stream().flatMap(group -> group.found().stream()).toList();
    String message =
        "runs are due and no worker takes them: %s (expected: taken within %s)"
            .formatted(
                String.join("; ", groups.stream().map(DueRuns::toString).toList()),
                Units.time(DUE_WARN_MS));
    String advice =
        "start workers that serve these queues, types and versions, or more of them, unless a run"
            + " below has lost its workers before";
    Finding finding =
        groups.get(0).ageMs >= DUE_FAIL_MS
            ? Finding.failure(Check.DUE_RUNS, message, advice)
            : Finding.warning(Check.DUE_RUNS, message, advice);
    return finding.withRuns(shown(runs));
  }

  /**
   * Returns a note if not all queues, types and versions were searched; otherwise an empty text.
   */
  String searched(int keysMax) throws SQLException {
    long keys =
        session.query(KEYS_SEARCHED).bind(keysMax).first(row -> row.bigint("keys")).orElse(0L);
    return keys < keysMax
        ? ""
        : " (searched: %d combinations of queue, type and version; there may be more)"
            .formatted(keys);
  }

  private static List<FoundRun> shown(List<FoundRun> runs) {
    return runs.subList(0, Math.min(SHOWN_MAX, runs.size()));
  }

  private static FoundRun run(Row row) throws SQLException {
    return new FoundRun(row.text("namespace"), row.runId("run_id"));
  }

  public Finding blocked() throws SQLException {
    List<FoundRun> runs = session.query(BLOCKED).bind(RUNS_MAX).list(RunChecks::run);
    return runs.isEmpty()
        ? Finding.ok(Check.BLOCKED_RUNS, "no run is blocked")
        : Finding.warning(
                Check.BLOCKED_RUNS,
                "blocked: their workers cannot continue them: %s"
                    .formatted(atLeast(runs.size(), "run") + " (expected: none)"),
                "kagzi workflow why RUN shows what each needs, mostly a worker with matching code")
            .withRuns(shown(runs));
  }

  /**
   * @param delayMaxMs the longest delay of a run after a crash
   */
  public Finding crashing(long delayMaxMs) throws SQLException {
    List<FoundRun> runs = new ArrayList<>();
    List<Integer> crashes =
        session
            .query(CRASHING)
            .bind(KEYS_MAX)
            .bind(Math.max(delayMaxMs, CRASHING_AHEAD_MS_MIN))
            .bind(CRASHING_SEARCHED_MAX)
            .bind(CRASHING_SEARCHED_MAX)
            .bind(CRASHES_MIN)
            .bind(RUNS_MAX)
            .list(
                row -> {
                  runs.add(run(row));
                  return row.integer("crashes");
                });
    return runs.isEmpty()
        ? Finding.ok(
            Check.CRASHING_RUNS, "no run has lost two workers in a row" + searched(KEYS_MAX))
        : Finding.warning(
                Check.CRASHING_RUNS,
                "lost by their workers: %s, the first %d times in a row (expected: at most once)"
                    .formatted(atLeast(runs.size(), "run"), crashes.get(0)),
                "their code may end the process, for example by its memory: see the logs of the"
                    + " workers")
            .withRuns(shown(runs));
  }

  public Finding messages() throws SQLException {
    List<Long> ages = new ArrayList<>();
    List<FoundRun> runs =
        session
            .query(MESSAGES)
            .bind(MESSAGE_MS)
            .bind(RUNS_MAX)
            .list(
                row -> {
                  ages.add(row.bigint("age_ms"));
                  return run(row);
                });
    return runs.isEmpty()
        ? Finding.ok(Check.MESSAGES, "all messages between runs are delivered")
        : Finding.failure(
                Check.MESSAGES,
                "not delivered: %s between runs, the oldest for %s (expected: within %s)"
                    .formatted(
                        atLeast(runs.size(), "message"),
                        Units.time(ages.get(0)),
                        Units.time(MESSAGE_MS)),
                "a server should have delivered them: see its log, and restart it")
            .withRuns(shown(runs));
  }

  public Finding schedules() throws SQLException {
    List<LateSchedule> late =
        session.query(SCHEDULES).bind(SCHEDULE_MS).bind(GROUPS_MAX).list(LateSchedule::of);
    if (late.isEmpty()) {
      return Finding.ok(Check.SCHEDULES, "all schedules fire in time");
    }
    boolean isServerFault = late.stream().anyMatch(each -> each.error.isEmpty());
    return Finding.failure(
        Check.SCHEDULES,
        "schedules are late: %s (expected: at most %s)"
            .formatted(
                String.join("; ", late.stream().map(LateSchedule::toString).toList()),
                Units.time(SCHEDULE_MS)),
        isServerFault
            ? "a server should have fired them: see its log, and restart it"
            : "correct them with kagzi schedule update; kagzi schedule why explains one");
  }

  private record LateSchedule(String namespace, String name, String error, long ageMs) {
    static LateSchedule of(Row row) throws SQLException {
      return new LateSchedule(
          row.text("namespace"),
          row.text("schedule_name"),
          row.text("error"),
          Math.max(0, row.bigint("age_ms")));
    }

    @Override
    public String toString() {
      String cause = error.isEmpty() ? "" : ", which cannot fire: " + error;
      return "%s in %s by %s%s".formatted(name, namespace, Units.time(ageMs), cause);
    }
  }
}
