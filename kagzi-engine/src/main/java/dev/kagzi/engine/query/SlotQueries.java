package dev.kagzi.engine.query;

import dev.kagzi.engine.internal.db.Row;
import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.WorkerId;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Reads how many runs the workers of a queue hold, and the few of them that a sentence names. */
final class SlotQueries {
  /** How many runs a sentence names. */
  static final int NAMED_MAX = 3;

  /** How many runs of one worker are listed. */
  static final int EXECUTED_MAX = 20;

  // The ids are the oldest runs of several workers and types; the statement keeps the oldest of
  // all.
  private static final String RUNS_SQL =
      """
      SELECT r.run_id, r.external_id, r.workflow_type, s.step_id,
             coalesce(s.began_at, r.claimed_at, r.created_at) AS began_at
        FROM (SELECT w.run_id, w.external_id, w.workflow_type, w.epoch, w.claimed_at, w.created_at
                FROM kagzi.workflow_runs w
               WHERE w.run_id = ANY (?::uuid[])
               ORDER BY coalesce(w.claimed_at, w.created_at), w.run_id
               LIMIT ?) AS r
        LEFT JOIN LATERAL (
             SELECT s.step_id, coalesce(s.started_at, s.created_at) AS began_at
               FROM kagzi.step_runs s
              WHERE s.run_id = r.run_id AND s.epoch = r.epoch
                AND s.kind = 'FUNCTION' AND s.status = 'RUNNING'
              ORDER BY coalesce(s.started_at, s.created_at), s.step_id
              LIMIT 1) AS s ON true
       ORDER BY coalesce(r.claimed_at, r.created_at), r.run_id
      """;

  private final Session session;

  SlotQueries(Session session) {
    this.session = session;
  }

  /**
   * The runs that the workers of a queue hold.
   *
   * @param byWorker the number of runs of each worker
   * @param longest of each worker and type, the runs that it has held for the longest time
   */
  private record Found(Map<WorkerId, WaitFacts.Held> byWorker, List<Longest> longest) {}

  private record Longest(String type, Instant firstClaimAt, List<UUID> runs) {}

  /** The slots of the workers of a queue, and the runs that have held one for the longest time. */
  record TakenSlots(Map<WorkerId, WaitFacts.Held> held, List<WaitFacts.SlotRun> holding) {}

  TakenSlots read(WaitFacts.Run run, List<WorkerView> workers, long leaseMs) throws SQLException {
    if (workers.isEmpty()) {
      return new TakenSlots(Map.of(), List.of());
    }
    Found found = held(run, workers, leaseMs);
    return new TakenSlots(found.byWorker, longest(found.longest, run.type()));
  }

  /** Returns the runs that a worker executes, the longest-held first; the number is limited. */
  List<ExecutedRun> executedBy(WorkerView worker, long leaseMs) throws SQLException {
    List<Longest> longest =
        WorkerQueries.held(
                WorkerQueries.SearchScope.of(worker),
                List.of(worker.workerId()),
                leaseMs,
                EXECUTED_MAX)
            .on(session)
            .list(SlotQueries::longest);
    return runs(ids(longest, null, EXECUTED_MAX), EXECUTED_MAX).stream()
        .map(
            run ->
                new ExecutedRun(
                    run.runId(), run.externalId(), run.type(), run.step(), run.beganAt()))
        .toList();
  }

  private static Longest longest(Row row) throws SQLException {
    return new Longest(
        row.text("workflow_type"),
        row.time("first_claim_at"),
        row.texts("longest").stream().map(UUID::fromString).toList());
  }

  private Found held(WaitFacts.Run run, List<WorkerView> workers, long leaseMs)
      throws SQLException {
    Map<WorkerId, WaitFacts.Held> held = new HashMap<>();
    List<String> types =
        workers.stream().flatMap(worker -> worker.workflowTypes().stream()).distinct().toList();
    List<Longest> longest =
        WorkerQueries.held(
                new WorkerQueries.SearchScope(run.namespace(), run.taskQueue(), types),
                workers.stream().map(WorkerView::workerId).toList(),
                leaseMs,
                NAMED_MAX)
            .on(session)
            .list(
                row -> {
                  int runs = row.integer("runs");
                  String type = row.text("workflow_type");
                  Instant last = row.time("last_claim_at");
                  WaitFacts.Held one =
                      new WaitFacts.Held(runs, type.equals(run.type()) ? runs : 0, last);
                  held.merge(new WorkerId(row.uuid("locked_by")), one, WaitFacts.Held::plus);
                  return longest(row);
                });
    return new Found(held, longest);
  }

  /** The longest-held runs of all types, and of this type, which may have a limit of its own. */
  private List<WaitFacts.SlotRun> longest(List<Longest> longest, String type) throws SQLException {
    List<WaitFacts.SlotRun> found = new ArrayList<>(runs(ids(longest, null, NAMED_MAX), NAMED_MAX));
    if (found.stream().anyMatch(run -> !run.type().equals(type))) {
      found.addAll(runs(ids(longest, type, NAMED_MAX), NAMED_MAX));
    }
    return found.stream()
        .distinct()
        .sorted(Comparator.comparing(WaitFacts.SlotRun::beganAt))
        .toList();
  }

  /**
   * Returns the runs of the groups (a worker and a type) with the earliest first claims: the oldest
   * runs are among them.
   */
  private static UUID[] ids(List<Longest> longest, @Nullable String type, int groupsMax) {
    return longest.stream()
        .filter(one -> type == null || one.type.equals(type))
        .sorted(Comparator.comparing(Longest::firstClaimAt))
        .limit(groupsMax)
        .flatMap(one -> one.runs.stream())
        .toArray(UUID[]::new);
  }

  private List<WaitFacts.SlotRun> runs(UUID[] ids, int max) throws SQLException {
    return ids.length == 0 ? List.of() : byIds(ids, max).on(session).list(SlotQueries::run);
  }

  static SqlBuilder byIds(UUID[] ids, int max) {
    return new SqlBuilder().add(RUNS_SQL, ids, max);
  }

  private static WaitFacts.SlotRun run(Row row) throws SQLException {
    return new WaitFacts.SlotRun(
        new RunId(row.uuid("run_id")),
        row.textOrEmpty("external_id"),
        row.text("workflow_type"),
        row.textOrNull("step_id"),
        row.time("began_at"));
  }
}
