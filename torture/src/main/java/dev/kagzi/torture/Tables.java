package dev.kagzi.torture;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.postgresql.PGConnection;

/** Reads the engine's tables with JDBC, without the engine. */
final class Tables {
  private static final String RUNS_SQL =
      """
      SELECT r.run_id, r.workflow_type, r.status, r.epoch, r.ended_epoch, r.attempts,
             coalesce(CASE WHEN r.origin = 'FAILURE_HANDLER'
                           THEN (e.event ->> 'failed_run_id') || '#' || (e.event ->> 'attempts')
                           ELSE convert_from(i.data, 'UTF8') END, '') AS input,
             coalesce(convert_from(o.data, 'UTF8'), '') AS output,
             coalesce(r.error ->> 'message', '') AS error,
             coalesce(r.on_failure_workflow, '') AS handler,
             coalesce(r.failed_run_id::text, '') AS failed_run_id,
             r.origin = 'FAILURE_HANDLER' AS is_handler,
             coalesce(r.continued_to::text, '') AS continued_to,
             coalesce(r.continued_from::text, '') AS continued_from,
             coalesce(r.first_run_id::text, '') AS first_run_id,
             r.version, coalesce(r.parent_run_id::text, '') AS parent_run_id,
             coalesce(r.parent_step_id, '') AS parent_step_id, coalesce(r.detached, false) AS detached,
             (extract(epoch FROM r.created_at) * 1000000)::bigint AS created_us,
             coalesce((extract(epoch FROM r.deadline_at) * 1000000)::bigint, 0) AS deadline_us,
             coalesce((extract(epoch FROM r.finished_at) * 1000000)::bigint, 0) AS finished_us
        FROM kagzi.workflow_runs r
        LEFT JOIN kagzi.workflow_payloads i ON i.run_id = r.run_id AND i.kind = 'INPUT'
        LEFT JOIN kagzi.workflow_payloads o ON o.run_id = r.run_id AND o.kind = 'OUTPUT'
       CROSS JOIN LATERAL (
             SELECT CASE WHEN r.origin = 'FAILURE_HANDLER'
                         THEN convert_from(i.data, 'UTF8')::jsonb END AS event) AS e
       WHERE r.schedule_id IS NULL AND r.cron_expr IS NULL
      """;

  // A sleep of the main code is over when its wake time has passed; its end need not be recorded.
  // In a scope, such as a branch or an undo, a sleep is over only when its worker has recorded
  // that.
  private static final String STEPS_SQL =
      """
      SELECT s.run_id, s.step_id, s.attempt, s.epoch, s.run_attempt, s.kind, o.status, s.final,
             s.kind = 'SLEEP' AND o.status = 'COMPLETED' AND o.finished_at = s.due_at AS ends_by_time,
             CASE WHEN s.error #>> '{metadata,cancel_requested}' IS NOT NULL THEN 'CANCELLED'
                  WHEN s.error ->> 'code' = 'PRECONDITION_FAILED' THEN 'RUN_ENDED'
                  WHEN s.error #>> '{metadata,kind}' = 'TIMEOUT' THEN 'TIMEOUT'
                  WHEN s.error ->> 'message' LIKE 'interrupted: %' THEN 'INTERRUPTED'
                  ELSE 'CODE' END AS cause,
             coalesce(convert_from(s.output, 'UTF8'), s.error ->> 'message', '') AS value,
             (extract(epoch FROM s.created_at) * 1000000)::bigint AS created_us,
             coalesce((extract(epoch FROM o.finished_at) * 1000000)::bigint, 0) AS finished_us,
             coalesce(s.child_run_id::text, '') AS child_run_id
        FROM kagzi.step_runs s
       CROSS JOIN LATERAL (
             SELECT s.kind = 'SLEEP' AND s.status = 'RUNNING' AND s.due_at <= kagzi.clock()
                      AND strpos(s.step_id, ']/') = 0 AS is_over) AS e
       CROSS JOIN LATERAL (
             SELECT CASE WHEN e.is_over THEN 'COMPLETED' ELSE s.status END AS status,
                    CASE WHEN e.is_over THEN s.due_at ELSE s.finished_at END AS finished_at) AS o
       ORDER BY s.run_id, s.step_id, s.attempt
      """;

  private static final String SIGNALS_SQL =
      """
      SELECT run_id, signal_no, signal_id, coalesce(step_id, '') AS step_id,
             CASE WHEN answer IS NOT NULL THEN convert_from(data, 'UTF8') ELSE '' END AS answer
        FROM kagzi.run_signals
       ORDER BY run_id, signal_no
      """;

  private static final String PUBLISHED_SQL =
      """
      SELECT run_id, convert_from(data, 'UTF8') AS value
        FROM kagzi.published_values
       WHERE data IS NOT NULL
      """;

  private static final String UNFINISHED_SQL =
      """
      SELECT count(*)
        FROM kagzi.workflow_runs
       WHERE status NOT IN ('COMPLETED', 'FAILED', 'CANCELLED', 'TIMED_OUT')
         AND cron_expr IS NULL
      """;

  private static final List<String> DUMPED =
      List.of(
          "workflow_runs",
          "workflow_payloads",
          "step_runs",
          "run_messages",
          "run_signals",
          "published_values",
          "workers",
          "worker_events",
          "servers");

  private Tables() {}

  static List<RunRecord> runs(Connection connection) throws SQLException {
    List<RunRecord> runs = new ArrayList<>();
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(RUNS_SQL)) {
      while (row.next()) {
        runs.add(
            new RunRecord(
                row.getString("run_id"),
                row.getString("workflow_type"),
                row.getString("status"),
                row.getInt("epoch"),
                row.getInt("ended_epoch"),
                row.getInt("attempts"),
                unquoted(row.getString("input")),
                unquoted(row.getString("output")),
                row.getString("error"),
                new RunRecord.Handling(
                    row.getString("handler"),
                    row.getString("failed_run_id"),
                    row.getBoolean("is_handler")),
                new RunRecord.Times(
                    row.getLong("created_us"),
                    row.getLong("deadline_us"),
                    row.getLong("finished_us")),
                row.getString("version"),
                new RunRecord.Family(
                    row.getString("parent_run_id"),
                    row.getString("parent_step_id"),
                    row.getBoolean("detached")),
                new RunRecord.Chain(
                    row.getString("continued_to"),
                    row.getString("continued_from"),
                    row.getString("first_run_id"))));
      }
    }
    return runs;
  }

  static List<StepRecord> steps(Connection connection) throws SQLException {
    List<StepRecord> steps = new ArrayList<>();
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(STEPS_SQL)) {
      while (row.next()) {
        steps.add(
            new StepRecord(
                row.getString("run_id"),
                row.getString("step_id"),
                row.getInt("attempt"),
                row.getInt("epoch"),
                row.getInt("run_attempt"),
                !Set.of("FUNCTION", "CHILD_WORKFLOW").contains(row.getString("kind")),
                row.getBoolean("ends_by_time"),
                StepRecord.Status.valueOf(row.getString("status")),
                row.getBoolean("final"),
                StepRecord.Cause.valueOf(row.getString("cause")),
                unquoted(row.getString("value")),
                row.getLong("created_us"),
                row.getLong("finished_us"),
                row.getString("child_run_id")));
      }
    }
    return steps;
  }

  static List<SignalRecord> signals(Connection connection) throws SQLException {
    List<SignalRecord> signals = new ArrayList<>();
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(SIGNALS_SQL)) {
      while (row.next()) {
        signals.add(
            new SignalRecord(
                row.getString("run_id"),
                row.getInt("signal_no"),
                row.getString("signal_id"),
                row.getString("step_id"),
                unquoted(row.getString("answer"))));
      }
    }
    return signals;
  }

  /** The published value of each run; the scenarios publish one name. */
  static Map<String, String> published(Connection connection) throws SQLException {
    Map<String, String> values = new HashMap<>();
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(PUBLISHED_SQL)) {
      while (row.next()) {
        values.put(row.getString("run_id"), unquoted(row.getString("value")));
      }
    }
    return values;
  }

  static int unfinished(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(UNFINISHED_SQL)) {
      row.next();
      return row.getInt(1);
    }
  }

  // Values are JSON strings, and the scenarios write nothing that must be escaped.
  private static String unquoted(String json) {
    boolean quoted = json.length() >= 2 && json.startsWith("\"") && json.endsWith("\"");
    return quoted ? json.substring(1, json.length() - 1) : json;
  }

  /** Writes every table to its own file, for people to inspect. */
  static void dump(Connection connection, Path folder) throws SQLException {
    PGConnection postgres = connection.unwrap(PGConnection.class);
    for (String table : DUMPED) {
      try (Writer file = Files.newBufferedWriter(folder.resolve(table + ".csv"))) {
        postgres
            .getCopyAPI()
            .copyOut("COPY kagzi." + table + " TO STDOUT WITH (FORMAT csv, HEADER)", file);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
