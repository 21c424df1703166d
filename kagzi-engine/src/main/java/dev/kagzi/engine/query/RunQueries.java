package dev.kagzi.engine.query;

import dev.kagzi.engine.internal.db.Row;
import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.internal.page.Cursor;
import dev.kagzi.engine.internal.page.EpochMicros;
import dev.kagzi.engine.internal.page.Pager;
import dev.kagzi.engine.internal.retry.RetryPolicyJson;
import dev.kagzi.engine.internal.value.Json;
import dev.kagzi.engine.page.Page;
import dev.kagzi.engine.page.PageSpec;
import dev.kagzi.engine.value.Origin;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import java.sql.SQLException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

final class RunQueries {
  private static final String COLUMNS =
      """
      SELECT r.namespace, r.run_id, r.external_id, r.task_queue, r.workflow_type, r.status,
             r.version, r.error, r.attempts, r.created_at, r.started_at, r.finished_at,
             CASE WHEN r.status = 'SLEEPING'
                    OR r.status = 'PENDING' AND r.available_at > kagzi.clock()
                  THEN nullif(r.available_at, 'infinity') END AS wake_up_at,
             r.locked_by, r.parent_run_id, r.parent_step_id, r.schedule_id, r.cron_expr,
             r.deadline_at, r.origin, r.crashes, r.epoch, r.blocked_by, r.retry_policy,
             r.execution_timeout_ms, r.step_timeout_ms, r.heartbeat_timeout_ms,
             r.on_failure_workflow, r.on_failure_task_queue, r.failed_run_id, r.retry_of, r.detached,
             r.headers, r.continued_to, r.continued_from, r.first_run_id, r.cancel_requested_at,
             CASE WHEN r.cron_expr IS NULL THEN r.fire_at END AS fire_at""";

  private static final String RUNS = "  FROM kagzi.workflow_runs r";

  // Counting more rows takes too long for a page request.
  private static final int COUNT_MAX = 100_000;

  private static final int RETRIES_MAX = 10;

  private static final String NO_TEMPLATES =
      "   AND NOT (r.cron_expr IS NOT NULL AND r.status IN ('SCHEDULED', 'PAUSED'))";

  // ONLY_ACTIVE is true for every run with a status of ACTIVE. The explicit condition lets the
  // planner use the claim index, which has only active runs: a few among millions of ended ones.
  private static final Set<RunStatus> ACTIVE =
      EnumSet.of(RunStatus.PENDING, RunStatus.RUNNING, RunStatus.SLEEPING);
  private static final Set<RunStatus> UNSUCCESSFUL =
      EnumSet.of(RunStatus.FAILED, RunStatus.CANCELLED, RunStatus.TIMED_OUT);
  private static final String ONLY_ACTIVE =
      "   AND r.available_at IS NOT NULL AND r.cron_expr IS NULL";

  // The sum decides where the page ends. Omitted payloads are not read: only their TOAST references
  // pass through here.
  private static final String WITH_PAYLOADS =
      """
      ), loaded AS (
      SELECT p.*,
             CASE WHEN octet_length(i.data) > ? THEN '' ELSE i.data END AS input,
             i.metadata AS input_metadata,
             CASE WHEN octet_length(o.data) > ? THEN '' ELSE o.data END AS output,
             o.metadata AS output_metadata,
             CASE WHEN p.status IN ('FAILED', 'TIMED_OUT') THEN (
               SELECT h.run_id FROM kagzi.workflow_runs h
                WHERE h.failed_run_id = p.run_id
                ORDER BY h.created_at DESC, h.workflow_type = '__kagzi_failure_handler', h.run_id
                LIMIT 1) END AS failure_handler,
             (SELECT count(*) FROM kagzi.run_signals g
               WHERE g.run_id = p.run_id AND g.step_id IS NULL
                 AND g.answer IS NULL) AS buffered_signals
        FROM page p
        LEFT JOIN kagzi.workflow_payloads i ON i.run_id = p.run_id AND i.kind = 'INPUT'
        LEFT JOIN kagzi.workflow_payloads o ON o.run_id = p.run_id AND o.kind = 'OUTPUT'
      ), weighed AS (
      SELECT l.*, l.n = 1 OR ? >= sum(
               coalesce(octet_length(l.input), 0) + coalesce(octet_length(l.output), 0)
               + coalesce(octet_length(l.headers::text), 0)
               + coalesce(octet_length(l.error::text), 0)
               + coalesce(octet_length(l.blocked_by::text), 0)) OVER (ORDER BY l.n) AS fits
        FROM loaded l
      )
      SELECT namespace, run_id, external_id, task_queue, workflow_type, status, version, attempts,
             created_at, started_at, finished_at, wake_up_at, locked_by, parent_run_id,
             parent_step_id, schedule_id, cron_expr, deadline_at, origin, crashes, epoch, fits,
             retry_policy, execution_timeout_ms, step_timeout_ms, heartbeat_timeout_ms,
             on_failure_workflow, on_failure_task_queue, failed_run_id, retry_of, detached, fire_at,
             failure_handler, buffered_signals, continued_to, continued_from, first_run_id, cancel_requested_at,
             CASE WHEN fits THEN headers END AS headers,
             CASE WHEN fits THEN error END AS error,
             CASE WHEN fits THEN blocked_by END AS blocked_by,
             CASE WHEN fits THEN input END AS input, input_metadata,
             CASE WHEN fits THEN output END AS output, output_metadata
        FROM weighed
       ORDER BY n
      """;

  // An active run is the latest of its external id: no other can start while it is active.
  private static final String ACTIVE_OF_EXTERNAL_ID =
      """
      SELECT run_id
        FROM kagzi.workflow_runs
       WHERE namespace = ? AND external_id = ? AND ended = '00000000-0000-0000-0000-000000000000'
         AND cron_expr IS NULL
      """;

  private static final String LAST_OF_CHAIN =
      """
      SELECT run_id
        FROM kagzi.workflow_runs
       WHERE first_run_id = ? AND continued_to IS NULL
       LIMIT 1
      """;

  private final Session session;

  RunQueries(Session session) {
    this.session = session;
  }

  Optional<RunView> find(String namespace, RunId runId) throws SQLException {
    return byId(namespace, runId, PageByteLimits.SINGLE).on(session).first(RunQueries::view);
  }

  Optional<RunView> findListed(String namespace, RunId runId) throws SQLException {
    PageByteLimits limits = PageByteLimits.of(PageSpec.FIRST);
    return byId(namespace, runId, limits).on(session).first(RunQueries::view);
  }

  static SqlBuilder byId(String namespace, RunId runId, PageByteLimits limits) {
    SqlBuilder page =
        new SqlBuilder()
            .add(COLUMNS)
            .add(", 1 AS n")
            .add(RUNS)
            .add(" WHERE r.namespace = ? AND r.run_id = ?", namespace, runId.value());
    return withPayloads(page, limits);
  }

  List<RunId> retries(String namespace, RunId runId) throws SQLException {
    return retriesOf(namespace, runId).on(session).list(row -> row.runId("run_id"));
  }

  static SqlBuilder retriesOf(String namespace, RunId runId) {
    return new SqlBuilder()
        .add("SELECT r.run_id")
        .add(RUNS)
        .add(" WHERE r.namespace = ? AND r.retry_of = ?", namespace, runId.value())
        .add(" ORDER BY r.created_at DESC, r.run_id DESC LIMIT ?", RETRIES_MAX);
  }

  Optional<RunId> lastOfChain(RunView run) throws SQLException {
    RunId first = run.setup().chain().first();
    return lastOf(first == null ? run.runId() : first)
        .on(session)
        .first(row -> row.runId("run_id"));
  }

  static SqlBuilder lastOf(RunId firstRun) {
    return new SqlBuilder().add(LAST_OF_CHAIN, firstRun.value());
  }

  Optional<RunId> latest(String namespace, String externalId) throws SQLException {
    Optional<RunId> active =
        activeOf(namespace, externalId).on(session).first(row -> row.runId("run_id"));
    return active.isPresent()
        ? active
        : latestOf(namespace, externalId).on(session).first(row -> row.runId("run_id"));
  }

  static SqlBuilder activeOf(String namespace, String externalId) {
    return new SqlBuilder().add(ACTIVE_OF_EXTERNAL_ID, namespace, externalId);
  }

  static SqlBuilder latestOf(String namespace, String externalId) {
    return new SqlBuilder()
        .add("SELECT r.run_id")
        .add(RunSource.ofExternalId(namespace, externalId))
        .add(" WHERE r.continued_to IS NULL")
        .add(NO_TEMPLATES)
        .add(" ORDER BY r.created_at DESC, r.run_id DESC LIMIT 1");
  }

  Page<RunView> page(RunFilter filter, PageSpec spec) throws SQLException {
    RunSource source = RunSource.choose(session, filter);
    RunPages pages = new RunPages(session, source, PageByteLimits.of(spec));
    return Pager.page(spec, "runs " + filter, pages);
  }

  private record RunPages(Session session, RunSource source, PageByteLimits limits)
      implements Pager.Source<RunView> {
    @Override
    public List<Pager.Found<RunView>> rows(@Nullable Cursor from, boolean forward, int rowsMax)
        throws SQLException {
      return list(source, from, forward, rowsMax, limits).on(session).list(RunQueries::found);
    }

    @Override
    public boolean isAny(Cursor from, boolean forward) throws SQLException {
      return any(source, from, forward).on(session).first(row -> true).isPresent();
    }

    @Override
    public long count() throws SQLException {
      return isCounted(source.filter())
          ? new StatsQueries(session).runs(numbers(source.filter()))
          : all(source).on(session).first(row -> row.bigint("rows")).orElse(0L);
    }
  }

  static SqlBuilder list(
      RunSource source,
      @Nullable Cursor from,
      boolean forward,
      int rowsMax,
      PageByteLimits limits) {
    String order = order(forward);
    SqlBuilder page =
        new SqlBuilder()
            .add("SELECT r.*, row_number() OVER (ORDER BY " + order + ") AS n FROM (")
            .add(COLUMNS)
            .add(inOrder(source, from, forward, rowsMax))
            .add(" ORDER BY " + order)
            .add(limit(source.filter(), rowsMax))
            .add(") r");
    return withPayloads(page, limits);
  }

  static SqlBuilder any(RunSource source, Cursor from, boolean forward) {
    return new SqlBuilder().add("SELECT 1").add(inOrder(source, from, forward, 1)).add(" LIMIT 1");
  }

  /**
   * Reads the first rows of each set of {@link #splitByIndex}, in the order of its index. The first
   * rows of the merged list are among them.
   */
  private static SqlBuilder inOrder(
      RunSource source, @Nullable Cursor from, boolean forward, int rowsMax) {
    List<Set<RunStatus>> lists = splitByIndex(source.filter().statuses());
    SqlBuilder sql = new SqlBuilder().add("  FROM (");
    String between = "";
    for (Set<RunStatus> statuses : lists) {
      sql.add(between)
          .add("(SELECT r.*")
          .add(matching(source, statuses))
          .add(beyond(from, forward))
          .add(" ORDER BY " + order(forward))
          .add(limit(source.filter(), rowsMax))
          .add(")");
      between = "UNION ALL";
    }
    return sql.add(") r");
  }

  /**
   * The number of rows is a literal where one plan is right for all values. For a parameter, the
   * planner assumes a tenth of all matching rows: among millions of runs a generic plan then looks
   * expensive, and PostgreSQL plans each page again, which takes as long as reading it. A filter by
   * type, schedule or the like keeps the parameter: its plan depends on how many runs match.
   */
  private static SqlBuilder limit(RunFilter filter, int rowsMax) {
    boolean onePlan =
        filter.type() == null
            && filter.queue() == null
            && filter.version() == null
            && filter.externalId() == null
            && filter.parentRunId() == null
            && filter.scheduleId() == null
            && filter.worker() == null;
    return onePlan
        ? new SqlBuilder().add(" LIMIT " + rowsMax)
        : new SqlBuilder().add(" LIMIT ?", rowsMax);
  }

  /** Splits the statuses by index: a set for each that has its own, and one for all others. */
  private static List<Set<RunStatus>> splitByIndex(Set<RunStatus> statuses) {
    List<Set<RunStatus>> lists = new ArrayList<>();
    EnumSet<RunStatus> rest = EnumSet.noneOf(RunStatus.class);
    for (RunStatus status : statuses) {
      if (UNSUCCESSFUL.contains(status)) {
        lists.add(EnumSet.of(status));
      } else {
        rest.add(status);
      }
    }
    if (!rest.isEmpty() || lists.isEmpty()) {
      lists.add(rest);
    }
    return lists;
  }

  /** Returns whether {@code run_counts} can answer, so that no runs need to be scanned. */
  private static boolean isCounted(RunFilter filter) {
    return filter.createdAfter() == null
        && filter.createdBefore() == null
        && filter.externalId() == null
        && filter.parentRunId() == null
        && filter.scheduleId() == null
        && !filter.topLevel()
        && !filter.blocked()
        && !filter.due()
        && filter.worker() == null;
  }

  private static StatsQueries.Filter numbers(RunFilter filter) {
    return new StatsQueries.Filter(
        filter.namespace(), filter.type(), filter.queue(), filter.version(), filter.statuses());
  }

  static SqlBuilder all(RunSource source) {
    return upTo(source, COUNT_MAX);
  }

  private static SqlBuilder upTo(RunSource source, int max) {
    return new SqlBuilder()
        .add("SELECT count(*) AS rows FROM (SELECT 1")
        .add(matching(source, source.filter().statuses()))
        .add(" LIMIT ?) r", max);
  }

  RunCount count(RunFilter filter) throws SQLException {
    if (isCounted(filter)) {
      return new RunCount(new StatsQueries(session).runs(numbers(filter)), true);
    }
    long rows =
        upTo(RunSource.choose(session, filter), RunCount.SCANNED_MAX + 1)
            .on(session)
            .first(row -> row.bigint("rows"))
            .orElse(0L);
    return new RunCount(Math.min(rows, RunCount.SCANNED_MAX), rows <= RunCount.SCANNED_MAX);
  }

  /** Returns the newest runs, without reading anything else of them. */
  List<RunId> ids(RunFilter filter, int max) throws SQLException {
    return idsOf(RunSource.choose(session, filter), max)
        .on(session)
        .list(row -> row.runId("run_id"));
  }

  static SqlBuilder idsOf(RunSource source, int max) {
    return new SqlBuilder()
        .add("SELECT r.run_id")
        .add(inOrder(source, null, true, max))
        .add(" ORDER BY " + order(true) + " LIMIT ?", max);
  }

  private static String order(boolean forward) {
    return forward ? "r.created_at DESC, r.run_id DESC" : "r.created_at, r.run_id";
  }

  private static SqlBuilder matching(RunSource source, Set<RunStatus> statuses) {
    RunFilter filter = source.filter();
    SqlBuilder sql = source.from();
    sql.add(" WHERE r.namespace = ?", filter.namespace()).add(NO_TEMPLATES);
    if (!statuses.isEmpty()) {
      // Literals instead of parameters: the planner must see which partial index applies.
      sql.add("   AND r.status " + oneOf(statuses));
    }
    if (isActive(filter, statuses)) {
      sql.add(ONLY_ACTIVE);
    }
    equal(sql, "workflow_type", filter.type());
    equal(sql, "task_queue", filter.queue());
    equal(sql, "version", filter.version());
    equal(sql, "parent_run_id", filter.parentRunId() == null ? null : filter.parentRunId().value());
    equal(sql, "schedule_id", filter.scheduleId());
    if (filter.topLevel()) {
      sql.add("   AND r.parent_run_id IS NULL");
    }
    if (filter.blocked()) {
      // A RUNNING run keeps blocked_by until its claim ends, but its worker continues it.
      sql.add("   AND r.blocked_by IS NOT NULL AND r.status = 'PENDING'");
    }
    if (filter.due()) {
      sql.add("   AND r.available_at <= kagzi.clock() AND r.available_at < 'infinity'");
    }
    if (filter.worker() != null) {
      sql.add("   AND r.status = 'RUNNING' AND r.locked_by = ?", filter.worker().value());
    }
    since(sql, ">=", filter.createdAfter());
    since(sql, "<", filter.createdBefore());
    return sql;
  }

  private static boolean isActive(RunFilter filter, Set<RunStatus> statuses) {
    return filter.due()
        || filter.worker() != null
        || (!statuses.isEmpty() && ACTIVE.containsAll(statuses));
  }

  private static String oneOf(Set<RunStatus> statuses) {
    List<String> names = statuses.stream().map(status -> "'" + status.name() + "'").toList();
    return names.size() == 1 ? "= " + names.get(0) : "IN (" + String.join(", ", names) + ")";
  }

  private static void equal(SqlBuilder sql, String column, @Nullable Object value) {
    if (value != null) {
      sql.add("   AND r." + column + " = ?", value);
    }
  }

  // Rounds up to the next microsecond, for both bounds: no stored time is in between.
  private static void since(SqlBuilder sql, String operator, @Nullable Instant time) {
    if (time != null) {
      Instant bounded = EpochMicros.bounded(time);
      Instant whole = bounded.truncatedTo(ChronoUnit.MICROS);
      long micros = EpochMicros.micros(whole) + (whole.equals(bounded) ? 0 : 1);
      sql.add("   AND r.created_at " + operator + " kagzi.at(?)", micros);
    }
  }

  private static SqlBuilder beyond(@Nullable Cursor from, boolean forward) {
    if (from == null) {
      return new SqlBuilder();
    }
    return new SqlBuilder()
        .add(
            "   AND (r.created_at, r.run_id) " + (forward ? "<" : ">") + " (kagzi.at(?), ?)",
            from.number(0),
            from.uuid(1));
  }

  private static SqlBuilder withPayloads(SqlBuilder page, PageByteLimits limits) {
    return new SqlBuilder()
        .add("WITH page AS (")
        .add(page)
        .add(
            WITH_PAYLOADS,
            limits.payloadBytesMax(),
            limits.payloadBytesMax(),
            limits.pageBytesMax());
  }

  private static Pager.Found<RunView> found(Row row) throws SQLException {
    RunView view = view(row);
    Cursor cursor = Cursor.of(Cursor.micros(view.createdAt()), view.runId().toString());
    return new Pager.Found<>(view, cursor, row.bool("fits"));
  }

  private static RunView view(Row row) throws SQLException {
    Payload input = row.payloadOrNull("input", "input_metadata");
    return new RunView(
        row.text("namespace"),
        row.runId("run_id"),
        row.textOrEmpty("external_id"),
        row.text("task_queue"),
        row.text("workflow_type"),
        RunStatus.valueOf(row.text("status")),
        row.text("version"),
        input == null ? Payload.EMPTY : input,
        row.payloadOrNull("output", "output_metadata"),
        row.failureOrNull("error"),
        row.integer("attempts"),
        row.time("created_at"),
        row.timeOrNull("started_at"),
        row.timeOrNull("finished_at"),
        row.timeOrNull("wake_up_at"),
        row.workerIdOrNull("locked_by"),
        row.runIdOrNull("parent_run_id"),
        row.textOrNull("parent_step_id"),
        row.uuidOrNull("schedule_id"),
        row.textOrNull("cron_expr"),
        row.timeOrNull("deadline_at"),
        row.timeOrNull("cancel_requested_at"),
        Origin.valueOf(row.text("origin")),
        row.integer("crashes"),
        row.integer("epoch"),
        row.failureOrNull("blocked_by"),
        setup(row));
  }

  private static RunView.Setup setup(Row row) throws SQLException {
    return new RunView.Setup(
        RetryPolicyJson.decode(row.textOrNull("retry_policy")),
        row.bigintOrNull("execution_timeout_ms"),
        row.bigintOrNull("step_timeout_ms"),
        row.bigintOrNull("heartbeat_timeout_ms"),
        row.textOrEmpty("on_failure_workflow"),
        row.textOrEmpty("on_failure_task_queue"),
        row.runIdOrNull("failure_handler"),
        row.runIdOrNull("failed_run_id"),
        row.runIdOrNull("retry_of"),
        row.bool("detached"),
        row.timeOrNull("fire_at"),
        Json.decodeUncached(row.textOrNull("headers")),
        row.integer("buffered_signals"),
        new RunView.Chain(
            row.runIdOrNull("continued_to"),
            row.runIdOrNull("continued_from"),
            row.runIdOrNull("first_run_id")));
  }
}
