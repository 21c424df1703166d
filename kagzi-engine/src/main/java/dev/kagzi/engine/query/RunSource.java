package dev.kagzi.engine.query;

import dev.kagzi.engine.internal.db.Session;
import java.sql.SQLException;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Where a list of runs reads its rows from. Usually it follows the index of creation times. If a
 * type, queue or version has few runs, that index would be read to its end to find them, so they
 * are read by the index of kinds. A kind is a type, a queue and a version.
 *
 * @param kinds all kinds that match the filter, if they have few runs; else null
 */
record RunSource(RunFilter filter, @Nullable List<Kind> kinds) {
  private static final int FEW_RUNS = 10_000;
  private static final int KINDS_MAX = 100;

  private static final String RUNS = "  FROM kagzi.workflow_runs r";

  // One external id has few runs, but the planner may scan the whole namespace by time to find them
  // sorted. OFFSET 0 forces the index of the external id.
  private static final String RUNS_OF_EXTERNAL_ID =
      """
        FROM (SELECT * FROM kagzi.workflow_runs
               WHERE namespace = ? AND external_id = ? OFFSET 0) r""";

  // Ended runs are in the index of kinds, active runs in the claim index.
  private static final String RUNS_OF_KINDS =
      """
        FROM (SELECT m.*
                FROM unnest(?, ?, ?) AS k (workflow_type, task_queue, version)
               CROSS JOIN LATERAL (
                     SELECT *
                       FROM kagzi.workflow_runs e
                      WHERE hashtext(e.namespace || ' ' || e.workflow_type || ' '
                                     || e.task_queue || ' ' || e.version)
                            = hashtext(? || ' ' || k.workflow_type || ' '
                                       || k.task_queue || ' ' || k.version)
                        AND e.namespace = ? AND e.workflow_type = k.workflow_type
                        AND e.task_queue = k.task_queue AND e.version = k.version
                        AND e.available_at IS NULL
                      UNION ALL
                     SELECT *
                       FROM kagzi.workflow_runs a
                      WHERE a.namespace = ? AND a.workflow_type = k.workflow_type
                        AND a.task_queue = k.task_queue AND a.version = k.version
                        AND a.available_at IS NOT NULL AND a.cron_expr IS NULL) m
              OFFSET 0) r""";

  record Kind(String type, String queue, String version, long runs) {}

  /** Reads by creation time, regardless of the number of runs. */
  static RunSource byTime(RunFilter filter) {
    return new RunSource(filter, null);
  }

  static RunSource choose(Session session, RunFilter filter) throws SQLException {
    if (!isOfKinds(filter)) {
      return byTime(filter);
    }
    List<Kind> kinds =
        kindsOf(filter)
            .on(session)
            .list(
                row ->
                    new Kind(
                        row.text("workflow_type"),
                        row.text("task_queue"),
                        row.text("version"),
                        row.bigint("runs")));
    long runs = kinds.stream().mapToLong(Kind::runs).sum();
    return kinds.size() <= KINDS_MAX && runs <= FEW_RUNS
        ? new RunSource(filter, kinds)
        : byTime(filter);
  }

  /** Whether the filter has a type, queue or version, and nothing that has its own index. */
  private static boolean isOfKinds(RunFilter filter) {
    return (filter.type() != null || filter.queue() != null || filter.version() != null)
        && filter.externalId() == null
        && filter.parentRunId() == null
        && filter.scheduleId() == null
        && !filter.blocked()
        && !filter.due()
        && filter.worker() == null;
  }

  static SqlBuilder kindsOf(RunFilter filter) {
    StatsQueries.Filter counted =
        new StatsQueries.Filter(
            filter.namespace(), filter.type(), filter.queue(), filter.version(), Set.of());
    return new SqlBuilder()
        .add("SELECT n.workflow_type, n.task_queue, n.version, sum(n.runs)::bigint AS runs FROM (")
        .add(StatsQueries.counted(counted))
        .add(") n GROUP BY n.workflow_type, n.task_queue, n.version HAVING sum(n.runs) > 0")
        .add(" LIMIT ?", KINDS_MAX + 1);
  }

  SqlBuilder from() {
    String namespace = filter.namespace();
    String externalId = filter.externalId();
    if (externalId != null) {
      return ofExternalId(namespace, externalId);
    }
    return kinds == null
        ? new SqlBuilder().add(RUNS)
        : new SqlBuilder()
            .add(
                RUNS_OF_KINDS,
                kinds.stream().map(Kind::type).toList(),
                kinds.stream().map(Kind::queue).toList(),
                kinds.stream().map(Kind::version).toList(),
                namespace,
                namespace,
                namespace);
  }

  static SqlBuilder ofExternalId(String namespace, String externalId) {
    return new SqlBuilder().add(RUNS_OF_EXTERNAL_ID, namespace, externalId);
  }
}
