package dev.kagzi.engine.query;

import dev.kagzi.engine.internal.db.Row;
import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.internal.page.Cursor;
import dev.kagzi.engine.internal.page.Pager;
import dev.kagzi.engine.internal.value.SleepSql;
import dev.kagzi.engine.page.Page;
import dev.kagzi.engine.page.PageSpec;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.StepKind;
import dev.kagzi.engine.value.StepRef;
import dev.kagzi.engine.value.StepStatus;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

final class StepQueries {
  private static final String RUN_IS_THERE =
      "SELECT 1 FROM kagzi.workflow_runs WHERE namespace = ? AND run_id = ?";

  private static final String COLUMNS =
      """
      SELECT s.run_id, s.step_id, s.attempt, s.epoch, s.run_attempt, s.kind, %s AS status, s.final,
             s.error, s.child_run_id, s.input_hash, s.name,
             s.created_at, s.started_at, %s AS finished_at, s.due_at,
             CASE WHEN octet_length(s.progress) > ? THEN '' ELSE s.progress END AS progress,
             s.progress_metadata,
             CASE WHEN octet_length(s.input) > ? THEN '' ELSE s.input END AS input,
             s.input_metadata,
             CASE WHEN octet_length(s.output) > ? THEN '' ELSE s.output END AS output,
             s.output_metadata"""
          .formatted(SleepSql.status("s"), SleepSql.finishedAt("s"));

  // A step is recorded when it ends or takes long, so often after steps that began later.
  private static final String BEGAN = "coalesce(s.started_at, s.created_at)";

  private static final String OF_RUN =
      """
        FROM kagzi.step_runs s
       WHERE s.run_id = ?""";

  // Matches the stored name, the name that StepRef.name() derives, or the whole key.
  private static final String NAMED =
      """
         AND ? IN (s.step_id,
                   coalesce(s.name,
                            regexp_replace(regexp_replace(s.step_id, '^([^/]*\\[[^]/]+]/)+', ''),
                                           '#[0-9]+$', '')))""";

  // The sum decides where the page ends, as in RunQueries.
  private static final String WEIGHED =
      """
      ), weighed AS (
      SELECT p.*, p.n = 1 OR ? >= sum(
               coalesce(octet_length(p.input), 0) + coalesce(octet_length(p.output), 0)
               + coalesce(octet_length(p.progress), 0)
               + coalesce(octet_length(p.error::text), 0)) OVER (ORDER BY p.n) AS fits
        FROM page p
      )
      SELECT run_id, step_id, attempt, epoch, run_attempt, kind, status, final, child_run_id, name,
             input_hash, created_at, started_at, finished_at, due_at, fits,
             CASE WHEN fits THEN progress END AS progress, progress_metadata,
             CASE WHEN fits THEN error END AS error,
             CASE WHEN fits THEN input END AS input, input_metadata,
             CASE WHEN fits THEN output END AS output, output_metadata
        FROM weighed
       ORDER BY n
      """;

  private final Session session;
  private final String namespace;

  StepQueries(Session session, String namespace) {
    this.session = session;
    this.namespace = namespace;
  }

  /** Finds an attempt. Ignores the ref's epoch: a later claim may have begun it again. */
  Optional<StepView> find(StepRef ref) throws SQLException {
    return isRunThere(ref.runId()) ? byRef(ref).on(session).first(this::view) : Optional.empty();
  }

  static SqlBuilder byRef(StepRef ref) {
    return new SqlBuilder()
        .add(COLUMNS, Integer.MAX_VALUE, Integer.MAX_VALUE, Integer.MAX_VALUE)
        .add(OF_RUN, ref.runId().value())
        .add("   AND s.step_id = ? AND s.attempt = ?", ref.stepKey(), ref.attempt());
  }

  Page<StepView> page(RunId runId, @Nullable String name, PageSpec spec) throws SQLException {
    if (!isRunThere(runId)) {
      throw Refusal.notFound("run", runId, namespace);
    }
    String list = "steps " + runId + (name == null ? "" : " named " + name);
    return Pager.page(spec, list, new StepPages(this, runId, name, PageByteLimits.of(spec)));
  }

  boolean isRunThere(RunId runId) throws SQLException {
    return session
        .query(RUN_IS_THERE)
        .bind(namespace)
        .bind(runId.value())
        .first(row -> true)
        .isPresent();
  }

  private record StepPages(
      StepQueries queries, RunId runId, @Nullable String name, PageByteLimits limits)
      implements Pager.Source<StepView> {
    @Override
    public List<Pager.Found<StepView>> rows(@Nullable Cursor from, boolean forward, int rowsMax)
        throws SQLException {
      return list(runId, name, from, forward, rowsMax, limits)
          .on(queries.session)
          .list(queries::found);
    }

    @Override
    public boolean isAny(Cursor from, boolean forward) throws SQLException {
      return any(runId, name, from, forward).on(queries.session).first(row -> true).isPresent();
    }

    @Override
    public long count() throws SQLException {
      return all(runId, name).on(queries.session).first(row -> row.bigint("rows")).orElse(0L);
    }
  }

  static SqlBuilder list(
      RunId runId,
      @Nullable String name,
      @Nullable Cursor from,
      boolean forward,
      int rowsMax,
      PageByteLimits limits) {
    String order = order(forward);
    return new SqlBuilder()
        .add("WITH page AS (")
        .add("SELECT s.*, row_number() OVER (ORDER BY " + order + ") AS n FROM (")
        .add(COLUMNS, limits.payloadBytesMax(), limits.payloadBytesMax(), limits.payloadBytesMax())
        .add(matching(runId, name))
        .add(beyond(from, forward))
        .add(" ORDER BY " + order + " LIMIT ?) s", rowsMax)
        .add(WEIGHED, limits.pageBytesMax());
  }

  static SqlBuilder any(RunId runId, @Nullable String name, Cursor from, boolean forward) {
    return new SqlBuilder()
        .add("SELECT 1")
        .add(matching(runId, name))
        .add(beyond(from, forward))
        // Without ORDER BY the planner expects an early match and reads the whole table.
        .add(" ORDER BY " + order(forward) + " LIMIT 1");
  }

  static SqlBuilder all(RunId runId, @Nullable String name) {
    return new SqlBuilder().add("SELECT count(*) AS rows").add(matching(runId, name));
  }

  private static String order(boolean forward) {
    return forward
        ? BEGAN + ", s.step_id, s.attempt"
        : BEGAN + " DESC, s.step_id DESC, s.attempt DESC";
  }

  private static SqlBuilder matching(RunId runId, @Nullable String name) {
    SqlBuilder sql = new SqlBuilder().add(OF_RUN, runId.value());
    return name == null ? sql : sql.add(NAMED, name);
  }

  private static SqlBuilder beyond(@Nullable Cursor from, boolean forward) {
    if (from == null) {
      return new SqlBuilder();
    }
    return new SqlBuilder()
        .add(
            "   AND ("
                + BEGAN
                + ", s.step_id, s.attempt) "
                + (forward ? ">" : "<")
                + " (kagzi.at(?), ?, ?)",
            from.number(0),
            from.text(1),
            from.number(2));
  }

  private Pager.Found<StepView> found(Row row) throws SQLException {
    StepView view = view(row);
    Instant began = view.startedAt();
    Cursor cursor =
        Cursor.of(
            Cursor.micros(began == null ? view.createdAt() : began),
            view.stepId().stepKey(),
            Integer.toString(view.attemptNumber()));
    return new Pager.Found<>(view, cursor, row.bool("fits"));
  }

  private StepView view(Row row) throws SQLException {
    RunId runId = row.runId("run_id");
    StepRef ref =
        new StepRef(runId, row.text("step_id"), row.integer("attempt"), row.integer("epoch"));
    String name = row.textOrNull("name");
    Payload input = row.payloadOrNull("input", "input_metadata");
    return new StepView(
        namespace,
        ref,
        runId,
        name == null ? ref.name() : name,
        StepKind.valueOf(row.text("kind")),
        StepStatus.valueOf(row.text("status")),
        ref.attempt(),
        input == null ? Payload.EMPTY : input,
        row.payloadOrNull("output", "output_metadata"),
        row.failureOrNull("error"),
        row.time("created_at"),
        row.timeOrNull("started_at"),
        row.timeOrNull("finished_at"),
        row.runIdOrNull("child_run_id"),
        row.integer("run_attempt"),
        row.bool("final"),
        row.textOrNull("input_hash"),
        row.timeOrNull("due_at"),
        row.payloadOrNull("progress", "progress_metadata"));
  }
}
