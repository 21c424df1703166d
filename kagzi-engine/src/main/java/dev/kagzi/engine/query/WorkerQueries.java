package dev.kagzi.engine.query;

import dev.kagzi.engine.internal.db.Row;
import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.internal.dispatch.HeldRuns;
import dev.kagzi.engine.internal.page.Cursor;
import dev.kagzi.engine.internal.page.Pager;
import dev.kagzi.engine.internal.value.Json;
import dev.kagzi.engine.page.Page;
import dev.kagzi.engine.page.PageSpec;
import dev.kagzi.engine.value.TypeVersion;
import dev.kagzi.engine.value.WorkerId;
import dev.kagzi.engine.value.WorkerStatus;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

final class WorkerQueries {
  private static final String COLUMNS =
      """
      SELECT w.worker_id, w.namespace, w.task_queue, w.status, w.version, w.workflow_types,
             w.served_versions,
             w.hostname, w.pid, w.concurrency_limit, w.type_limits, w.active_count,
             w.sends_count,
             w.registered_at, w.last_heartbeat_at, w.labels, w.total_completed, w.total_failed,
             w.deregistered_at
        FROM kagzi.workers w""";

  /**
   * Counts the runs that the workers of one queue hold, by worker and type, and returns the ids of
   * the runs that each worker has held for the longest time. An index by worker exists only for
   * runs whose start sets the length of their lease. All other leases end within a known time, so
   * the claim index finds these runs, version by version. Runs that sleep or wait are in the same
   * range of the index, so the number of rows is limited, and leases that end last are read first.
   * A run whose lease has ended and that no other worker has claimed is still executed by its
   * holder. Such runs are searched among a limited number of due runs.
   */
  private static final String HELD_SQL =
      """
      WITH RECURSIVE v AS (
        SELECT t.workflow_type, (
                 SELECT min(r.version) FROM kagzi.workflow_runs r
                  WHERE r.namespace = ? AND r.task_queue = ? AND r.workflow_type = t.workflow_type
                    AND r.available_at IS NOT NULL AND r.cron_expr IS NULL) AS version
          FROM unnest(?::text[]) AS t (workflow_type)
        UNION ALL
        SELECT v.workflow_type, (
                 SELECT min(r.version) FROM kagzi.workflow_runs r
                  WHERE r.namespace = ? AND r.task_queue = ? AND r.workflow_type = v.workflow_type
                    AND r.available_at IS NOT NULL AND r.cron_expr IS NULL
                    AND r.version > v.version)
          FROM v
         WHERE v.version IS NOT NULL)
      SELECT h.locked_by, h.workflow_type, count(*)::int AS runs,
             min(h.claimed_at) AS first_claim_at, max(h.claimed_at) AS last_claim_at,
             (array_agg(h.run_id::text ORDER BY h.claimed_at))[1:?::int] AS longest
        FROM (SELECT r.run_id, r.locked_by, r.workflow_type, r.claimed_at
                FROM v
               CROSS JOIN LATERAL (
                     SELECT w.run_id, w.locked_by, w.workflow_type, w.status,
                            w.heartbeat_timeout_ms,
                            coalesce(w.claimed_at, w.created_at) AS claimed_at
                       FROM kagzi.workflow_runs w
                      WHERE w.namespace = ? AND w.task_queue = ?
                        AND w.workflow_type = v.workflow_type AND w.version = v.version
                        AND w.available_at IS NOT NULL AND w.cron_expr IS NULL
                        AND w.available_at > kagzi.clock()
                        AND w.available_at <= kagzi.clock() + ?::bigint * interval '1 millisecond'
                      ORDER BY w.available_at DESC
                      LIMIT ?::int) AS r
               WHERE v.version IS NOT NULL AND r.status = 'RUNNING'
                 AND r.heartbeat_timeout_ms IS NULL AND r.locked_by = ANY (?::uuid[])
              UNION ALL
              SELECT r.run_id, r.locked_by, v.workflow_type, r.claimed_at
                FROM v
               CROSS JOIN LATERAL (
                     SELECT w.run_id, w.locked_by, w.status, w.heartbeat_timeout_ms,
                            coalesce(w.claimed_at, w.created_at) AS claimed_at
                       FROM kagzi.workflow_runs w
                      WHERE w.namespace = ? AND w.task_queue = ?
                        AND w.workflow_type = v.workflow_type AND w.version = v.version
                        AND w.available_at IS NOT NULL AND w.cron_expr IS NULL
                        AND w.available_at <= kagzi.clock()
                      ORDER BY w.available_at
                      LIMIT ?::int) AS r
               WHERE v.version IS NOT NULL AND r.status = 'RUNNING'
                 AND r.heartbeat_timeout_ms IS NULL AND r.locked_by = ANY (?::uuid[])
              UNION ALL
              SELECT w.run_id, w.locked_by, w.workflow_type,
                     coalesce(w.claimed_at, w.created_at)
                FROM kagzi.workflow_runs w
               WHERE w.locked_by = ANY (?::uuid[])
                 AND w.heartbeat_timeout_ms IS NOT NULL
                 AND w.available_at IS NOT NULL AND w.cron_expr IS NULL
                 AND w.status = 'RUNNING') AS h
       GROUP BY h.locked_by, h.workflow_type
      """;

  /** How many runs of a type and version that are due within a lease are searched. */
  static final int LEASED_SEARCHED_MAX = 10_000;

  /** How many workers that report no count are candidates for the busiest ones. */
  private static final int UNCOUNTED_MAX = 20;

  private final Session session;
  private final long leaseMs;

  WorkerQueries(Session session, long leaseMs) {
    this.session = session;
    this.leaseMs = leaseMs;
  }

  Optional<WorkerView> find(WorkerId id) throws SQLException {
    List<Registered> found =
        session
            .query(COLUMNS + "\n WHERE w.worker_id = ?")
            .bind(id.value())
            .list(WorkerQueries::row);
    return counted(found).stream().findFirst();
  }

  /** Finds a registration; does not count the runs that the worker holds. */
  Optional<WorkerView> registered(WorkerId id) throws SQLException {
    return session
        .query(COLUMNS + "\n WHERE w.worker_id = ?")
        .bind(id.value())
        .first(WorkerQueries::view);
  }

  /** The workers of a queue that are not offline; their runs are not counted. */
  static SqlBuilder present(String namespace, String queue, int rowsMax) {
    return new SqlBuilder()
        .add(COLUMNS)
        .add(" WHERE w.namespace = ? AND w.task_queue = ?", namespace, queue)
        .add("   AND w.status <> 'OFFLINE'")
        .add(" ORDER BY w.registered_at, w.worker_id LIMIT ?", rowsMax);
  }

  /** A row, and whether the worker itself reports its active count. */
  private record Registered(WorkerView view, boolean sendsCount) {
    boolean isToBeCounted() {
      return !sendsCount && view.status() != WorkerStatus.OFFLINE;
    }
  }

  record SearchScope(String namespace, String queue, List<String> types) {
    static SearchScope of(WorkerView worker) {
      return new SearchScope(worker.namespace(), worker.taskQueue(), worker.workflowTypes());
    }
  }

  /** Returns the workers; for those that report no count, counts the runs that they hold. */
  private List<WorkerView> counted(List<Registered> workers) throws SQLException {
    Map<SearchScope, List<WorkerId>> scopes = new LinkedHashMap<>();
    for (Registered worker : workers) {
      if (worker.isToBeCounted()) {
        scopes
            .computeIfAbsent(SearchScope.of(worker.view), scope -> new ArrayList<>())
            .add(worker.view.workerId());
      }
    }
    Map<WorkerId, Integer> held = new HashMap<>();
    for (Map.Entry<SearchScope, List<WorkerId>> scope : scopes.entrySet()) {
      held(scope.getKey(), scope.getValue(), leaseMs, 1)
          .on(session)
          .list(
              row ->
                  held.merge(
                      new WorkerId(row.uuid("locked_by")), row.integer("runs"), Integer::sum));
    }
    return workers.stream()
        .map(
            worker ->
                worker.isToBeCounted()
                    ? worker.view.withActiveWorkflowCount(
                        held.getOrDefault(worker.view.workerId(), 0))
                    : worker.view)
        .toList();
  }

  /**
   * Selects what the workers hold.
   *
   * @param namedMax how many runs of each worker and type are named
   */
  static SqlBuilder held(SearchScope scope, List<WorkerId> workers, long leaseMs, int namedMax) {
    UUID[] ids = workers.stream().map(WorkerId::value).toArray(UUID[]::new);
    return new SqlBuilder()
        .add(
            HELD_SQL,
            scope.namespace,
            scope.queue,
            scope.types,
            scope.namespace,
            scope.queue,
            namedMax,
            scope.namespace,
            scope.queue,
            leaseMs,
            LEASED_SEARCHED_MAX,
            ids,
            scope.namespace,
            scope.queue,
            HeldRuns.LAPSED_SEARCHED_MAX,
            ids,
            ids);
  }

  record Filter(String namespace, @Nullable String queue, @Nullable WorkerStatus status) {}

  Page<WorkerView> page(Filter filter, PageSpec spec) throws SQLException {
    return Pager.page(spec, "workers " + filter, new WorkerPages(this, filter));
  }

  private record WorkerPages(WorkerQueries queries, Filter filter)
      implements Pager.Source<WorkerView> {
    @Override
    public List<Pager.Found<WorkerView>> rows(@Nullable Cursor from, boolean forward, int rowsMax)
        throws SQLException {
      List<Registered> rows =
          list(filter, from, forward, rowsMax).on(queries.session).list(WorkerQueries::row);
      ByteCounter scale = new ByteCounter();
      return queries.counted(rows).stream().map(scale::found).toList();
    }

    @Override
    public long count() throws SQLException {
      return all(filter).on(queries.session).first(row -> row.bigint("rows")).orElse(0L);
    }
  }

  /**
   * Returns the online workers that execute the most runs. For workers that report no count, their
   * runs are counted; the number of these workers is limited.
   */
  List<WorkerView> busiest(String namespace, int workersMax) throws SQLException {
    List<Registered> candidates = new ArrayList<>();
    candidates.addAll(busiestRows(namespace, workersMax).on(session).list(WorkerQueries::row));
    candidates.addAll(uncountedRows(namespace).on(session).list(WorkerQueries::row));
    return counted(candidates).stream()
        .sorted(
            Comparator.comparingInt(WorkerView::activeWorkflowCount)
                .reversed()
                .thenComparing(worker -> worker.workerId().value()))
        .limit(workersMax)
        .toList();
  }

  static SqlBuilder busiestRows(String namespace, int workersMax) {
    return new SqlBuilder()
        .add(COLUMNS)
        .add(matching(new Filter(namespace, null, WorkerStatus.ONLINE)))
        .add("   AND w.sends_count")
        .add(" ORDER BY w.active_count DESC, w.worker_id LIMIT ?", workersMax);
  }

  static SqlBuilder uncountedRows(String namespace) {
    return new SqlBuilder()
        .add(COLUMNS)
        .add(matching(new Filter(namespace, null, WorkerStatus.ONLINE)))
        .add("   AND w.sends_count IS NOT TRUE")
        .add(" ORDER BY w.last_heartbeat_at DESC, w.worker_id LIMIT ?", UNCOUNTED_MAX);
  }

  static SqlBuilder list(Filter filter, @Nullable Cursor from, boolean forward, int rowsMax) {
    String order =
        forward
            ? "w.task_queue, w.registered_at, w.worker_id"
            : "w.task_queue DESC, w.registered_at DESC, w.worker_id DESC";
    return new SqlBuilder()
        .add(COLUMNS)
        .add(matching(filter))
        .add(beyond(from, forward))
        .add(" ORDER BY " + order + " LIMIT ?", rowsMax);
  }

  static SqlBuilder all(Filter filter) {
    return new SqlBuilder()
        .add("SELECT count(*) AS rows FROM kagzi.workers w")
        .add(matching(filter));
  }

  Page<WorkerEvent> events(WorkerId worker, PageSpec spec) throws SQLException {
    return Pager.page(spec, "worker events " + worker, new EventPages(session, worker));
  }

  private record EventPages(Session session, WorkerId worker) implements Pager.Source<WorkerEvent> {
    @Override
    public List<Pager.Found<WorkerEvent>> rows(@Nullable Cursor from, boolean forward, int rowsMax)
        throws SQLException {
      SqlBuilder sql =
          new SqlBuilder()
              .add("SELECT event_id, event, reason, at FROM kagzi.worker_events")
              .add(" WHERE worker_id = ?", worker.value());
      if (from != null) {
        sql.add("   AND event_id " + (forward ? "<" : ">") + " ?", from.number(0));
      }
      return sql.add(" ORDER BY event_id" + (forward ? " DESC" : "") + " LIMIT ?", rowsMax)
          .on(session)
          .list(this::event);
    }

    private Pager.Found<WorkerEvent> event(Row row) throws SQLException {
      long id = row.bigint("event_id");
      WorkerEvent event =
          new WorkerEvent(id, worker, row.text("event"), row.text("reason"), row.time("at"));
      return new Pager.Found<>(event, Cursor.of(Long.toString(id)), true);
    }

    @Override
    public long count() throws SQLException {
      return session
          .query("SELECT count(*) AS rows FROM kagzi.worker_events WHERE worker_id = ?")
          .bind(worker.value())
          .first(row -> row.bigint("rows"))
          .orElse(0L);
    }
  }

  private static SqlBuilder matching(Filter filter) {
    SqlBuilder sql = new SqlBuilder().add(" WHERE w.namespace = ?", filter.namespace());
    if (filter.queue() != null) {
      sql.add("   AND w.task_queue = ?", filter.queue());
    }
    if (filter.status() != null) {
      sql.add("   AND w.status = ?", filter.status().name());
    }
    return sql;
  }

  private static SqlBuilder beyond(@Nullable Cursor from, boolean forward) {
    if (from == null) {
      return new SqlBuilder();
    }
    return new SqlBuilder()
        .add(
            "   AND (w.task_queue, w.registered_at, w.worker_id) "
                + (forward ? ">" : "<")
                + " (?, kagzi.at(?), ?)",
            from.text(0),
            from.number(1),
            from.uuid(2));
  }

  /** Adds up the bytes of the rows: labels and types of a hundred workers can be large. */
  private static final class ByteCounter {
    private long bytes;

    Pager.Found<WorkerView> found(WorkerView view) {
      boolean first = bytes == 0;
      bytes += weight(view);
      Cursor cursor =
          Cursor.of(
              view.taskQueue(), Cursor.micros(view.registeredAt()), view.workerId().toString());
      return new Pager.Found<>(view, cursor, first || bytes <= PageByteLimits.PAGE_BYTES_MAX);
    }

    private static long weight(WorkerView view) {
      long sum = 1;
      for (TypeVersion served : view.served()) {
        sum += 2L * served.type().length() + served.version().length();
      }
      for (String type : view.workflowTypeConcurrency().keySet()) {
        sum += type.length();
      }
      for (Map.Entry<String, String> label : view.labels().entrySet()) {
        sum += label.getKey().length() + label.getValue().length();
      }
      return sum;
    }
  }

  private static Registered row(Row row) throws SQLException {
    return new Registered(view(row), row.bool("sends_count"));
  }

  static WorkerView view(Row row) throws SQLException {
    return new WorkerView(
        new WorkerId(row.uuid("worker_id")),
        row.text("namespace"),
        row.text("task_queue"),
        WorkerStatus.valueOf(row.text("status")),
        row.text("version"),
        row.texts("workflow_types").stream().distinct().toList(),
        row.text("hostname"),
        row.integer("pid"),
        row.integerOrNull("concurrency_limit"),
        Json.decodeCounts(row.textOrNull("type_limits")),
        row.integer("active_count"),
        row.time("registered_at"),
        row.time("last_heartbeat_at"),
        Json.decode(row.textOrNull("labels")),
        row.bigint("total_completed"),
        row.bigint("total_failed"),
        row.timeOrNull("deregistered_at"),
        served(row.texts("workflow_types"), row.texts("served_versions")));
  }

  private static List<TypeVersion> served(List<String> types, List<String> versions) {
    List<TypeVersion> served = new ArrayList<>();
    for (int i = 0; i < Math.min(types.size(), versions.size()); i++) {
      served.add(new TypeVersion(types.get(i), versions.get(i)));
    }
    return served;
  }
}
