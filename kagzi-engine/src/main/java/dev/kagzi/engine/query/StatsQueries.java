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
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Reads run statistics. One statement adds {@code run_counts} and the {@code run_changes} that are
 * not folded yet, so the numbers are exact. It reads no runs, so its cost does not depend on their
 * number.
 */
final class StatsQueries {
  private static final int ENTRIES_MAX = 1_000;

  // A change adds to its new status and subtracts from its previous one.
  private static final String CHANGES =
      """
      SELECT d.namespace, d.workflow_type, d.task_queue, d.version, s.status, s.runs
        FROM kagzi.run_changes d
       CROSS JOIN LATERAL (VALUES (d.to_status, d.runs), (d.from_status, -d.runs))
               AS s (status, runs)
       WHERE s.status IS NOT NULL""";

  private static final String COUNTS =
      """
      SELECT c.namespace, c.workflow_type, c.task_queue, c.version, c.status, c.runs
        FROM kagzi.run_counts c
       WHERE true""";

  private static final String WORKERS =
      """
      SELECT count(*) AS all_workers, count(*) FILTER (WHERE status = 'ONLINE') AS online
        FROM kagzi.workers
       WHERE true""";

  private static final String TEMPLATES =
      """
      SELECT count(*) AS all_templates, count(*) FILTER (WHERE status = 'SCHEDULED') AS enabled
        FROM kagzi.workflow_runs
       WHERE cron_expr IS NOT NULL AND status IN ('SCHEDULED', 'PAUSED')""";

  private static final String OPEN = "n.status IN ('PENDING', 'RUNNING', 'SLEEPING')";

  private final Session session;

  StatsQueries(Session session) {
    this.session = session;
  }

  record Filter(
      @Nullable String namespace,
      @Nullable String type,
      @Nullable String queue,
      @Nullable String version,
      Set<RunStatus> statuses) {

    static Filter of(@Nullable String namespace) {
      return new Filter(namespace, null, null, null, Set.of());
    }
  }

  static SqlBuilder counted(Filter filter) {
    SqlBuilder sql = new SqlBuilder().add(COUNTS);
    conditions(sql, "c", "c.status", filter);
    sql.add("UNION ALL").add(CHANGES);
    conditions(sql, "d", "s.status", filter);
    return sql;
  }

  private static void conditions(SqlBuilder sql, String table, String status, Filter filter) {
    equal(sql, table + ".namespace", filter.namespace);
    equal(sql, table + ".workflow_type", filter.type);
    equal(sql, table + ".task_queue", filter.queue);
    equal(sql, table + ".version", filter.version);
    if (!filter.statuses.isEmpty()) {
      List<String> names = filter.statuses.stream().map(RunStatus::name).toList();
      sql.add("   AND " + status + " = ANY (?)", names);
    }
  }

  private static void equal(SqlBuilder sql, String column, @Nullable String value) {
    if (value != null) {
      sql.add("   AND " + column + " = ?", value);
    }
  }

  long runs(Filter filter) throws SQLException {
    return new SqlBuilder()
        .add("SELECT coalesce(sum(n.runs), 0)::bigint AS runs FROM (")
        .add(counted(filter))
        .add(") n")
        .on(session)
        .first(row -> row.bigint("runs"))
        .orElse(0L);
  }

  Stats stats(@Nullable String namespace) throws SQLException {
    Map<RunStatus, Long> byStatus = new EnumMap<>(RunStatus.class);
    for (RunStatus status : RunStatus.values()) {
      if (status != RunStatus.SCHEDULED && status != RunStatus.PAUSED) {
        byStatus.put(status, 0L);
      }
    }
    Map<String, Long> byType = new HashMap<>();
    new SqlBuilder()
        .add("SELECT n.status, n.workflow_type, sum(n.runs)::bigint AS runs FROM (")
        .add(counted(Filter.of(namespace)))
        .add(") n GROUP BY n.status, n.workflow_type")
        .on(session)
        .list(
            row -> {
              long runs = row.bigint("runs");
              byStatus.merge(RunStatus.valueOf(row.text("status")), runs, Long::sum);
              return byType.merge(row.text("workflow_type"), runs, Long::sum);
            });
    return withOthers(namespace, byStatus, largest(byType));
  }

  private Stats withOthers(
      @Nullable String namespace, Map<RunStatus, Long> byStatus, Map<String, Long> byType)
      throws SQLException {
    long[] workers = two(WORKERS, namespace, "all_workers", "online");
    long[] templates = two(TEMPLATES, namespace, "all_templates", "enabled");
    return new Stats(byStatus, byType, workers[0], workers[1], templates[0], templates[1]);
  }

  private long[] two(String sql, @Nullable String namespace, String first, String second)
      throws SQLException {
    SqlBuilder counting = new SqlBuilder().add(sql);
    equal(counting, "namespace", namespace);
    return counting
        .on(session)
        .first(row -> new long[] {row.bigint(first), row.bigint(second)})
        .orElseThrow();
  }

  QueueDepth depth(String namespace, @Nullable String queue) throws SQLException {
    Filter open =
        new Filter(
            namespace,
            null,
            queue,
            null,
            Set.of(RunStatus.PENDING, RunStatus.RUNNING, RunStatus.SLEEPING));
    Map<RunStatus, Long> byStatus = new EnumMap<>(RunStatus.class);
    Map<String, Long> pending = new HashMap<>();
    new SqlBuilder()
        .add("SELECT n.status, n.task_queue, sum(n.runs)::bigint AS runs FROM (")
        .add(counted(open))
        .add(") n GROUP BY n.status, n.task_queue")
        .on(session)
        .list(
            row -> {
              RunStatus status = RunStatus.valueOf(row.text("status"));
              if (status == RunStatus.PENDING) {
                pending.put(row.text("task_queue"), row.bigint("runs"));
              }
              return byStatus.merge(status, row.bigint("runs"), Long::sum);
            });
    return new QueueDepth(
        byStatus.getOrDefault(RunStatus.PENDING, 0L),
        byStatus.getOrDefault(RunStatus.RUNNING, 0L),
        byStatus.getOrDefault(RunStatus.SLEEPING, 0L),
        largest(pending));
  }

  private static Map<String, Long> largest(Map<String, Long> numbers) {
    Map<String, Long> largest = new LinkedHashMap<>();
    numbers.entrySet().stream()
        .filter(number -> number.getValue() != 0)
        .sorted(
            Map.Entry.<String, Long>comparingByValue(Comparator.reverseOrder())
                .thenComparing(Map.Entry.comparingByKey()))
        .limit(ENTRIES_MAX)
        .forEach(number -> largest.put(number.getKey(), number.getValue()));
    return largest;
  }

  TypeView type(String namespace, String type) throws SQLException {
    return new TypePages(session, namespace)
        .views(List.of(type))
        .getOrDefault(type, new TypeView(type, 0, 0, List.of(), Map.of()));
  }

  Page<TypeView> types(String namespace, PageSpec spec) throws SQLException {
    return Pager.page(spec, "types " + namespace, new TypePages(session, namespace));
  }

  private record TypePages(Session session, String namespace) implements Pager.Source<TypeView> {
    @Override
    public List<Pager.Found<TypeView>> rows(@Nullable Cursor from, boolean forward, int rowsMax)
        throws SQLException {
      List<String> names =
          names(from, forward)
              .add(" LIMIT ?", rowsMax)
              .on(session)
              .list(row -> row.text("workflow_type"));
      Map<String, TypeView> views = views(names);
      List<Pager.Found<TypeView>> found = new ArrayList<>();
      for (String name : names) {
        // The last run of the type may have been purged since.
        TypeView view = views.getOrDefault(name, new TypeView(name, 0, 0, List.of(), Map.of()));
        found.add(new Pager.Found<>(view, Cursor.of(name), true));
      }
      return found;
    }

    private SqlBuilder names(@Nullable Cursor from, boolean forward) {
      SqlBuilder sql =
          new SqlBuilder()
              .add("SELECT n.workflow_type FROM (")
              .add(counted(Filter.of(namespace)))
              .add(") n WHERE true");
      if (from != null) {
        sql.add("   AND n.workflow_type " + (forward ? ">" : "<") + " ?", from.text(0));
      }
      return sql.add(" GROUP BY n.workflow_type HAVING sum(n.runs) > 0")
          .add(" ORDER BY n.workflow_type" + (forward ? "" : " DESC"));
    }

    private Map<String, TypeView> views(List<String> names) throws SQLException {
      Map<String, TypeAggregate> parts = new HashMap<>();
      new SqlBuilder()
          .add("SELECT n.workflow_type, n.task_queue, n.version, sum(n.runs)::bigint AS runs,")
          .add("       coalesce(sum(n.runs) FILTER (WHERE " + OPEN + "), 0)::bigint AS open")
          .add("  FROM (")
          .add(counted(Filter.of(namespace)))
          .add(") n WHERE n.workflow_type = ANY (?)", names)
          .add(" GROUP BY n.workflow_type, n.task_queue, n.version")
          .add("HAVING sum(n.runs) > 0")
          .add(" ORDER BY n.workflow_type, n.task_queue, n.version")
          .on(session)
          .list(
              row ->
                  parts
                      .computeIfAbsent(row.text("workflow_type"), name -> new TypeAggregate())
                      .add(row));
      Map<String, TypeView> views = new HashMap<>();
      parts.forEach((name, part) -> views.put(name, part.view(name)));
      return views;
    }

    @Override
    public long count() throws SQLException {
      return new SqlBuilder()
          .add("SELECT count(*) AS rows FROM (")
          .add(names(null, true))
          .add(") t")
          .on(session)
          .first(row -> row.bigint("rows"))
          .orElse(0L);
    }
  }

  private static final class TypeAggregate {
    private static final int NAMES_MAX = 100;

    private final Set<String> queues = new TreeSet<>();
    private final Map<String, Long> open = new TreeMap<>();
    private long runs;
    private long openRuns;

    boolean add(Row row) throws SQLException {
      long openNow = row.bigint("open");
      runs += row.bigint("runs");
      openRuns += openNow;
      if (openNow > 0) {
        open.merge(row.text("version"), openNow, Long::sum);
      }
      return queues.add(row.text("task_queue"));
    }

    TypeView view(String name) {
      Map<String, Long> versions = new LinkedHashMap<>();
      open.entrySet().stream()
          .limit(NAMES_MAX)
          .forEach(version -> versions.put(version.getKey(), version.getValue()));
      return new TypeView(
          name, runs, openRuns, queues.stream().limit(NAMES_MAX).toList(), versions);
    }
  }
}
