package dev.kagzi.engine.query;

import dev.kagzi.engine.internal.db.Row;
import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.internal.page.Cursor;
import dev.kagzi.engine.internal.page.Pager;
import dev.kagzi.engine.page.Page;
import dev.kagzi.engine.page.PageSpec;
import dev.kagzi.engine.value.RunStatus;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Reads queues. The numbers of runs by status come from {@code run_counts}, as in {@link
 * StatsQueries}. Of the runs themselves, only the first due ones of each type and version are read,
 * by the claim index. So the cost does not depend on the number of ended runs, and is limited for a
 * long queue.
 */
final class QueueQueries {
  private static final Set<RunStatus> OPEN =
      Set.of(RunStatus.PENDING, RunStatus.RUNNING, RunStatus.SLEEPING);

  /** How many due runs of one queue, type and version are counted. */
  static final int DUE_MAX = 1_000;

  private static final String WORKERS_BY_QUEUE =
      """
      SELECT w.task_queue, count(*)::int AS online,
             coalesce(sum(w.concurrency_limit) FILTER (WHERE w.sends_count), 0)::bigint AS slots,
             coalesce(sum(greatest(w.concurrency_limit - w.active_count, 0))
                        FILTER (WHERE w.sends_count), 0)::bigint AS slots_free
        FROM kagzi.workers w
       WHERE w.namespace = ? AND w.task_queue = ANY (?) AND w.status = 'ONLINE'
       GROUP BY w.task_queue
      """;

  // A run that is due is not claimed: a claim moves available_at to the end of its lease.
  private static final String DUE =
      """
      SELECT q.task_queue, q.workflow_type, q.version, d.runs AS due,
             (extract(epoch FROM kagzi.clock() - d.oldest_at) * 1000)::bigint AS due_ms
        FROM unnest(?::text[], ?::text[], ?::text[]) AS q (task_queue, workflow_type, version)
       CROSS JOIN LATERAL (
             SELECT count(*) AS runs, min(f.available_at) AS oldest_at
               FROM (SELECT r.available_at
                       FROM kagzi.workflow_runs r
                      WHERE r.namespace = ? AND r.task_queue = q.task_queue
                        AND r.workflow_type = q.workflow_type AND r.version = q.version
                        AND r.available_at IS NOT NULL AND r.cron_expr IS NULL
                        AND r.available_at <= kagzi.clock() AND r.available_at < 'infinity'
                      ORDER BY r.available_at
                      LIMIT ?) AS f) AS d
       WHERE d.runs > 0
       ORDER BY q.task_queue, q.workflow_type, q.version
      """;

  private static final String DURATIONS =
      """
      SELECT e.workflow_type, count(*) AS ended, avg(e.took_ms)::bigint AS average_ms,
             percentile_disc(0.95) WITHIN GROUP (ORDER BY e.took_ms) AS p95_ms
        FROM (SELECT r.workflow_type,
                     (extract(epoch FROM r.finished_at - r.created_at) * 1000)::bigint AS took_ms
                FROM (SELECT r.workflow_type, r.created_at, r.finished_at
                        FROM kagzi.workflow_runs r
                       WHERE r.namespace = ? AND r.cron_expr IS NULL
                       ORDER BY r.created_at DESC, r.run_id DESC
                       LIMIT ?) r
               WHERE r.finished_at IS NOT NULL) e
       GROUP BY e.workflow_type
       ORDER BY p95_ms DESC, e.workflow_type
       LIMIT ?
      """;

  private final Session session;
  private final String namespace;

  QueueQueries(Session session, String namespace) {
    this.session = session;
    this.namespace = namespace;
  }

  Page<QueueView> page(PageSpec spec) throws SQLException {
    return Pager.page(spec, "queues " + namespace, new Queues(this));
  }

  QueueView one(String queue) throws SQLException {
    return views(List.of(queue)).getFirst();
  }

  /** Returns the open runs of a queue by type and version. */
  List<QueueDetails.OpenRuns> openRuns(String queue) throws SQLException {
    return new SqlBuilder()
        .add("SELECT n.workflow_type, n.version,")
        .add("  coalesce(sum(n.runs) FILTER (WHERE n.status = 'PENDING'), 0)::bigint AS pending,")
        .add("  coalesce(sum(n.runs) FILTER (WHERE n.status = 'RUNNING'), 0)::bigint AS running,")
        .add("  coalesce(sum(n.runs) FILTER (WHERE n.status = 'SLEEPING'), 0)::bigint AS sleeping")
        .add("  FROM (")
        .add(StatsQueries.counted(new StatsQueries.Filter(namespace, null, queue, null, OPEN)))
        .add(") n GROUP BY n.workflow_type, n.version HAVING sum(n.runs) > 0")
        .add(" ORDER BY n.workflow_type, n.version LIMIT ?", QueueDetails.TYPES_MAX)
        .on(session)
        .list(
            row ->
                new QueueDetails.OpenRuns(
                    row.text("workflow_type"),
                    row.text("version"),
                    row.bigint("pending"),
                    row.bigint("running"),
                    row.bigint("sleeping")));
  }

  /** Returns the queues with the most pending runs. */
  List<QueueView> longest(int queuesMax) throws SQLException {
    return views(
        names()
            .add(" GROUP BY n.task_queue ORDER BY max(n.pending) DESC, n.task_queue")
            .add(" LIMIT ?", queuesMax)
            .on(session)
            .list(row -> row.text("task_queue")));
  }

  List<TypeDuration> slowestTypes() throws SQLException {
    return durations(namespace)
        .on(session)
        .list(
            row ->
                new TypeDuration(
                    row.text("workflow_type"),
                    row.bigint("ended"),
                    row.bigint("average_ms"),
                    row.bigint("p95_ms")));
  }

  static SqlBuilder durations(String namespace) {
    return new SqlBuilder().add(DURATIONS, namespace, Overview.RUNS_MAX, Overview.TYPES_MAX);
  }

  private record Queues(QueueQueries queries) implements Pager.Source<QueueView> {
    @Override
    public List<Pager.Found<QueueView>> rows(@Nullable Cursor from, boolean forward, int rowsMax)
        throws SQLException {
      SqlBuilder sql = queries.names();
      if (from != null) {
        sql.add("   AND n.task_queue " + (forward ? ">" : "<") + " ?", from.text(0));
      }
      List<String> names =
          sql.add(" GROUP BY n.task_queue ORDER BY n.task_queue" + (forward ? "" : " DESC"))
              .add(" LIMIT ?", rowsMax)
              .on(queries.session)
              .list(row -> row.text("task_queue"));
      List<Pager.Found<QueueView>> found = new ArrayList<>();
      for (QueueView view : queries.views(names)) {
        found.add(new Pager.Found<>(view, Cursor.of(view.queue()), true));
      }
      return found;
    }

    @Override
    public long count() throws SQLException {
      return new SqlBuilder()
          .add("SELECT count(*) AS rows FROM (")
          .add(queries.names())
          .add(" GROUP BY n.task_queue) q")
          .on(queries.session)
          .first(row -> row.bigint("rows"))
          .orElse(0L);
    }
  }

  /** Selects the queues with open runs or workers; the caller adds conditions and the order. */
  private SqlBuilder names() {
    return new SqlBuilder()
        .add("SELECT n.task_queue FROM (")
        .add("SELECT c.task_queue,")
        .add("       coalesce(sum(c.runs) FILTER (WHERE c.status = 'PENDING'), 0) AS pending")
        .add("  FROM (")
        .add(StatsQueries.counted(open()))
        .add(") c GROUP BY c.task_queue HAVING sum(c.runs) > 0")
        .add("UNION ALL")
        .add("SELECT w.task_queue, 0 FROM kagzi.workers w")
        .add(" WHERE w.namespace = ? AND w.status <> 'OFFLINE'", namespace)
        .add(") n WHERE true");
  }

  private StatsQueries.Filter open() {
    return new StatsQueries.Filter(namespace, null, null, null, OPEN);
  }

  /** Returns the queues with these names, in the order of the names. */
  private List<QueueView> views(List<String> names) throws SQLException {
    Map<String, QueueParts> parts = new HashMap<>();
    names.forEach(name -> parts.put(name, new QueueParts()));
    addRuns(names, parts);
    addWorkers(names, parts);
    return names.stream()
        .map(name -> parts.getOrDefault(name, new QueueParts()).view(name))
        .toList();
  }

  private void addRuns(List<String> names, Map<String, QueueParts> parts) throws SQLException {
    List<StatusCount> counts =
        new SqlBuilder()
            .add("SELECT n.task_queue, n.workflow_type, n.version, n.status,")
            .add("       sum(n.runs)::bigint AS runs FROM (")
            .add(StatsQueries.counted(open()))
            .add(") n WHERE n.task_queue = ANY (?)", names)
            .add(" GROUP BY n.task_queue, n.workflow_type, n.version, n.status")
            .add("HAVING sum(n.runs) > 0")
            .on(session)
            .list(StatusCount::of);
    for (StatusCount count : counts) {
      parts.computeIfAbsent(count.queue, name -> new QueueParts()).add(count);
    }
    due(namespace, counts.stream().map(StatusCount::key).distinct().toList())
        .on(session)
        .list(
            row -> {
              QueueParts queue =
                  parts.computeIfAbsent(row.text("task_queue"), name -> new QueueParts());
              queue.addDue(row);
              return queue;
            });
  }

  /** The queue, the type and the version of runs. */
  record Key(String queue, String type, String version) {}

  /** The number of runs of one queue, type, version and status. */
  private record StatusCount(
      String queue, String type, String version, RunStatus status, long runs) {
    static StatusCount of(Row row) throws SQLException {
      return new StatusCount(
          row.text("task_queue"),
          row.text("workflow_type"),
          row.text("version"),
          RunStatus.valueOf(row.text("status")),
          row.bigint("runs"));
    }

    Key key() {
      return new Key(queue, type, version);
    }
  }

  static SqlBuilder due(String namespace, List<Key> keys) {
    return new SqlBuilder()
        .add(
            DUE,
            keys.stream().map(Key::queue).toList(),
            keys.stream().map(Key::type).toList(),
            keys.stream().map(Key::version).toList(),
            namespace,
            DUE_MAX + 1);
  }

  private void addWorkers(List<String> names, Map<String, QueueParts> parts) throws SQLException {
    workers(namespace, names)
        .on(session)
        .list(
            row -> {
              QueueParts queue =
                  parts.computeIfAbsent(row.text("task_queue"), name -> new QueueParts());
              queue.workersOnline = row.integer("online");
              queue.slots = row.bigint("slots");
              queue.slotsFree = row.bigint("slots_free");
              return queue;
            });
  }

  static SqlBuilder workers(String namespace, List<String> queues) {
    return new SqlBuilder().add(WORKERS_BY_QUEUE, namespace, queues);
  }

  /** What the statements have found about one queue. */
  private static final class QueueParts {
    private long pending;
    private long running;
    private long sleeping;
    private RunCount due = new RunCount(0, true);
    private @Nullable Long oldestDueMs;
    private final List<QueueView.DueType> dueTypes = new ArrayList<>();
    private int workersOnline;
    private long slots;
    private long slotsFree;

    void add(StatusCount count) {
      switch (count.status) {
        case PENDING -> pending += count.runs;
        case RUNNING -> running += count.runs;
        case SLEEPING -> sleeping += count.runs;
        default -> throw new IllegalStateException("status: " + count.status);
      }
    }

    /** Adds the due runs of one type and version. */
    void addDue(Row row) throws SQLException {
      long runs = row.bigint("due");
      due = new RunCount(due.runs() + Math.min(runs, DUE_MAX), due.isExact() && runs <= DUE_MAX);
      long ageMs = Math.max(0, row.bigint("due_ms"));
      oldestDueMs = oldestDueMs == null ? ageMs : Math.max(oldestDueMs, ageMs);
      dueTypes.add(new QueueView.DueType(row.text("workflow_type"), row.text("version")));
    }

    QueueView view(String name) {
      return new QueueView(
          name,
          pending,
          running,
          sleeping,
          due,
          oldestDueMs,
          dueTypes,
          workersOnline,
          slots,
          slotsFree);
    }
  }
}
