package dev.kagzi.engine.query;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.engine.TestDatabase;
import dev.kagzi.engine.internal.page.Cursor;
import dev.kagzi.engine.page.PageSpec;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.StepRef;
import dev.kagzi.engine.value.WorkerId;
import dev.kagzi.engine.value.WorkerStatus;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.assertj.core.api.AbstractStringAssert;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The index that each query uses on large tables. */
class PlanTest {
  private static final RunId LONG_RUN = new RunId(new UUID(0, 1));
  private static final RunId SCHEDULE = new RunId(new UUID(0, 2));
  private static final Cursor RUN_CURSOR =
      Cursor.of(Cursor.micros(Instant.parse("2026-01-10T00:00:00Z")), UUID.randomUUID().toString());

  @RegisterExtension static final TestDatabase database = new TestDatabase();

  // Of a hundred runs one failed, one is pending and the rest completed; one external id has many
  // runs. Of a hundred pending runs ten are blocked.
  private static final String RUNS =
      """
      INSERT INTO kagzi.workflow_runs
             (run_id, namespace, external_id, ended, task_queue, workflow_type, status,
              available_at, blocked_by, created_at, finished_at)
      SELECT id, CASE WHEN i %% 3 = 0 THEN 'small' ELSE 'big' END,
             CASE WHEN i %% 1000 = 7 THEN 'nightly' WHEN i %% 10 = 7 THEN 'order-' || i END, id,
             'q' || i %% 5, 't' || i %% 20,
             CASE WHEN i %% 100 = 0 THEN 'FAILED' WHEN i %% 100 = 1 THEN 'PENDING'
                  ELSE 'COMPLETED' END,
             CASE WHEN i %% 100 = 1 THEN now() END,
             CASE WHEN i %% 1000 = 1 THEN '{"message": "no such type"}'::jsonb END,
             timestamptz '2026-01-01' + i * interval '10 s',
             CASE WHEN i %% 100 <> 1 THEN timestamptz '2026-01-01' + i * interval '11 s' END
        FROM (SELECT i, md5(i::text)::uuid AS id FROM generate_series(%d, %d) i) g
      """;

  private static final String PAYLOADS =
      """
      INSERT INTO kagzi.workflow_payloads (run_id, kind, data, created_at)
      SELECT md5(i::text)::uuid, kind, '\\x0102', now()
        FROM generate_series(%d, %d) i, unnest(ARRAY['INPUT', 'OUTPUT']) kind
      """;

  private static final String STEPS =
      """
      INSERT INTO kagzi.step_runs
             (run_id, step_id, attempt, epoch, run_attempt, kind, status, output, created_at)
      SELECT CASE WHEN i < 2000 THEN '00000000-0000-0000-0000-000000000001'::uuid
                  ELSE md5((i / 10)::text)::uuid END,
             'step#' || i, 1, 1, 1, 'FUNCTION', 'COMPLETED', '\\x01', now()
        FROM generate_series(%d, %d) i
      """;

  // Of ten workers one is online; of a thousand one died, the others deregistered.
  private static final String WORKERS =
      """
      INSERT INTO kagzi.workers
             (worker_id, namespace, task_queue, workflow_types, served_versions, status, died,
              registered_at, last_heartbeat_at)
      SELECT gen_random_uuid(), CASE WHEN i %% 3 = 0 THEN 'small' ELSE 'big' END, 'q' || i %% 5,
             '{a}', '{""}', CASE WHEN i %% 10 = 0 THEN 'ONLINE' ELSE 'OFFLINE' END,
             CASE WHEN i %% 1000 = 3 THEN true WHEN i %% 10 <> 0 THEN false END, now(), now()
        FROM generate_series(%d, %d) i
      """;

  // One schedule with 10,000 runs, of which ten are open.
  private static final String FIRES =
      """
      INSERT INTO kagzi.workflow_runs
             (run_id, namespace, ended, task_queue, workflow_type, status, available_at, created_at,
              finished_at, schedule_id, fire_at)
      SELECT id, 'scheduled', id, 'q1', 't1',
             CASE WHEN i %% 10000 = 0 THEN 'PENDING' ELSE 'COMPLETED' END,
             CASE WHEN i %% 10000 = 0 THEN now() END, now(),
             CASE WHEN i %% 10000 <> 0 THEN now() END,
             '00000000-0000-0000-0000-000000000002', timestamptz '2026-01-01' + i * interval '10 s'
        FROM (SELECT i, md5('fire' || i)::uuid AS id FROM generate_series(%d, %d) i) g
       WHERE i %% 10 = 0
      """;

  private static final String MESSAGES =
      """
      INSERT INTO kagzi.run_messages (to_run, step_id, what, created_at)
      SELECT md5(i::text)::uuid, 'child', 'COMPLETED', now()
        FROM generate_series(%d, %d) i
      """;

  // One run has a thousand signals; of five signals of the others one is buffered.
  private static final String SIGNALS =
      """
      INSERT INTO kagzi.run_signals (run_id, signal_no, signal_id, name, data, step_id, sent_at)
      SELECT CASE WHEN i < 1000 THEN '00000000-0000-0000-0000-000000000001'::uuid
                  ELSE md5((i / 5)::text)::uuid END,
             i, 's' || i, 'approval', '\\x01', CASE WHEN i %% 5 < 4 THEN 'step#' || i END, now()
        FROM generate_series(%d, %d) i
      """;

  private static final String PUBLISHED =
      """
      INSERT INTO kagzi.published_values
             (run_id, name, scope, run_attempt, sequence, version, data, published_at)
      SELECT md5((i / 5)::text)::uuid, 'progress', i::text, 1, 1, i, '\\x01', now()
        FROM generate_series(%d, %d) i
      """;

  @BeforeAll
  static void fill() {
    // In several statements: a writer's connection has a statement timeout.
    for (String sql :
        List.of(RUNS, PAYLOADS, STEPS, WORKERS, FIRES, MESSAGES, SIGNALS, PUBLISHED)) {
      for (int from = 1; from < 100_000; from += 10_000) {
        database.execute(sql.formatted(from, from + 9_999));
      }
    }
    database.execute("ANALYZE");
  }

  @Test
  void one_run_is_found_by_its_id() {
    assertPlan(RunQueries.byId("big", RunId.next(), PageByteLimits.SINGLE))
        .contains("workflow_runs_pkey", "workflow_payloads_pkey");
  }

  @Test
  void runs_are_read_by_time_in_both_directions() {
    for (String namespace : List.of("big", "small", "nobody")) {
      RunFilter all = RunFilter.all(namespace);
      assertList(all, null, true, "workflow_runs_list");
      assertList(all, RUN_CURSOR, true, "workflow_runs_list");
      assertList(all, RUN_CURSOR, false, "workflow_runs_list");
      assertPlan(RunQueries.any(RunSource.byTime(all), RUN_CURSOR, false))
          .contains("workflow_runs_list");
    }
  }

  @Test
  void a_cursor_is_where_the_index_is_entered() {
    String plan = plan(list(RunFilter.all("big"), RUN_CURSOR, true));

    assertThat(plan).containsPattern("Index Cond:.*ROW\\(created_at, run_id\\) < ROW");
  }

  @Test
  void filters_that_match_many_runs_are_read_by_time() {
    RunFilter typed =
        new RunFilter(
            "big", Set.of(), "t1", "q1", null, null, null, null, null, null, false, false);
    RunFilter dated =
        new RunFilter(
            "big",
            Set.of(),
            null,
            null,
            Instant.parse("2026-01-02T00:00:00Z"),
            Instant.parse("2026-01-03T00:00:00Z"),
            null,
            null,
            null,
            null,
            false,
            false);

    assertList(typed, null, true, "workflow_runs_list");
    assertList(dated, null, true, "workflow_runs_list");
  }

  @Test
  void unsuccessful_runs_are_found_by_their_own_index_each_status_separately() {
    RunFilter failed = inStatus(RunStatus.FAILED);
    RunFilter unsuccessful = inStatus(RunStatus.FAILED, RunStatus.CANCELLED, RunStatus.TIMED_OUT);

    for (RunFilter filter : List.of(failed, unsuccessful)) {
      assertList(filter, null, true, "workflow_runs_unsuccessful");
      assertList(filter, RUN_CURSOR, true, "workflow_runs_unsuccessful");
      assertList(filter, RUN_CURSOR, false, "workflow_runs_unsuccessful");
      assertThat(plan(list(filter, RUN_CURSOR, true))).doesNotContain("workflow_runs_list");
      assertPlan(RunQueries.any(RunSource.byTime(filter), RUN_CURSOR, false))
          .contains("workflow_runs_unsuccessful");
    }
  }

  // The driver prepares a statement when it is executed the fifth time. PostgreSQL plans a prepared
  // statement five times before it considers a generic plan.
  @Test
  void a_page_of_all_or_of_failed_runs_is_not_planned_at_each_request() {
    RunFilter failed = inStatus(RunStatus.FAILED);

    for (RunFilter filter : List.of(RunFilter.all("big"), failed)) {
      for (@Nullable Cursor from : Arrays.asList(null, RUN_CURSOR)) {
        assertThat(genericPlans(list(filter, from, true), 15)).isPositive();
      }
    }
  }

  private static long genericPlans(SqlBuilder sql, int times) {
    return database
        .open()
        .read(
            session -> {
              session.query("DEALLOCATE ALL").execute();
              for (int i = 0; i < times; i++) {
                sql.on(session).list(row -> row.text("namespace"));
              }
              return session
                  .query(
                      """
                      SELECT sum(generic_plans)::bigint AS plans
                        FROM pg_prepared_statements
                       WHERE statement LIKE 'WITH page%'
                      """)
                  .first(row -> row.bigint("plans"))
                  .orElse(0L);
            });
  }

  @Test
  void few_active_runs_among_many_are_found_by_the_claim_index() {
    RunFilter active = inStatus(RunStatus.RUNNING, RunStatus.SLEEPING);

    assertList(active, null, true, "workflow_runs_claim");
  }

  @Test
  void due_runs_and_those_of_a_worker_are_found_by_the_claim_index() {
    for (RunFilter filter : List.of(active(true, null), active(false, WorkerId.next()))) {
      assertPlan(RunQueries.all(RunSource.byTime(filter)))
          .containsPattern("workflow_runs_(claim|own_lease)");
      assertList(filter, null, true, "workflow_runs_claim");
    }
  }

  private static RunFilter active(boolean due, @Nullable WorkerId worker) {
    return new RunFilter(
        "big", Set.of(), null, "q1", null, null, null, null, null, null, false, false, due, worker);
  }

  @Test
  void the_oldest_due_run_of_each_queue_is_found_by_the_claim_index() {
    assertThat(plan(ClusterState.queueQuery(1_000)))
        .contains("workflow_runs_claim")
        .doesNotContain("Seq Scan on workflow_runs");
  }

  @Test
  void few_blocked_runs_among_many_are_found_by_their_own_index() {
    for (String namespace : List.of("big", "small", "nobody")) {
      RunFilter blocked = blocked(namespace, null);

      assertList(blocked, null, true, "workflow_runs_blocked");
      assertList(blocked, RUN_CURSOR, true, "workflow_runs_blocked");
      assertList(blocked, RUN_CURSOR, false, "workflow_runs_blocked");
      assertPlan(RunQueries.any(RunSource.byTime(blocked), RUN_CURSOR, false))
          .contains("workflow_runs_blocked");
      assertPlan(RunQueries.all(RunSource.byTime(blocked))).contains("workflow_runs_blocked");
      assertList(blocked(namespace, "t1"), null, true, "workflow_runs_blocked");
    }
  }

  private static RunFilter blocked(String namespace, @Nullable String type) {
    return new RunFilter(
        namespace, Set.of(), type, null, null, null, null, null, null, null, false, true);
  }

  @Test
  void an_external_id_is_found_by_its_index_even_with_many_runs() {
    for (String externalId : List.of("nightly", "order-17", "nobody")) {
      RunFilter filter =
          new RunFilter(
              "big", Set.of(), null, null, null, null, null, externalId, null, null, false, false);

      assertList(filter, null, true, "workflow_runs_external_id");
      assertList(filter, RUN_CURSOR, false, "workflow_runs_external_id");
      assertPlan(RunQueries.activeOf("big", externalId)).contains("workflow_runs_external_id");
      assertPlan(RunQueries.latestOf("big", externalId)).contains("workflow_runs_external_id");
    }
  }

  @Test
  void children_and_fires_are_found_by_their_index() {
    RunFilter children =
        new RunFilter(
            "big", Set.of(), null, null, null, null, null, null, RunId.next(), null, false, false);
    RunFilter fires = RunFilter.ofSchedule("big", UUID.randomUUID());

    assertList(children, null, true, "workflow_runs_parent");
    assertList(fires, null, true, "workflow_runs_schedule_runs");
    assertPlan(RunQueries.retriesOf("big", RunId.next())).contains("workflow_runs_retries");
  }

  @Test
  void steps_are_read_within_their_run() {
    Cursor cursor = Cursor.of(Cursor.micros(Instant.EPOCH), "step#5", "1");
    PageByteLimits limits = PageByteLimits.of(PageSpec.FIRST);
    RunId shortRun = new RunId(UUID.fromString("94f6d7e0-4a4d-4520-3530-0f18b984988c"));

    for (RunId run : List.of(LONG_RUN, shortRun)) {
      for (SqlBuilder sql :
          List.of(
              StepQueries.list(run, null, null, true, 21, limits),
              StepQueries.list(run, "step", cursor, false, 21, limits),
              StepQueries.any(run, null, cursor, true),
              StepQueries.all(run, "step"),
              StepQueries.byRef(new StepRef(run, "step#5", 1, 1)))) {
        assertPlan(sql).contains("step_runs_pkey");
      }
    }
  }

  @Test
  void workers_are_read_by_queue() {
    Cursor cursor = Cursor.of("q2", Cursor.micros(Instant.EPOCH), UUID.randomUUID().toString());
    for (WorkerQueries.Filter filter :
        List.of(
            new WorkerQueries.Filter("big", null, null),
            new WorkerQueries.Filter("big", "q2", null),
            new WorkerQueries.Filter("small", "q2", WorkerStatus.ONLINE))) {
      assertPlan(WorkerQueries.list(filter, null, true, 21)).contains("workers_queue");
      assertPlan(WorkerQueries.list(filter, cursor, true, 21)).contains("workers_queue");
      assertPlan(WorkerQueries.list(filter, cursor, false, 21)).contains("workers_queue");
    }
  }

  @Test
  void runs_that_workers_hold_are_found_by_their_leases() {
    assertPlan(
            WorkerQueries.held(
                new WorkerQueries.SearchScope("big", "q2", List.of("t2", "t7")),
                List.of(WorkerId.next(), WorkerId.next()),
                60_000,
                SlotQueries.EXECUTED_MAX))
        .contains("workflow_runs_claim")
        .contains("workflow_runs_own_lease")
        // One search reads the runs that are due within a lease, the other those that are due now.
        .contains("Scan Backward using workflow_runs_claim")
        .matches(plan -> plan.split("->  Limit", -1).length > 2, "limits both searches");
  }

  @Test
  void an_explanation_uses_indexes_however_large_the_tables_are() {
    RunId run = RunId.next();
    assertThat(plan(WaitQueries.run("big", run)))
        .contains("workflow_runs_pkey", "run_messages_pkey")
        .doesNotContain("Seq Scan on workflow_runs");
    for (RunId steps : List.of(LONG_RUN, run)) {
      assertPlan(WaitQueries.steps(steps)).contains("step_runs_pkey");
      assertPlan(WaitQueries.last(steps)).contains("step_runs_pkey");
    }
    assertPlan(WaitQueries.children(new UUID[] {UUID.randomUUID(), UUID.randomUUID()}))
        .contains("workflow_runs_pkey");
    assertPlan(WaitQueries.openOf(SCHEDULE)).contains("workflow_runs_schedule_open");
    assertPlan(SlotQueries.byIds(new UUID[] {LONG_RUN.value(), UUID.randomUUID()}, 3))
        .contains("workflow_runs_pkey", "step_runs_pkey");
  }

  @Test
  void the_queue_of_a_due_run_is_read_by_indexes() {
    for (String namespace : List.of("big", "small", "nobody")) {
      assertPlan(WorkerQueries.present(namespace, "q2", 1_000)).contains("workers_");
      assertPlan(WaitQueries.elsewhere(due(namespace))).contains("workers_");
      assertPlan(WaitQueries.ahead(due(namespace))).contains("workflow_runs_claim");
    }
  }

  private static WaitFacts.Run due(String namespace) {
    return new WaitFacts.Run(
        namespace,
        true,
        RunId.next(),
        "q1",
        "t1",
        "",
        RunStatus.PENDING,
        Instant.EPOCH,
        null,
        0,
        null,
        null,
        null,
        null,
        Instant.parse("2026-01-10T00:00:00Z"),
        List.of(),
        false,
        1,
        0,
        null,
        null,
        null,
        null,
        null,
        null,
        WaitFacts.Signals.NONE,
        null,
        null);
  }

  @Test
  void signals_are_found_by_their_run() {
    RunId run = RunId.parse("00000000-0000-0000-0000-000000000001").orElseThrow();
    for (boolean buffered : new boolean[] {true, false}) {
      assertPlan(
              SignalQueries.list(run, buffered, null, true, 21, PageByteLimits.of(PageSpec.FIRST)))
          .contains("run_signals_");
      assertPlan(SignalQueries.any(run, buffered, Cursor.of("5"), true)).contains("run_signals_");
      assertPlan(SignalQueries.all(run, buffered)).contains("run_signals_");
    }
    assertPlan(SignalQueries.answersSql(run, List.of("payment", "other"), 100))
        .contains("run_signals_id");
  }

  @Test
  void published_values_are_found_by_their_run() {
    RunId run = RunId.parse("00000000-0000-0000-0000-000000000001").orElseThrow();
    for (String name : new String[] {"", "progress"}) {
      assertPlan(PublishedQueries.ofRun("default", run, name, 0)).contains("published_values_pkey");
    }
  }

  /** Executed every two seconds by a live display: ended runs must not make it slow. */
  @Test
  void queues_and_the_overview_read_the_first_runs_by_their_indexes() {
    List<QueueQueries.Key> keys =
        List.of(new QueueQueries.Key("q1", "t1", ""), new QueueQueries.Key("q2", "t7", ""));
    for (String namespace : List.of("big", "small", "nobody")) {
      assertPlan(QueueQueries.due(namespace, keys)).contains("workflow_runs_claim");
      assertPlan(QueueQueries.durations(namespace)).contains("workflow_runs_list");
      assertPlan(QueueQueries.workers(namespace, List.of("q1", "q2")))
          .containsPattern("workers_queue|workers_heartbeat");
      assertPlan(WorkerQueries.busiestRows(namespace, Overview.WORKERS_MAX))
          .containsPattern("workers_queue|workers_heartbeat");
      assertPlan(WorkerQueries.uncountedRows(namespace))
          .containsPattern("workers_queue|workers_heartbeat");
    }
  }

  @Test
  void runs_of_any_namespace_are_found_by_their_ids() {
    assertRuns(RunPlaceQueries.ofId(LONG_RUN)).contains("workflow_runs_pkey");
    assertRuns(RunPlaceQueries.ofExternalId("nightly")).contains("workflow_runs_external_id");
    assertRuns(RunPlaceQueries.ofExternalId("order-17")).contains("workflow_runs_external_id");
    assertRuns(RunPlaceQueries.ofEndOfId("big", "4b992b19"))
        .contains("workflow_runs_list", "workflow_runs_pkey");
  }

  /** Executed every two seconds while somebody looks at the overview. */
  @Test
  void runs_that_need_attention_are_read_by_the_claim_index() {
    for (String namespace : List.of("big", "small", "nobody")) {
      assertRuns(AttentionQueries.crashingOf(namespace)).contains("workflow_runs_claim");
    }
    assertRuns(AttentionQueries.disabledWithDue()).contains("workflow_runs_claim");
  }

  /** Executed every two seconds while somebody looks at the overview. */
  @Test
  void the_activity_reads_no_runs_but_the_next_schedules() {
    for (String namespace : List.of("big", "small", "nobody")) {
      assertThat(plan(ActivityQueries.minutes(namespace))).contains("run_rates");
      assertThat(plan(ActivityQueries.types(namespace))).contains("run_rates");
      assertThat(plan(QueueRateQueries.rates(namespace, List.of("q1")))).contains("run_rates");
      assertPlan(ActivityQueries.schedules(namespace))
          .containsPattern("workflow_runs_(templates|schedules)");
      assertPlan(ActivityQueries.slots(namespace))
          .containsPattern("workers_queue|workers_heartbeat");
    }
  }

  @Test
  void served_types_are_read_from_the_workers_of_a_namespace_or_queue() {
    for (String namespace : List.of("big", "small", "nobody")) {
      assertPlan(ServedQueries.served(namespace, null, "t1"))
          .containsPattern("workers_queue|workers_heartbeat");
      assertPlan(ServedQueries.served(namespace, "q1", null))
          .containsPattern("workers_queue|workers_heartbeat");
    }
  }

  @Test
  void ids_of_a_filter_are_read_in_the_order_of_its_index() {
    for (String namespace : List.of("big", "small", "nobody")) {
      assertPlan(RunQueries.idsOf(RunSource.byTime(RunFilter.all(namespace)), 1_000))
          .contains("workflow_runs_list");
    }
  }

  @Test
  void runs_of_a_type_that_has_few_are_found_by_their_kind() {
    RunSource.Kind kind = new RunSource.Kind("t1", "q1", "", 3);
    for (RunFilter filter : List.of(typed(Set.of()), typed(Set.of(RunStatus.FAILED)))) {
      RunSource rare = new RunSource(filter, List.of(kind));

      for (SqlBuilder sql :
          List.of(
              list(rare, null, true),
              list(rare, RUN_CURSOR, false),
              RunQueries.any(rare, RUN_CURSOR, true),
              RunQueries.all(rare),
              RunQueries.idsOf(rare, 1_000))) {
        assertPlan(sql)
            .contains("workflow_runs_kind", "workflow_runs_claim")
            .doesNotContain("workflow_runs_list", "workflow_runs_unsuccessful");
      }
    }
    assertThat(plan(RunSource.kindsOf(typed(Set.of())))).doesNotContain("workflow_runs");
  }

  private static RunFilter typed(Set<RunStatus> statuses) {
    return new RunFilter(
        "big", statuses, "t1", null, null, null, null, null, null, null, false, false);
  }

  /** Executed at each health check: neither old workers nor old runs may make it slow. */
  @Test
  void dead_workers_are_found_by_their_own_index_and_their_runs_by_the_claim_index() {
    for (String namespace : new String[] {"big", "small", "nobody", null}) {
      assertPlan(dead(namespace)).contains("workers_died").contains("workflow_runs_claim");
    }
  }

  private static SqlBuilder dead(@Nullable String namespace) {
    return new SqlBuilder().add(HealthQueries.DEAD, namespace, namespace, Health.WORKERS_MAX);
  }

  private static RunFilter inStatus(RunStatus... statuses) {
    return new RunFilter(
        "big", Set.of(statuses), null, null, null, null, null, null, null, null, false, false);
  }

  private static void assertList(
      RunFilter filter, @Nullable Cursor from, boolean forward, String index) {
    assertPlan(list(filter, from, forward)).contains(index).contains("workflow_payloads_pkey");
  }

  private static SqlBuilder list(RunFilter filter, @Nullable Cursor from, boolean forward) {
    return list(RunSource.byTime(filter), from, forward);
  }

  private static SqlBuilder list(RunSource source, @Nullable Cursor from, boolean forward) {
    return RunQueries.list(source, from, forward, 21, PageByteLimits.of(PageSpec.FIRST));
  }

  private static AbstractStringAssert<?> assertPlan(SqlBuilder sql) {
    return assertThat(plan(sql)).doesNotContain("Seq Scan");
  }

  /** Like {@link #assertPlan}; small tables, such as that of the namespaces, may be read whole. */
  private static AbstractStringAssert<?> assertRuns(SqlBuilder sql) {
    return assertThat(plan(sql)).doesNotContain("Seq Scan on workflow_runs");
  }

  // On a pooled connection: writers' sessions disable sequential scans.
  private static String plan(SqlBuilder sql) {
    return database
        .open()
        .read(
            session ->
                String.join(
                    "\n",
                    sql.bind(session.query("EXPLAIN " + sql.text()))
                        .list(row -> row.text("QUERY PLAN"))));
  }
}
