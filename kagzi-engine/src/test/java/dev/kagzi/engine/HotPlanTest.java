package dev.kagzi.engine;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kagzi.engine.internal.db.Session;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The plans of hot statements in writers' sessions, for any table content and statistics. A plan
 * for an empty table must not be kept while the table grows.
 */
class HotPlanTest {
  private static final Set<String> PACKAGES =
      Set.of("run", "step", "transition", "dispatch", "message", "signal", "published", "worker");
  private static final Pattern SCAN =
      Pattern.compile("\\w+ Scan(?: Backward)?(?: using (\\w+))? on (\\w+)");

  private static final Pattern PARAMETER = Pattern.compile("\\?(?:::(\\w+(?:\\[\\])?))?");

  /** Tables whose rows are read by key; a table of a few live rows may be scanned. */
  private static final Set<String> LARGE =
      Set.of(
          "workflow_runs",
          "workflow_payloads",
          "step_runs",
          "run_messages",
          "run_signals",
          "published_values",
          "workers");

  @RegisterExtension static final TestDatabase database = new TestDatabase();

  /**
   * A hot statement.
   *
   * @param types types of the parameters that the statement does not cast, in order
   * @param indexes the indexes that its plan uses, and no others
   */
  private record Hot(String name, String sql, String types, Set<String> indexes) {}

  private static final String PKEY = "workflow_runs_pkey";
  private static final String CLAIM = "workflow_runs_claim";
  private static final String PAYLOADS = "workflow_payloads_pkey";
  private static final String STEPS = "step_runs_pkey";
  private static final String MESSAGES = "run_messages_pkey";
  private static final String SIGNALS = "run_signals_pkey";
  private static final String PUBLISHED = "published_values_pkey";
  private static final String WORKERS = "workers_pkey";
  private static final String CHAIN = "workflow_runs_chain";

  private static final Map<String, String> STATEMENTS = statements();

  private static final List<Hot> HOT =
      List.of(
          hot("InsertRuns.SQL", ""),
          hot("InsertRuns.ALONE_SQL", ""),
          hot("InsertRuns.CONFLICTS_SQL", "", PKEY, "workflow_runs_external_id"),
          hot("InsertRuns.OPTIONS_SQL", ""),
          hot("InsertRuns.ENDED_SQL", "", "workflow_runs_external_id"),
          hot("InsertRuns.DELETE_SQL", "", PKEY),
          hot("ResumeContext.SQL", "", PKEY, STEPS, "workflow_runs_external_id"),
          hot("UpdateRuns.RENEW_DEADLINES_SQL", "", PKEY),
          hot("UpdateRuns.REQUEST_CANCEL_SQL", "", PKEY),
          hot("OverdueRuns.SQL", "int", "workflow_runs_deadline"),
          hot("OverdueSteps.SQL", "bigint, int", "step_runs_timeout"),
          hot("PreviousRun.SQL", "uuid, text", PKEY, PAYLOADS, CHAIN),
          hot("FailureContext.SQL", "text, bigint, int", PKEY, PAYLOADS, STEPS, "workers_queue"),
          hot("InsertPayloads.SQL", ""),
          hot("LockRuns.SQL", "", PKEY),
          hot("UpdateRuns.SQL", "", PKEY),
          hot("RunCompletions.SQL", "", PKEY, PAYLOADS, CHAIN),
          hot("WriteSteps.PLAIN_SQL", ""),
          hot("WriteSteps.SQL", ""),
          hot("ReadSteps.BY_KEY_SQL", "", STEPS),
          hot("ReadSteps.AWAITED_SQL", "", STEPS),
          hot("ReadSteps.HISTORY_SQL", "", STEPS),
          hot("ReadSteps.PAGE_SQL", "uuid, text, int, bigint", STEPS),
          hot("ReadSteps.SIZES_SQL", "", STEPS),
          hot("ClaimedHistories.SHORT_SQL", "", STEPS),
          hot("CloseSteps.END_OPEN_SQL", "", STEPS),
          hot("CloseSteps.REOPEN_WAITS_SQL", "", STEPS),
          hot("CloseSteps.DELETE_NEVER_BEGUN_SQL", "", STEPS),
          hot("CloseSteps.DELETE_RECEIVES_SQL", "", STEPS),
          hot("CaughtFailures.CARRY_OVER_SQL", "", STEPS),
          hot("RecordStep.SQL", "uuid, text, int, text, int, bytea, bigint", PKEY),
          hot("RecordStep.OPEN_SQL", "uuid, text, int, bytea, text, int, int", PKEY, STEPS),
          hot("StoredEnd.SQL", "", PKEY, PAYLOADS),
          hot("FinishRun.SQL", "uuid, text, int", PKEY),
          hot("FinishRun.WITHOUT_STEP_SQL", "uuid, text, int", PKEY),
          hot("ClaimRuns.SQL", "text, text, int", CLAIM, PKEY, PAYLOADS),
          hot("ClaimRuns.DELAY_SQL", "", PKEY),
          hot("ClaimRuns.NEXT_DUE_SQL", "", CLAIM),
          hot("ClaimRuns.VERSIONS_SQL", "text, text, text, text", CLAIM),
          hot("HeldRuns.SQL", "text, text, bigint, uuid, uuid", CLAIM, "workflow_runs_own_lease"),
          hot(
              "HeldRuns.LAPSED_SQL",
              "text, text, int, uuid, uuid",
              CLAIM,
              "workflow_runs_own_lease"),
          hot("HeldRuns.ORPHANED_SQL", "int, bigint", WORKERS, "workflow_runs_own_lease"),
          hot("HeldRuns.UNACKNOWLEDGED_SQL", "", PKEY, STEPS),
          hot("UpdateRuns.ACKNOWLEDGE_SQL", "", PKEY),
          hot("Tasks.CLAIM_SQL", "uuid, text, int", PKEY),
          hot("Messages.POST_SQL", ""),
          hot("Messages.TAKE_SQL", "", MESSAGES),
          hot("Messages.OPEN_CHILDREN_SQL", "", "workflow_runs_parent"),
          hot("Messages.OF_ENDED_CHILDREN_SQL", "", "workflow_runs_parent", STEPS, PAYLOADS),
          hot("InsertRuns.PARENTS_SQL", "", PKEY),
          hot("CloseSteps.REOPEN_CHILDREN_SQL", "", STEPS, PKEY, CHAIN),
          hot("ContinueRuns.SQL", "", PKEY),
          hot("ContinueRuns.OPEN_STEPS_SQL", "int", "workflow_runs_parent", STEPS),
          hot("ContinueRuns.LAST_SQL", "", CHAIN),
          hot("MoveSignals.SQL", "", "run_signals_buffered"),
          hot("SignalRows.STATE_SQL", "", SIGNALS, "run_signals_buffered", WORKERS),
          hot("SignalRows.KNOWN_SQL", "", "run_signals_id", "run_signals_chain"),
          hot("SignalRows.OLDEST_SQL", "", "run_signals_buffered"),
          hot("SignalRows.RECEIVED_SQL", "", SIGNALS, STEPS),
          hot("SignalRows.GIVE_BACK_SQL", "", SIGNALS, STEPS),
          hot("SignalRows.INSERT_SQL", ""),
          hot("SignalRows.UPDATE_SQL", "", SIGNALS),
          hot("SignalRows.ACCEPTED_SQL", "", "run_signals_external_id", PKEY),
          hot("PublishedRows.READ_SQL", "", PUBLISHED),
          hot("PublishedRows.WRITE_SQL", ""),
          hot("PublishedWatches.SQL", "", PKEY, PUBLISHED),
          hot("StartRequestRows.NAMESPACES_SQL", "text, int"),
          hot("StartRequestRows.LOCK_SQL", "text, int"),
          hot("StartRequestRows.READ_SQL", "int"),
          hot("StartRequestRows.DELETE_SQL", ""),
          hot("StartRequestRows.REFUSE_SQL", ""),
          hot("StartRequestRows.POSTPONE_SQL", ""),
          hot("SignalRequestRows.NAMESPACES_SQL", "text, int"),
          hot("SignalRequestRows.FIRST_SQL", "text, uuid, text, int"),
          hot("SignalRequestRows.LOCK_SQL", "int"),
          hot("SignalRequestRows.READ_SQL", "int"),
          hot("SignalRequestRows.DELETE_SQL", ""),
          hot("SignalRequestRows.REFUSE_SQL", ""),
          hot("SignalRequestRows.POSTPONE_SQL", ""),
          hot("Messages.OLD_SQL", "bigint, int", "run_messages_age"),
          hot("HeartbeatWriter.BEAT_SQL", "", WORKERS),
          hot("HeartbeatWriter.LOCKED_SQL", "", WORKERS),
          hot("HeartbeatWriter.LOOK_SQL", "", PKEY),
          hot("HeartbeatWriter.RENEW_SQL", "bigint", PKEY),
          hot("WorkerRows.FIND_SQL", "uuid", WORKERS));

  /** Executed once per worker, or rarely. */
  private static final Set<String> COLD =
      Set.of(
          "HeartbeatWriter.ASYNC_COMMIT_SQL",
          "WorkerRows.REPLACE_SQL",
          "WorkerRows.INSERT_SQL",
          "WorkerRows.DRAIN_SQL",
          "WorkerRows.OFFLINE_SQL",
          "WorkerRows.STALE_SQL",
          "WorkerRows.ATTACH_SQL",
          "WorkerRows.DETACHED_SQL",
          "WorkerRows.EVENT_SQL",
          "RevokeClaims.SQL",
          "DefaultVersions.READ_SQL",
          "DefaultVersions.FORMER_SQL",
          "DefaultVersions.SET_SQL",
          "RunCounts.FOLD_SQL",
          "RunCounts.DELETE_ZEROS_SQL",
          "RunCounts.DELETE_RATES_SQL",
          "ExpiredRuns.SCAN_SQL",
          "ExpiredRuns.DELETION_LOCK_SQL",
          "ExpiredRuns.LOCK_SQL",
          "ExpiredRuns.STORED_ROWS_SQL",
          "ExpiredRuns.DELETE_PAYLOADS_SQL",
          "DeleteSteps.STORED_ROWS_SQL",
          "DeleteSteps.DELETE_SQL",
          "DeleteSteps.DELETE_SOME_SQL",
          "Messages.DELETE_SQL",
          "PublishedRows.DELETE_SQL",
          "PublishedRows.STORED_ROWS_SQL",
          "SignalRows.DELETE_SQL",
          "SignalRows.DELETE_SOME_SQL",
          "SignalRows.STORED_ROWS_SQL",
          "WorkerRows.MARK_SIMPLE_SQL",
          "SignalRequestRows.PURGE_SQL",
          "StartRequestRows.PURGE_SQL",
          "WorkerRows.PURGE_SQL");

  @Test
  void every_statement_is_known_to_be_hot_or_cold() {
    Set<String> known = new TreeSet<>(COLD);
    HOT.forEach(hot -> known.add(hot.name));

    assertThat(STATEMENTS.keySet()).isEqualTo(known);
  }

  /** With few rows any plan is fine for these; a test below checks that the plan is not kept. */
  private static final Set<String> VARY =
      Set.of(
          "InsertRuns.CONFLICTS_SQL",
          "InsertRuns.ENDED_SQL",
          "ResumeContext.SQL",
          "CaughtFailures.CARRY_OVER_SQL",
          "FailureContext.SQL",
          "HeldRuns.SQL",
          "HeldRuns.LAPSED_SQL",
          "HeldRuns.ORPHANED_SQL",
          "CloseSteps.END_OPEN_SQL",
          "CloseSteps.REOPEN_WAITS_SQL",
          "CloseSteps.REOPEN_CHILDREN_SQL",
          "CloseSteps.DELETE_NEVER_BEGUN_SQL",
          "CloseSteps.DELETE_RECEIVES_SQL",
          "SignalRows.UPDATE_SQL",
          "SignalRows.RECEIVED_SQL",
          "SignalRows.GIVE_BACK_SQL",
          "MoveSignals.SQL",
          "HeartbeatWriter.BEAT_SQL");

  @BeforeEach
  void empty() {
    database.forgetRuns();
  }

  /**
   * A function that is not inlined hides its value from the planner, and is called for every row.
   */
  @Test
  void the_clock_is_inlined() {
    List<String> plan =
        database.run(
            session ->
                session
                    .query("EXPLAIN (VERBOSE) SELECT kagzi.clock()")
                    .list(row -> row.text("QUERY PLAN")));

    assertThat(plan).contains("  Output: now()");
  }

  @Test
  void statements_use_the_same_indexes_on_empty_small_and_large_tables() throws SQLException {
    List<Hot> certain = HOT.stream().filter(hot -> !VARY.contains(hot.name)).toList();

    assertPlans("empty tables", certain);
    fill(1, 100);
    assertPlans("small tables", certain);
    database.execute("ANALYZE");
    assertPlans("small tables that were analyzed", certain);
    fillMuch();
    assertPlans("large tables that were small when they were analyzed", HOT);
    database.execute("ANALYZE");
    assertPlans("large tables", HOT);
  }

  @Test
  void a_plan_that_was_made_on_an_empty_table_is_not_kept_while_it_grows() throws SQLException {
    // The planner can know that a table is empty; then all plans have equal costs.
    database.execute("ANALYZE");
    try (Session session = database.open().open("lane")) {
      for (int i = 0; i < HOT.size(); i++) {
        prepare(session, "hot_" + i, HOT.get(i));
        explain(session, "hot_" + i, HOT.get(i));
      }
      fillMuch();

      await()
          .atMost(Duration.ofSeconds(20))
          .untilAsserted(
              () -> {
                List<String> wrong = new ArrayList<>();
                for (int i = 0; i < HOT.size(); i++) {
                  Hot hot = HOT.get(i);
                  check("tables that have grown", hot, explain(session, "hot_" + i, hot), wrong);
                }
                assertThat(wrong).isEmpty();
              });
    }
  }

  private static void assertPlans(String when, List<Hot> statements) throws SQLException {
    List<String> wrong = new ArrayList<>();
    try (Session session = database.open().open("lane")) {
      for (Hot hot : statements) {
        prepare(session, "hot", hot);
        check(when, hot, explain(session, "hot", hot), wrong);
        session.query("DEALLOCATE hot").execute();
      }
    }
    assertThat(wrong).isEmpty();
  }

  private static void check(String when, Hot hot, List<String> plan, List<String> wrong) {
    String text = "%s on %s:\n%s".formatted(hot.name, when, String.join("\n", plan));
    Set<String> indexes = new TreeSet<>();
    for (int i = 0; i < plan.size(); i++) {
      Matcher scan = SCAN.matcher(plan.get(i));
      if (scan.find() && LARGE.contains(scan.group(2))) {
        indexes.add(String.valueOf(scan.group(1)));
        // A scan of a whole index is no better than a scan of the table.
        String below = i + 1 < plan.size() ? plan.get(i + 1) : "";
        if (!below.contains("Index Cond:")) {
          wrong.add("no index condition in " + text);
        }
      }
    }
    if (!indexes.equals(hot.indexes)) {
      wrong.add("indexes: %s (expected: %s) in %s".formatted(indexes, hot.indexes, text));
    }
  }

  /** As the driver does: prepared once, with a generic plan. */
  private static void prepare(Session session, String name, Hot hot) throws SQLException {
    List<String> types = types(hot);
    StringBuilder sql = new StringBuilder();
    Matcher parameter = PARAMETER.matcher(hot.sql);
    for (int i = 1; parameter.find(); i++) {
      parameter.appendReplacement(sql, "\\$" + i);
    }
    parameter.appendTail(sql);
    session.query("PREPARE %s (%s) AS %s".formatted(name, String.join(", ", types), sql)).execute();
  }

  private static List<String> explain(Session session, String name, Hot hot) throws SQLException {
    String nulls = String.join(", ", types(hot).stream().map(type -> "NULL").toList());
    return session
        .query("EXPLAIN EXECUTE %s (%s)".formatted(name, nulls))
        .list(row -> row.text("QUERY PLAN"));
  }

  private static List<String> types(Hot hot) {
    List<String> uncast = new ArrayList<>(List.of(hot.types.split(", ")));
    List<String> types = new ArrayList<>();
    Matcher parameter = PARAMETER.matcher(hot.sql);
    while (parameter.find()) {
      types.add(parameter.group(1) == null ? uncast.remove(0) : parameter.group(1));
    }
    return types;
  }

  private static final List<String> ROWS =
      List.of(
          """
          INSERT INTO kagzi.workflow_runs
                 (run_id, namespace, external_id, ended, task_queue, workflow_type, status,
                  available_at, created_at, finished_at)
          SELECT id, 'default', CASE WHEN i %% 10 = 7 THEN 'order-' || i END,
                 CASE WHEN i %% 10 = 1 THEN '00000000-0000-0000-0000-000000000000' ELSE id END,
                 'q' || i %% 5, 't' || i %% 20,
                 CASE WHEN i %% 10 = 1 THEN 'PENDING' ELSE 'COMPLETED' END,
                 CASE WHEN i %% 10 = 1 THEN now() END, now(), CASE WHEN i %% 10 <> 1 THEN now() END
            FROM (SELECT i, md5(i::text)::uuid AS id FROM generate_series(%1$d, %2$d) i) g
          """,
          """
          INSERT INTO kagzi.workflow_payloads (run_id, kind, data, created_at)
          SELECT md5(i::text)::uuid, kind, '\\x0102', now()
            FROM generate_series(%1$d, %2$d) i, unnest(ARRAY['INPUT', 'OUTPUT']) kind
          """,
          """
          INSERT INTO kagzi.step_runs
                 (run_id, step_id, attempt, epoch, run_attempt, kind, status, output, created_at)
          SELECT md5((i / 10)::text)::uuid, 'step#' || i, 1, 1, 1, 'FUNCTION', 'COMPLETED',
                 '\\x01', now()
            FROM generate_series(%1$d, %2$d) i
          """,
          """
          INSERT INTO kagzi.run_messages (to_run, step_id, what, created_at)
          SELECT md5(i::text)::uuid, 'child', 'COMPLETED', now()
            FROM generate_series(%1$d, %2$d) i
          """,
          """
          INSERT INTO kagzi.run_signals
                 (run_id, signal_no, signal_id, name, data, step_id, namespace, external_id, sent_at)
          SELECT md5((i / 5)::text)::uuid, i %% 5, 's' || i, 'approval', '\\x01',
                 CASE WHEN i %% 5 < 4 THEN 'step#' || i END,
                 CASE WHEN i %% 10 = 0 THEN 'default' END, CASE WHEN i %% 10 = 0 THEN 'o' || i END,
                 now()
            FROM generate_series(%1$d, %2$d) i
          """,
          """
          INSERT INTO kagzi.published_values
                 (run_id, name, scope, run_attempt, sequence, version, data, published_at)
          SELECT md5((i / 5)::text)::uuid, 'progress' || i %% 5, '', 1, 1, i, '\\x01', now()
            FROM generate_series(%1$d, %2$d) i
          """,
          """
          INSERT INTO kagzi.workers
                 (worker_id, namespace, task_queue, workflow_types, served_versions, status,
                  registered_at, last_heartbeat_at)
          SELECT gen_random_uuid(), 'default', 'q' || i %% 5, '{a}', '{""}',
                 CASE WHEN i %% 10 = 0 THEN 'ONLINE' ELSE 'OFFLINE' END, now(), now()
            FROM generate_series(%1$d, %2$d) i
          """);

  private static void fillMuch() {
    for (int from = 101; from < 30_000; from += 5_000) {
      fill(from, from + 4_999);
    }
  }

  private static void fill(int from, int to) {
    ROWS.forEach(sql -> database.execute(sql.formatted(from, to)));
  }

  private static Hot hot(String name, String types, String... indexes) {
    return new Hot(
        name, requireNonNull(STATEMENTS.get(name), name), types, new TreeSet<>(List.of(indexes)));
  }

  /** All SQL constants in the packages whose statements run for every run. */
  private static Map<String, String> statements() {
    Map<String, String> statements = new TreeMap<>();
    SqlConstants.all()
        .forEach(
            (name, sql) -> {
              String[] parts = name.split("\\.", 2);
              if (PACKAGES.contains(parts[0]) && name.endsWith("SQL")) {
                statements.put(parts[1], sql);
              }
            });
    return statements;
  }
}
