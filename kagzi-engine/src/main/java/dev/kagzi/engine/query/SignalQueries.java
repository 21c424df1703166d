package dev.kagzi.engine.query;

import dev.kagzi.engine.internal.db.Row;
import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.internal.page.Cursor;
import dev.kagzi.engine.internal.page.Pager;
import dev.kagzi.engine.page.Page;
import dev.kagzi.engine.page.PageSpec;
import dev.kagzi.engine.value.CallbackAnswer;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.RunId;
import java.sql.SQLException;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Lists the signals of a run in the order of their arrival. */
final class SignalQueries {
  // The output of the step has the content of a received signal. Its attempt is the first one:
  // receives have no retries.
  private static final String PAGE =
      """
      SELECT s.signal_no, s.signal_id, s.name, s.sent_at, s.received_at, s.step_id,
             coalesce(s.metadata, r.output_metadata) AS metadata,
             coalesce(s.data, r.output) AS data,
             row_number() OVER (ORDER BY s.signal_no""";

  private static final String WITH_STEPS =
      """
      ) s
        LEFT JOIN LATERAL (
             SELECT t.output, t.output_metadata
               FROM kagzi.step_runs t
              WHERE t.run_id = s.run_id AND t.step_id = s.step_id
              ORDER BY t.attempt DESC
              LIMIT 1) r ON s.step_id IS NOT NULL""";

  private static final String WEIGHED =
      """
      ), weighed AS (
      SELECT p.*, p.n = 1 OR ? >= sum(
               CASE WHEN octet_length(p.data) > ? THEN 0 ELSE coalesce(octet_length(p.data), 0) END)
               OVER (ORDER BY p.n) AS fits
        FROM page p
      )
      SELECT signal_no, signal_id, name, sent_at, received_at, step_id, metadata, fits,
             CASE WHEN NOT fits OR octet_length(data) > ? THEN '' ELSE data END AS data
        FROM weighed
       ORDER BY n
      """;

  /** Leaves out the answers of callbacks, which are stored in the same table. */
  private static final String NO_ANSWERS = " AND g.answer IS NULL";

  private final Session session;

  SignalQueries(Session session) {
    this.session = session;
  }

  Page<SignalView> page(RunId run, boolean buffered, PageSpec spec) throws SQLException {
    String list = "signals " + run + (buffered ? " buffered" : "");
    return Pager.page(spec, list, new Signals(session, run, buffered, PageByteLimits.of(spec)));
  }

  Optional<SignalView> find(RunId run, int number) throws SQLException {
    Cursor before = Cursor.of(Long.toString(number - 1L));
    return list(run, false, before, true, 1, PageByteLimits.SINGLE)
        .on(session)
        .first(row -> found(row).item())
        .filter(signal -> signal.number() == number);
  }

  private record Signals(Session session, RunId run, boolean buffered, PageByteLimits limits)
      implements Pager.Source<SignalView> {
    @Override
    public List<Pager.Found<SignalView>> rows(@Nullable Cursor from, boolean forward, int rowsMax)
        throws SQLException {
      return list(run, buffered, from, forward, rowsMax, limits)
          .on(session)
          .list(SignalQueries::found);
    }

    @Override
    public boolean isAny(Cursor from, boolean forward) throws SQLException {
      return any(run, buffered, from, forward).on(session).first(row -> true).isPresent();
    }

    @Override
    public long count() throws SQLException {
      return all(run, buffered).on(session).first(row -> row.bigint("rows")).orElse(0L);
    }
  }

  static SqlBuilder list(
      RunId run,
      boolean buffered,
      @Nullable Cursor from,
      boolean forward,
      int rowsMax,
      PageByteLimits limits) {
    String direction = forward ? "" : "DESC";
    return new SqlBuilder()
        .add("WITH page AS (")
        .add(PAGE + " " + direction + ") AS n")
        .add("  FROM (SELECT * FROM kagzi.run_signals g WHERE g.run_id = ?", run.value())
        .add(NO_ANSWERS)
        .add(onlyBuffered(buffered))
        .add(beyond(from, forward))
        .add(" ORDER BY g.signal_no " + direction + " LIMIT ?", rowsMax)
        .add(WITH_STEPS)
        .add(WEIGHED, limits.pageBytesMax(), limits.payloadBytesMax(), limits.payloadBytesMax());
  }

  static SqlBuilder any(RunId run, boolean buffered, Cursor from, boolean forward) {
    return new SqlBuilder()
        .add("SELECT 1 FROM kagzi.run_signals g WHERE g.run_id = ?", run.value())
        .add(NO_ANSWERS)
        .add(onlyBuffered(buffered))
        .add(beyond(from, forward))
        .add(" ORDER BY g.signal_no LIMIT 1");
  }

  static SqlBuilder all(RunId run, boolean buffered) {
    return new SqlBuilder()
        .add("SELECT count(*) AS rows FROM kagzi.run_signals g WHERE g.run_id = ?", run.value())
        .add(NO_ANSWERS)
        .add(onlyBuffered(buffered));
  }

  /** Returns the answers of the callbacks that these steps made, by the keys of the steps. */
  Map<String, CallbackView> answers(RunId run, Collection<String> stepKeys, int bytesMax)
      throws SQLException {
    Map<String, CallbackView> found = new HashMap<>();
    answersSql(run, stepKeys, bytesMax)
        .on(session)
        .list(
            row -> {
              Payload payload = row.payloadOrNull("data", "metadata");
              return found.put(
                  row.text("signal_id").substring(CallbackAnswer.PREFIX.length()),
                  new CallbackView(
                      "FAILED".equals(row.text("answer")),
                      row.time("sent_at"),
                      payload == null ? Payload.EMPTY : payload));
            });
    return found;
  }

  static SqlBuilder answersSql(RunId run, Collection<String> stepKeys, int bytesMax) {
    return new SqlBuilder()
        .add(
            """
            SELECT g.signal_id, g.answer, g.sent_at, g.metadata,
                   CASE WHEN octet_length(g.data) > ? THEN '' ELSE g.data END AS data
              FROM kagzi.run_signals g
             WHERE g.run_id = ? AND g.signal_id = ANY (?::text[]) AND g.answer IS NOT NULL
            """,
            bytesMax,
            run.value(),
            stepKeys.stream().map(CallbackAnswer::signalName).toList());
  }

  private static SqlBuilder onlyBuffered(boolean buffered) {
    return buffered ? new SqlBuilder().add(" AND g.step_id IS NULL") : new SqlBuilder();
  }

  private static SqlBuilder beyond(@Nullable Cursor from, boolean forward) {
    return from == null
        ? new SqlBuilder()
        : new SqlBuilder().add(" AND g.signal_no " + (forward ? ">" : "<") + " ?", from.number(0));
  }

  private static Pager.Found<SignalView> found(Row row) throws SQLException {
    Payload payload = row.payloadOrNull("data", "metadata");
    SignalView view =
        new SignalView(
            row.integer("signal_no"),
            row.text("signal_id"),
            row.text("name"),
            payload == null ? Payload.EMPTY : payload,
            row.time("sent_at"),
            row.timeOrNull("received_at"),
            row.textOrNull("step_id"));
    return new Pager.Found<>(view, Cursor.of(Integer.toString(view.number())), row.bool("fits"));
  }
}
