package dev.kagzi.engine.internal.dispatch;

import dev.kagzi.engine.dispatch.PollRequest;
import dev.kagzi.engine.dispatch.Task;
import dev.kagzi.engine.internal.db.Row;
import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.internal.run.TakeReason;
import dev.kagzi.engine.internal.run.TraceLog;
import dev.kagzi.engine.internal.step.ClaimedHistories;
import dev.kagzi.engine.internal.step.ClaimedHistories.History;
import dev.kagzi.engine.internal.value.Json;
import dev.kagzi.engine.retry.CrashPolicy;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.QueueName;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.TypeVersion;
import dev.kagzi.engine.value.WorkerId;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.ToLongFunction;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Claims due runs for waiting slots: the i-th run for the i-th slot. */
public final class ClaimRuns {
  private static final Logger log = LoggerFactory.getLogger(ClaimRuns.class);

  /**
   * Each type and version has its own index scan and limit, so that a million runs of a type
   * without workers are not scanned.
   *
   * <p>A RUNNING run whose lease has ended is taken over. The first take-over since the run made
   * progress is immediate. A later one, or one over the crash limit, only sets the run aside as
   * PENDING, and {@link #DELAY_SQL} delays it. Otherwise a run that kills its workers would kill
   * them all at once.
   *
   * <p>The first claim of a run has the epoch {@code base + 1}, where {@code base} is {@link
   * Session#epochBase}. A later claim has the run's epoch plus 1, but at least {@code base + 2}. So
   * it differs from a claim of an earlier generation that the database has lost.
   *
   * <p>Runs are claimed while the sum of their inputs and headers is within the byte limit; one run
   * is claimed in any case.
   */
  public static final String SQL =
      """
      WITH c AS MATERIALIZED (
        SELECT x.run_id, x.status AS from_status, x.found, x.available_at AS due_at,
               x.clean_up_ms,
               x.status = 'RUNNING' AND x.crashes > 0
                 OR x.crashes + (x.status = 'RUNNING')::int > k.crashes_max AS aside,
               row_number() OVER (ORDER BY x.available_at, x.run_id) AS slot
          FROM (SELECT d.*, count(*) OVER () AS found,
                       sum(d.bytes) OVER (ORDER BY d.available_at, d.run_id) - d.bytes
                         AS bytes_before
                  FROM (SELECT f.*,
                               coalesce(octet_length(i.data), 0)
                                 + coalesce(octet_length(f.headers::text), 0) AS bytes
                          FROM (SELECT r.run_id, r.status, r.crashes, r.available_at, r.headers,
                                       t.clean_up_ms
                                  FROM unnest(?::text[], ?::text[], ?::int[], ?::bigint[],
                                              ?::bigint[])
                                         AS t (workflow_type, version, tasks_max, low_us,
                                               clean_up_ms)
                                 CROSS JOIN LATERAL (
                                       SELECT w.run_id, w.status, w.crashes, w.available_at,
                                              w.headers
                                         FROM kagzi.workflow_runs w
                                        WHERE w.namespace = ? AND w.task_queue = ?
                                          AND w.workflow_type = t.workflow_type
                                          AND w.version = t.version
                                          AND w.available_at IS NOT NULL AND w.cron_expr IS NULL
                                          AND w.available_at >= kagzi.at(t.low_us)
                                          AND w.available_at <= kagzi.clock()
                                          AND (w.deadline_at IS NULL
                                               OR w.deadline_at > kagzi.clock())
                                        ORDER BY w.available_at
                                        LIMIT t.tasks_max
                                          FOR NO KEY UPDATE SKIP LOCKED) AS r
                                 ORDER BY r.available_at, r.run_id
                                 LIMIT ?) AS f
                          LEFT JOIN kagzi.workflow_payloads i
                                 ON i.run_id = f.run_id AND i.kind = 'INPUT') AS d) AS x,
               (VALUES (?::int, ?::bigint)) AS k (crashes_max, bytes_max)
         WHERE x.bytes_before = 0 OR x.bytes_before + x.bytes <= k.bytes_max),
      u AS (
        UPDATE kagzi.workflow_runs w
           SET epoch = greatest(w.epoch, t.base + (w.epoch > 0)::int) + 1,
               free_epoch = CASE WHEN c.from_status = 'RUNNING'
                                 THEN coalesce(w.free_epoch, w.epoch - 1)
                                 ELSE greatest(w.epoch, t.base + (w.epoch > 0)::int) END,
               status = CASE WHEN c.aside THEN 'PENDING' ELSE 'RUNNING' END,
               locked_by = CASE WHEN c.aside THEN NULL ELSE (?::uuid[])[c.slot] END,
               taken_from = CASE WHEN c.aside AND c.from_status = 'RUNNING' THEN w.locked_by END,
               taken_epoch = CASE WHEN c.aside AND c.from_status = 'RUNNING' THEN w.epoch END,
               lost_epoch = CASE WHEN c.from_status = 'RUNNING'
                                 THEN coalesce(w.lost_epoch, w.epoch) ELSE w.lost_epoch END,
               claimed_at = kagzi.clock(),
               available_at = kagzi.clock()
                 + CASE WHEN c.aside THEN 0 ELSE ?::bigint END * interval '1 millisecond',
               crashes = w.crashes + CASE WHEN c.from_status = 'RUNNING' THEN 1 ELSE 0 END,
               started_at = coalesce(w.started_at, t.now),
               waits_for = NULL,
               clean_up_ms = CASE WHEN c.aside THEN w.clean_up_ms
                                  ELSE nullif(c.clean_up_ms, 0) END
          FROM c, (SELECT kagzi.clock() AS now, ?::int AS base) AS t
         WHERE w.run_id = c.run_id
        RETURNING w.run_id, w.epoch, w.status, w.workflow_type, w.version, w.attempts, w.external_id,
                  w.created_at, w.claimed_at, w.crashes, w.step_timeout_ms, w.headers,
                  ceil(extract(epoch FROM w.deadline_at - t.now) * 1000)::bigint
                    AS deadline_in_ms,
                  (extract(epoch FROM t.now - c.due_at) * 1000000)::bigint AS waited_us,
                  c.slot, c.from_status, c.found, w.namespace, w.task_queue,
                  w.cancel_epoch IS NOT NULL AS cancel_requested,
                  w.clean_up_ms IS NOT NULL AS cleans_up),
      n AS (
        INSERT INTO kagzi.run_changes
               (namespace, task_queue, workflow_type, version, from_status, to_status, runs)
        SELECT namespace, task_queue, workflow_type, version, from_status, status, count(*)
          FROM u
         WHERE from_status <> status
         GROUP BY namespace, task_queue, workflow_type, version, from_status, status)
      SELECT u.*, p.data, p.metadata
        FROM u
        LEFT JOIN kagzi.workflow_payloads p ON p.run_id = u.run_id AND p.kind = 'INPUT'
       ORDER BY u.slot
      """;

  /** Delays runs that {@link #SQL} set aside, by the back-off of {@link CrashPolicy}. */
  public static final String DELAY_SQL =
      """
      UPDATE kagzi.workflow_runs w
         SET available_at = kagzi.clock() + n.delay_ms * interval '1 millisecond'
        FROM unnest(?::uuid[], ?::int[], ?::bigint[]) AS n (run_id, epoch, delay_ms)
       WHERE w.run_id = n.run_id AND w.epoch = n.epoch
      """;

  /**
   * For each queue, milliseconds until the next run of its types is due; zero or less if one is due
   * now. Searches the due times from {@code low_us} to before {@code high_us}.
   */
  public static final String NEXT_DUE_SQL =
      """
      SELECT ceil(extract(epoch FROM min(d.available_at) - kagzi.clock()) * 1000)::bigint AS due_ms,
             (extract(epoch FROM kagzi.clock()) * 1000000)::bigint AS now_us
        FROM unnest(?::int[], ?::text[], ?::text[], ?::text[], ?::text[], ?::bigint[], ?::bigint[])
               AS t (queue, namespace, task_queue, workflow_type, version, low_us, high_us)
        LEFT JOIN LATERAL (
             SELECT w.available_at
               FROM kagzi.workflow_runs w
              WHERE w.namespace = t.namespace AND w.task_queue = t.task_queue
                AND w.workflow_type = t.workflow_type AND w.version = t.version
                AND w.available_at IS NOT NULL AND w.cron_expr IS NULL
                AND w.available_at >= kagzi.at(t.low_us)
                AND w.available_at < kagzi.at(t.high_us)
                AND w.available_at < 'infinity'
                AND (w.deadline_at IS NULL OR w.deadline_at > kagzi.clock())
              ORDER BY w.available_at
              LIMIT 1) AS d ON true
       GROUP BY t.queue
       ORDER BY t.queue
      """;

  /** The versions of open runs of these types, at most 1000; one index probe per version. */
  public static final String VERSIONS_SQL =
      """
      WITH RECURSIVE v AS (
        SELECT t.workflow_type, (
                 SELECT min(w.version) FROM kagzi.workflow_runs w
                  WHERE w.namespace = ? AND w.task_queue = ? AND w.workflow_type = t.workflow_type
                    AND w.available_at IS NOT NULL AND w.cron_expr IS NULL) AS version
          FROM unnest(?::text[]) AS t (workflow_type)
        UNION ALL
        SELECT v.workflow_type, (
                 SELECT min(w.version) FROM kagzi.workflow_runs w
                  WHERE w.namespace = ? AND w.task_queue = ? AND w.workflow_type = v.workflow_type
                    AND w.available_at IS NOT NULL AND w.cron_expr IS NULL
                    AND w.version > v.version)
          FROM v
         WHERE v.version IS NOT NULL)
      SELECT workflow_type, version FROM v WHERE version IS NOT NULL LIMIT 1000
      """;

  private ClaimRuns() {}

  /**
   * The result of a claim query.
   *
   * @param crashed runs that have crashed more often than the limit allows
   * @param takenOver the types of runs whose lease had ended
   * @param isCut more runs may be due: their inputs did not fit into the byte limit, or the query
   *     had fewer slots than its group
   */
  record Found(
      List<ClaimedRun> claimed, List<RunId> crashed, List<TypeVersion> takenOver, boolean isCut) {
    static final Found NOTHING = new Found(List.of(), List.of(), List.of(), false);

    Found cut() {
      return new Found(claimed, crashed, takenOver, true);
    }
  }

  private record Taken(
      int slot,
      int found,
      RunStatus status,
      RunStatus before,
      Claim claim,
      String type,
      String version,
      int attempts,
      String externalId,
      Instant createdAt,
      Instant claimedAt,
      int crashes,
      @Nullable Long stepTimeoutMs,
      @Nullable Long deadlineInMs,
      long dueNanos,
      @Nullable Payload input,
      Map<String, String> headers,
      Task.Cancel cancel) {

    int crashesBefore() {
      return before == RunStatus.RUNNING ? crashes - 1 : crashes;
    }
  }

  /**
   * The parameters of a claim query.
   *
   * @param types with exact versions and limits
   * @param slots the worker of each slot
   * @param lowUs for each type, the due time at which the index scan starts
   * @param bytesMax limits the sum of the inputs and headers, and separately the sum of the
   *     histories; one run is claimed in any case
   */
  record Request(
      QueueName queue,
      List<PollRequest.Wanted> types,
      List<WorkerId> slots,
      long leaseMs,
      ToLongFunction<PollRequest.Wanted> lowUs,
      long bytesMax,
      ClaimRules rules) {}

  /**
   * Claims runs within the open transaction. Recorded steps are read by a later statement, so that
   * they include all that was committed before the claim locked the runs.
   */
  static Found claim(Session tx, Request request, int historyBytesMax) throws SQLException {
    CrashPolicy crashes = request.rules.crashes();
    List<Taken> taken =
        tx.query(SQL)
            .bindTexts(request.types, PollRequest.Wanted::type)
            .bindTexts(request.types, PollRequest.Wanted::version)
            .bindInts(
                request.types,
                t ->
                    t.tasksMax() == 0
                        ? request.slots.size()
                        : Math.min(t.tasksMax(), request.slots.size()))
            .bindLongs(request.types, request.lowUs)
            .bindLongs(request.types, PollRequest.Wanted::cleanUpMs)
            .bind(request.queue.namespace())
            .bind(request.queue.queue())
            .bind(request.slots.size())
            .bind(crashes.limit())
            .bind(request.bytesMax)
            .bindUuids(request.slots, WorkerId::value)
            .bind(request.leaseMs)
            .bind(tx.epochBase())
            .list(ClaimRuns::map);
    List<Taken> aside = new ArrayList<>();
    List<TypeVersion> takenOver = new ArrayList<>();
    Map<RunId, Integer> claimedBefore = new LinkedHashMap<>();
    for (Taken run : taken) {
      if (run.before == RunStatus.RUNNING) {
        takenOver.add(new TypeVersion(run.type, run.version));
        TraceLog.add(log.atDebug(), run.headers)
            .addKeyValue("run", run.claim.runId())
            .addKeyValue("epoch", run.claim.epoch() - 1)
            .addKeyValue("reason", TakeReason.LEASE_ENDED)
            .log("claim taken");
      }
      if (run.status == RunStatus.PENDING) {
        aside.add(run);
      } else if (run.claim.epoch() != tx.epochBase() + 1) {
        claimedBefore.put(run.claim.runId(), run.attempts);
      }
    }
    if (!aside.isEmpty()) {
      delay(tx, aside, crashes);
    }
    Map<RunId, History> histories =
        claimedBefore.isEmpty()
            ? Map.of()
            : ClaimedHistories.read(tx, claimedBefore, historyBytesMax, request.bytesMax);
    List<ClaimedRun> claimed = new ArrayList<>(taken.size());
    List<RunId> crashed = new ArrayList<>();
    for (Taken one : taken) {
      if (crashes.isOver(one.crashes)) {
        crashed.add(one.claim.runId());
      } else if (one.status == RunStatus.RUNNING) {
        History history = histories.getOrDefault(one.claim.runId(), History.NONE);
        claimed.add(
            new ClaimedRun(
                request.slots.get(one.slot - 1),
                task(one, history, request.rules.stepTimeoutMs())));
      }
    }
    boolean isCut = !taken.isEmpty() && taken.getFirst().found > taken.size();
    return new Found(claimed, crashed, takenOver, isCut);
  }

  private static void delay(Session tx, List<Taken> aside, CrashPolicy crashes)
      throws SQLException {
    RandomGenerator random = ThreadLocalRandom.current();
    tx.query(DELAY_SQL)
        .bindUuids(aside, run -> run.claim.runId().value())
        .bindInts(aside, run -> run.claim.epoch())
        // A run over the crash limit is delayed, too, so that no claim query finds it while
        // failCrashed is about to fail it.
        .bindLongs(aside, run -> crashes.delayMs(Math.max(1, run.crashesBefore()), random))
        .update();
  }

  private static Task task(Taken run, History history, long stepTimeoutMs) {
    return new Task(
        run.claim,
        run.type,
        run.version,
        run.attempts,
        run.input,
        history.steps(),
        history.recorded(),
        history.isApart(),
        run.externalId,
        run.createdAt,
        run.claimedAt,
        run.deadlineInMs,
        run.stepTimeoutMs == null ? stepTimeoutMs : run.stepTimeoutMs,
        run.headers,
        run.cancel,
        run.dueNanos);
  }

  private static Taken map(Row row) throws SQLException {
    byte[] data = row.bytes("data");
    return new Taken(
        row.integer("slot"),
        row.integer("found"),
        RunStatus.valueOf(row.text("status")),
        RunStatus.valueOf(row.text("from_status")),
        new Claim(new RunId(row.uuid("run_id")), row.integer("epoch")),
        row.text("workflow_type"),
        row.text("version"),
        row.integer("attempts"),
        Objects.requireNonNullElse(row.textOrNull("external_id"), ""),
        row.time("created_at"),
        row.time("claimed_at"),
        row.integer("crashes"),
        row.bigintOrNull("step_timeout_ms"),
        row.bigintOrNull("deadline_in_ms"),
        System.nanoTime() - TimeUnit.MICROSECONDS.toNanos(row.bigint("waited_us")),
        data == null ? null : new Payload(data, Json.decode(row.textOrNull("metadata"))),
        Json.decodeUncached(row.textOrNull("headers")),
        cancel(row));
  }

  private static Task.Cancel cancel(Row row) throws SQLException {
    if (!row.bool("cancel_requested")) {
      return Task.Cancel.NONE;
    }
    return row.bool("cleans_up") ? Task.Cancel.CLEAN_UP : Task.Cancel.END;
  }

  private record SearchedType(int index, NextDue.Search search, PollRequest.Wanted type) {}

  /** Returns when the next run of each search is due, in their order. None may be without types. */
  static List<NextDue> nextDue(Session session, List<NextDue.Search> searches) throws SQLException {
    List<SearchedType> types = new ArrayList<>();
    for (int i = 0; i < searches.size(); i++) {
      for (PollRequest.Wanted type : searches.get(i).types()) {
        types.add(new SearchedType(i, searches.get(i), type));
      }
    }
    return types.isEmpty()
        ? List.of()
        : session
            .query(NEXT_DUE_SQL)
            .bindInts(types, t -> t.index)
            .bindTexts(types, t -> t.search.queue().namespace())
            .bindTexts(types, t -> t.search.queue().queue())
            .bindTexts(types, t -> t.type.type())
            .bindTexts(types, t -> t.type.version())
            .bindLongs(types, t -> t.search.lowUs().applyAsLong(t.type))
            .bindLongs(types, t -> t.search.highUs().applyAsLong(t.type))
            .list(row -> new NextDue(row.bigintOrNull("due_ms"), row.bigint("now_us")));
  }

  /**
   * Replaces {@link PollRequest#ANY_VERSION} by the versions that exist, each with the limit of the
   * type.
   */
  static List<PollRequest.Wanted> withVersions(
      Session session, QueueName queue, List<PollRequest.Wanted> types) throws SQLException {
    List<PollRequest.Wanted> anyVersion = new ArrayList<>();
    List<PollRequest.Wanted> exact = new ArrayList<>();
    for (PollRequest.Wanted type : types) {
      (type.version().equals(PollRequest.ANY_VERSION) ? anyVersion : exact).add(type);
    }
    if (anyVersion.isEmpty()) {
      return types;
    }
    Map<String, PollRequest.Wanted> byType = new HashMap<>();
    anyVersion.forEach(type -> byType.put(type.type(), type));
    session
        .query(VERSIONS_SQL)
        .bind(queue.namespace())
        .bind(queue.queue())
        .bindTexts(anyVersion, PollRequest.Wanted::type)
        .bind(queue.namespace())
        .bind(queue.queue())
        .list(
            row ->
                exact.add(
                    Objects.requireNonNull(byType.get(row.text("workflow_type")))
                        .withVersion(row.text("version"))));
    return exact;
  }
}
