package dev.kagzi.engine.query;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.kagzi.engine.TestDatabase;
import dev.kagzi.engine.page.Page;
import dev.kagzi.engine.page.PageSpec;
import dev.kagzi.engine.page.Walk;
import dev.kagzi.engine.retry.RetryPolicy;
import dev.kagzi.engine.value.ErrorCode;
import dev.kagzi.engine.value.Failure;
import dev.kagzi.engine.value.Limits;
import dev.kagzi.engine.value.Origin;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.StepKind;
import dev.kagzi.engine.value.StepRef;
import dev.kagzi.engine.value.StepStatus;
import dev.kagzi.engine.value.TypeVersion;
import dev.kagzi.engine.value.WorkerId;
import dev.kagzi.engine.value.WorkerStatus;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class QueriesTest {
  private static final Instant TIME = Instant.parse("2026-03-01T12:00:00.123456Z");

  @RegisterExtension static final TestDatabase database = new TestDatabase();

  private final Rows rows = new Rows(database);
  private final String namespace = "ns-" + UUID.randomUUID();
  private final Queries queries =
      new Queries(
          database.open(),
          Limits.DEFAULT,
          new QueryRules(new Health.Rules(6_000, 10_000), 60_000, 6_000, 10, RetryPolicy.DEFAULT),
          () -> {});

  @Test
  void a_run_shows_everything_that_is_stored_of_it() {
    RunId run = rows.insert(Rows.Run.of(namespace, TIME).externalId("order-1").version("v2"));
    UUID worker = UUID.randomUUID();
    UUID schedule = UUID.randomUUID();
    UUID parent = UUID.randomUUID();
    database.execute(
        """
        UPDATE kagzi.workflow_runs
           SET status = 'FAILED', available_at = NULL, epoch = 7, crashes = 2, attempts = 3,
               locked_by = '%s', origin = 'CHILD', parent_run_id = '%s', parent_step_id = 'spawn',
               schedule_id = '%s', deadline_at = '2026-03-02T00:00Z',
               started_at = '2026-03-01T12:00:01Z', finished_at = '2026-03-01T12:00:02.000003Z',
               error = '{"code": "TIMEOUT", "message": "late", "metadata": {"stack": "at x"}}',
               blocked_by = '{"message": "unknown step"}', headers = '{"a": "b"}'
         WHERE run_id = '%s'
        """
            .formatted(worker, parent, schedule, run));
    rows.payload(run, "INPUT", new byte[] {1, 2}, "{\"content-type\": \"x\"}");
    rows.payload(run, "OUTPUT", new byte[] {}, null);

    RunView view = queries.run(namespace, run);

    assertThat(view)
        .isEqualTo(
            new RunView(
                namespace,
                run,
                "order-1",
                "q",
                "order",
                RunStatus.FAILED,
                "v2",
                new Payload(new byte[] {1, 2}, Map.of("content-type", "x")),
                new Payload(new byte[0], Map.of()),
                new Failure(ErrorCode.TIMEOUT, "late", false, 0, "", "", Map.of("stack", "at x")),
                3,
                TIME,
                Instant.parse("2026-03-01T12:00:01Z"),
                Instant.parse("2026-03-01T12:00:02.000003Z"),
                null,
                new WorkerId(worker),
                new RunId(parent),
                "spawn",
                schedule,
                null,
                Instant.parse("2026-03-02T00:00:00Z"),
                null,
                Origin.CHILD,
                2,
                7,
                new Failure(ErrorCode.UNSPECIFIED, "unknown step", false, 0, "", "", Map.of()),
                new RunView.Setup(
                    null,
                    null,
                    null,
                    null,
                    "",
                    "",
                    null,
                    null,
                    null,
                    false,
                    null,
                    Map.of("a", "b"),
                    0,
                    RunView.Chain.NONE)));
    assertThat(queries.runs(RunFilter.all(namespace), PageSpec.FIRST).items())
        .containsExactly(view);
  }

  @Test
  void a_run_that_waits_for_a_time_shows_when_it_continues() {
    RunId run = rows.insert(Rows.Run.of(namespace, TIME));

    assertThat(wakeUp(run, "PENDING", "kagzi.clock() - interval '1 s'")).isNull();
    assertThat(wakeUp(run, "PENDING", "'2200-01-01T00:00Z'"))
        .isEqualTo(Instant.parse("2200-01-01T00:00:00Z"));
    assertThat(wakeUp(run, "SLEEPING", "'2200-01-01T00:00Z'"))
        .isEqualTo(Instant.parse("2200-01-01T00:00:00Z"));
    assertThat(wakeUp(run, "SLEEPING", "'2020-01-01T00:00Z'"))
        .isEqualTo(Instant.parse("2020-01-01T00:00:00Z"));
    assertThat(wakeUp(run, "SLEEPING", "'infinity'")).isNull();
    assertThat(wakeUp(run, "PENDING", "'infinity'")).isNull();
    assertThat(wakeUp(run, "RUNNING", "'2200-01-01T00:00Z'")).isNull();
  }

  @Test
  void rows_of_another_namespace_are_not_found() {
    RunId run = rows.insert(Rows.Run.of(namespace, TIME).externalId("mine"));
    rows.step(run, "a", 1, new byte[0], TIME);
    StepRef step = new StepRef(run, "a", 1, 1);

    assertThat(queries.run(namespace, run).runId()).isEqualTo(run);
    assertThat(queries.step(namespace, step).stepId()).isEqualTo(step);
    assertNotFound(() -> queries.run("default", run));
    assertNotFound(() -> queries.byExternalId("default", "mine"));
    assertNotFound(() -> queries.steps("default", run, null, PageSpec.FIRST));
    assertNotFound(() -> queries.step("default", step));
    assertThat(queries.runs(RunFilter.all("default"), PageSpec.FIRST).items()).isEmpty();
  }

  @Test
  void missing_rows_are_not_found() {
    RunId missing = RunId.next();

    assertNotFound(() -> queries.run(namespace, missing));
    assertNotFound(() -> queries.byExternalId(namespace, "nobody"));
    assertNotFound(() -> queries.steps(namespace, missing, null, PageSpec.FIRST));
    assertNotFound(() -> queries.step(namespace, new StepRef(missing, "a", 1, 1)));
    assertNotFound(() -> queries.worker(null, WorkerId.next()));
  }

  @Test
  void strings_that_cannot_be_stored_are_refused_before_the_query() {
    String bad = "a\u0000";

    assertInvalid(() -> queries.run(bad, RunId.next()));
    assertInvalid(() -> queries.byExternalId(namespace, bad));
    assertInvalid(() -> queries.byExternalId(namespace, ""));
    assertInvalid(() -> queries.steps(namespace, RunId.next(), bad, PageSpec.FIRST));
    assertInvalid(() -> queries.step(namespace, new StepRef(RunId.next(), bad, 1, 1)));
    assertInvalid(() -> queries.workers(namespace, bad, null, PageSpec.FIRST));
    assertInvalid(
        () ->
            queries.runs(
                new RunFilter(
                    namespace, Set.of(), bad, null, null, null, null, null, null, null, false,
                    false),
                PageSpec.FIRST));
  }

  @Test
  void an_external_id_leads_to_the_latest_run_whether_it_has_ended_or_not() {
    // Ids chosen by callers are not ordered by time: here the latest run has the smallest id.
    Rows.Run ended = Rows.Run.of(namespace, TIME).externalId("nightly").status(RunStatus.COMPLETED);
    rows.insert(new RunId(new UUID(-1, -1)), ended);
    RunId latest =
        rows.insert(
            new RunId(new UUID(1, 1)),
            Rows.Run.of(namespace, TIME.plusNanos(1_000))
                .externalId("nightly")
                .status(RunStatus.FAILED));
    assertThat(queries.byExternalId(namespace, "nightly").runId()).isEqualTo(latest);

    RunId active = rows.insert(Rows.Run.of(namespace, TIME.plusNanos(2_000)).externalId("nightly"));
    assertThat(queries.byExternalId(namespace, "nightly").runId()).isEqualTo(active);
  }

  @Test
  void the_retries_of_a_run_are_found_newest_first() {
    RunId failed = rows.insert(Rows.Run.of(namespace, TIME).status(RunStatus.FAILED));
    RunId first = rows.insert(Rows.Run.of(namespace, TIME.plusNanos(1_000)));
    RunId second = rows.insert(Rows.Run.of(namespace, TIME.plusNanos(2_000)));
    database.execute(
        "UPDATE kagzi.workflow_runs SET retry_of = '%s' WHERE run_id IN ('%s', '%s')"
            .formatted(failed, first, second));

    assertThat(queries.retries(namespace, failed)).containsExactly(second, first);
    assertThat(queries.retries(namespace, first)).isEmpty();
    assertThat(queries.retries("other", failed)).isEmpty();
  }

  @Test
  void templates_of_schedules_are_no_runs() {
    RunId template = rows.insert(Rows.Run.of(namespace, TIME).externalId("job"));
    RunId paused = rows.insert(Rows.Run.of(namespace, TIME));
    RunId run = rows.insert(Rows.Run.of(namespace, TIME));
    database.execute(
        """
        UPDATE kagzi.workflow_runs
           SET cron_expr = '* * * * *',
               status = CASE WHEN run_id = '%s' THEN 'SCHEDULED' ELSE 'PAUSED' END
         WHERE run_id IN ('%s', '%s')
        """
            .formatted(template, template, paused));
    database.execute(
        """
        INSERT INTO kagzi.run_changes
               (namespace, task_queue, workflow_type, version, from_status, to_status, runs)
        VALUES ('%s', 'q', 'order', '', 'PENDING', NULL, 2)
        """
            .formatted(namespace));

    Page<RunView> page = queries.runs(RunFilter.all(namespace), new PageSpec(0, "", true, false));

    assertThat(page.items().stream().map(RunView::runId)).containsExactly(run);
    assertThat(page.totalCount()).isEqualTo(1);
    assertNotFound(() -> queries.byExternalId(namespace, "job"));
    RunFilter templates =
        new RunFilter(
            namespace,
            Set.of(RunStatus.SCHEDULED, RunStatus.PAUSED),
            null,
            null,
            null,
            null,
            null,
            null,
            null,
            null,
            false,
            false);
    assertThat(queries.runs(templates, PageSpec.FIRST).items()).isEmpty();
  }

  @Test
  void runs_of_a_parent_and_of_a_schedule_are_found() {
    RunId parent = RunId.next();
    UUID schedule = UUID.randomUUID();
    RunId child = rows.insert(Rows.Run.of(namespace, TIME));
    RunId fired = rows.insert(Rows.Run.of(namespace, TIME));
    database.execute(
        "UPDATE kagzi.workflow_runs SET parent_run_id = '%s' WHERE run_id = '%s'"
            .formatted(parent, child));
    database.execute(
        "UPDATE kagzi.workflow_runs SET schedule_id = '%s', fire_at = now() WHERE run_id = '%s'"
            .formatted(schedule, fired));

    assertThat(runsOf(parent, null)).containsExactly(child);
    assertThat(runsOf(null, schedule)).containsExactly(fired);
    assertThat(runsOf(parent, schedule)).isEmpty();
  }

  private List<RunId> runsOf(@Nullable RunId parent, @Nullable UUID schedule) {
    RunFilter filter =
        new RunFilter(
            namespace, Set.of(), null, null, null, null, null, null, parent, schedule, false,
            false);
    return queries.runs(filter, PageSpec.FIRST).items().stream().map(RunView::runId).toList();
  }

  /** A step is recorded at its end, so a short one that began later is recorded first. */
  @Test
  void steps_are_listed_in_the_order_in_which_they_began() {
    RunId run = rows.insert(Rows.Run.of(namespace, TIME));
    String row =
        """
        INSERT INTO kagzi.step_runs
               (run_id, step_id, attempt, epoch, run_attempt, kind, status, created_at, started_at,
                finished_at)
        VALUES ('%s', '%s', 1, 1, 1, 'FUNCTION', 'COMPLETED', %s, %s, %s)
        """;
    database.execute(row.formatted(run, "a", at(9), at(9), at(9)));
    database.execute(row.formatted(run, "quick", at(2), at(1), at(2)));
    database.execute(row.formatted(run, "slow", at(5), at(0), at(5)));
    database.execute(row.formatted(run, "sleep", at(3), "NULL", at(4)));

    List<String> forward = new ArrayList<>();
    PageSpec page = new PageSpec(1, "", false, false);
    Page<StepView> last = queries.steps(namespace, run, null, page);
    forward.add(last.items().get(0).stepId().stepKey());
    for (int i = 1; i < 4; i++) {
      last = queries.steps(namespace, run, null, new PageSpec(1, last.nextToken(), false, false));
      forward.add(last.items().get(0).stepId().stepKey());
    }
    assertThat(last.nextToken()).isEmpty();
    Page<StepView> before =
        queries.steps(namespace, run, null, new PageSpec(3, last.prevToken(), false, false));

    assertThat(forward).containsExactly("slow", "quick", "sleep", "a");
    assertThat(before.items())
        .extracting(step -> step.stepId().stepKey())
        .containsExactly("slow", "quick", "sleep");
  }

  private static String at(int seconds) {
    return "'" + TIME.plusSeconds(seconds) + "'";
  }

  @Test
  void top_level_and_blocked_runs_are_found_among_the_others() {
    RunId plain = rows.insert(Rows.Run.of(namespace, TIME));
    RunId child = rows.insert(Rows.Run.of(namespace, TIME.plusSeconds(1)));
    RunId blocked = rows.insert(Rows.Run.of(namespace, TIME.plusSeconds(2)));
    RunId continued =
        rows.insert(Rows.Run.of(namespace, TIME.minusSeconds(1)).status(RunStatus.RUNNING));
    database.execute(
        "UPDATE kagzi.workflow_runs SET parent_run_id = '%s' WHERE run_id = '%s'"
            .formatted(plain, child));
    database.execute(
        """
        UPDATE kagzi.workflow_runs SET blocked_by = '{"message": "step moved"}'
         WHERE run_id IN ('%s', '%s')
        """
            .formatted(blocked, continued));

    assertThat(runs(true, false)).containsExactly(blocked, plain, continued);
    assertThat(runs(false, true)).containsExactly(blocked);
    assertThat(runs(true, true)).containsExactly(blocked);
    assertThat(runs(false, false)).containsExactly(blocked, child, plain, continued);
    assertThat(count(filter(true, false))).isEqualTo(3);
    assertThat(count(filter(false, true))).isEqualTo(1);
  }

  private long count(RunFilter filter) {
    return queries.runs(filter, new PageSpec(1, "", true, false)).totalCount();
  }

  private List<RunId> runs(boolean topLevel, boolean blocked) {
    return queries.runs(filter(topLevel, blocked), PageSpec.FIRST).items().stream()
        .map(RunView::runId)
        .toList();
  }

  private RunFilter filter(boolean topLevel, boolean blocked) {
    return new RunFilter(
        namespace, Set.of(), null, null, null, null, null, null, null, null, topLevel, blocked);
  }

  @Test
  void extreme_times_are_valid_filters() {
    rows.insert(Rows.Run.of(namespace, TIME));
    RunFilter all =
        new RunFilter(
            namespace,
            Set.of(),
            null,
            null,
            Instant.MIN,
            Instant.MAX,
            null,
            null,
            null,
            null,
            false,
            false);
    RunFilter none =
        new RunFilter(
            namespace,
            Set.of(),
            null,
            null,
            Instant.MAX,
            Instant.MIN,
            null,
            null,
            null,
            null,
            false,
            false);

    assertThat(queries.runs(all, PageSpec.FIRST).items()).hasSize(1);
    assertThat(queries.runs(none, PageSpec.FIRST).items()).isEmpty();
  }

  @Test
  void lists_omit_large_payloads_unless_requested() {
    RunId run = rows.insert(Rows.Run.of(namespace, TIME));
    byte[] large = new byte[4_097];
    byte[] small = new byte[4_096];
    rows.payload(run, "INPUT", large, "{\"encoding\": \"json\"}");
    rows.payload(run, "OUTPUT", small, null);
    rows.step(run, "a", 1, large, TIME);
    rows.step(run, "b", 1, small, TIME);

    RunView listed = queries.runs(RunFilter.all(namespace), PageSpec.FIRST).items().get(0);
    PageSpec asked = new PageSpec(0, "", false, true);
    List<StepView> steps = queries.steps(namespace, run, null, PageSpec.FIRST).items();

    assertThat(listed.input()).isEqualTo(new Payload(new byte[0], Map.of("encoding", "json")));
    assertThat(listed.output()).isEqualTo(new Payload(small, Map.of()));
    assertThat(queries.runs(RunFilter.all(namespace), asked).items().get(0))
        .isEqualTo(queries.run(namespace, run));
    assertThat(queries.run(namespace, run).input().data()).hasSize(4_097);
    assertThat(queries.runWithoutLargePayloads(namespace, run)).isEqualTo(listed);
    assertThat(steps.get(0).output()).isEqualTo(Payload.EMPTY);
    assertThat(steps.get(1).output()).isEqualTo(new Payload(small, Map.of()));
    assertThat(queries.steps(namespace, run, null, asked).items().get(0))
        .isEqualTo(queries.step(namespace, new StepRef(run, "a", 1, 1)));
  }

  @Test
  void a_page_ends_before_it_exceeds_a_grpc_message() {
    for (int i = 0; i < 8; i++) {
      RunId run = rows.insert(Rows.Run.of(namespace, TIME.plusSeconds(i)));
      rows.payload(run, "INPUT", new byte[1 << 20], null);
    }

    Page<RunView> page = queries.runs(RunFilter.all(namespace), new PageSpec(8, "", false, true));
    Walk<RunView> walk =
        new Walk<>(
            spec ->
                queries.runs(RunFilter.all(namespace), new PageSpec(8, spec.token(), false, true)),
            () -> 8,
            () -> {});
    List<RunView> forward = walk.forward();
    List<RunView> lastPage = walk.last().items();
    List<RunView> backward = walk.backward();
    backward.addAll(lastPage);

    assertThat(page.items()).hasSize(3);
    assertThat(page.hasMore()).isTrue();
    assertThat(forward.stream().map(RunView::runId)).hasSize(8).doesNotHaveDuplicates();
    assertThat(forward).allSatisfy(run -> assertThat(run.input().data()).hasSize(1 << 20));
    assertThat(backward).isEqualTo(forward);
  }

  @Test
  void a_row_above_the_page_limit_is_returned_alone() {
    RunId run = rows.insert(Rows.Run.of(namespace, TIME));
    for (int i = 0; i < 3; i++) {
      rows.step(run, "s" + i, 1, new byte[4 << 20], TIME);
    }

    Walk<StepView> walk =
        new Walk<>(
            spec -> queries.steps(namespace, run, null, new PageSpec(9, spec.token(), false, true)),
            () -> 9,
            () -> {});

    assertThat(walk.forward().stream().map(StepView::name)).containsExactly("s0", "s1", "s2");
  }

  @Test
  void a_step_shows_everything_that_is_stored_of_it() {
    RunId run = rows.insert(Rows.Run.of(namespace, TIME));
    UUID child = UUID.randomUUID();
    database.execute(
        """
        INSERT INTO kagzi.step_runs
               (run_id, step_id, attempt, epoch, run_attempt, kind, status, input, input_metadata,
                output, output_metadata, error, child_run_id, created_at, started_at, finished_at,
                final, input_hash, due_at, progress, progress_metadata)
        VALUES ('%s', 'all[1]/fetch#2', 3, 9, 2, 'CHILD_WORKFLOW', 'FAILED', '\\x01', '{"a": "b"}',
                '\\x', NULL, '{"message": "no"}', '%s', '2026-03-01T12:00:00.123456Z',
                '2026-03-01T12:00:01Z', '2026-03-01T12:00:02Z',
                true, 'ab12', '2026-03-01T12:00:03Z', '\\x02', '{"c": "d"}')
        """
            .formatted(run, child));
    StepRef ref = new StepRef(run, "all[1]/fetch#2", 3, 9);
    StepView expected =
        new StepView(
            namespace,
            ref,
            run,
            "fetch",
            StepKind.CHILD_WORKFLOW,
            StepStatus.FAILED,
            3,
            new Payload(new byte[] {1}, Map.of("a", "b")),
            Payload.EMPTY,
            new Failure(ErrorCode.UNSPECIFIED, "no", false, 0, "", "", Map.of()),
            TIME,
            Instant.parse("2026-03-01T12:00:01Z"),
            Instant.parse("2026-03-01T12:00:02Z"),
            new RunId(child),
            2,
            true,
            "ab12",
            Instant.parse("2026-03-01T12:00:03Z"),
            new Payload(new byte[] {2}, Map.of("c", "d")));

    assertThat(queries.step(namespace, ref)).isEqualTo(expected);
    assertThat(queries.step(namespace, new StepRef(run, "all[1]/fetch#2", 3, 8)))
        .isEqualTo(expected);
    assertThat(queries.steps(namespace, run, "fetch", PageSpec.FIRST).items())
        .containsExactly(expected);
    assertNotFound(() -> queries.step(namespace, new StepRef(run, "all[1]/fetch#2", 2, 9)));
  }

  @Test
  void steps_are_found_by_their_name_in_all_scopes_and_occurrences() {
    RunId run = rows.insert(Rows.Run.of(namespace, TIME));
    for (String key :
        List.of("user", "user#2", "fetch[1]/user", "a[0]/b#2[11]/user#3", "users", "user/x")) {
      rows.step(run, key, 1, new byte[0], TIME);
      assertThat(queries.steps(namespace, run, key, PageSpec.FIRST).items()).isNotEmpty();
    }

    Page<StepView> page = queries.steps(namespace, run, "user", new PageSpec(0, "", true, false));

    assertThat(page.items().stream().map(step -> step.stepId().stepKey()))
        .containsExactlyInAnyOrder("user", "user#2", "fetch[1]/user", "a[0]/b#2[11]/user#3");
    assertThat(page.items()).allSatisfy(step -> assertThat(step.name()).isEqualTo("user"));
    assertThat(page.totalCount()).isEqualTo(4);
  }

  @Test
  void a_worker_shows_everything_that_is_stored_of_it() {
    UUID id = UUID.randomUUID();
    database.execute(
        """
        INSERT INTO kagzi.workers
               (worker_id, namespace, task_queue, workflow_types, served_versions, hostname, pid,
                version, labels, concurrency_limit, type_limits, status, active_count,
                total_completed, total_failed, registered_at, last_heartbeat_at, deregistered_at)
        VALUES ('%s', '%s', 'q', '{b,a,b}', '{1,2,3}', 'host', 7, '1.0', '{"zone": "eu"}', 10,
                '{"a": 2}', 'OFFLINE', 4, 100, 5, '2026-03-01T12:00:00.123456Z',
                '2026-03-01T12:00:01Z', '2026-03-01T12:00:02Z')
        """
            .formatted(id, namespace));
    WorkerView expected =
        new WorkerView(
            new WorkerId(id),
            namespace,
            "q",
            WorkerStatus.OFFLINE,
            "1.0",
            List.of("b", "a"),
            "host",
            7,
            10,
            Map.of("a", 2),
            4,
            TIME,
            Instant.parse("2026-03-01T12:00:01Z"),
            Map.of("zone", "eu"),
            100,
            5,
            Instant.parse("2026-03-01T12:00:02Z"),
            List.of(
                new TypeVersion("b", "1"), new TypeVersion("a", "2"), new TypeVersion("b", "3")));

    assertThat(queries.worker(namespace, new WorkerId(id))).isEqualTo(expected);
    assertThat(queries.workers(namespace, "q", null, PageSpec.FIRST).items())
        .containsExactly(expected);
    assertThat(queries.workers(namespace, "q", WorkerStatus.ONLINE, PageSpec.FIRST).items())
        .isEmpty();
  }

  private @Nullable Instant wakeUp(RunId run, String status, String availableAt) {
    database.execute(
        "UPDATE kagzi.workflow_runs SET status = '%s', available_at = %s WHERE run_id = '%s'"
            .formatted(status, availableAt, run));
    return queries.run(namespace, run).wakeUpAt();
  }

  private static void assertNotFound(ThrowingCallable call) {
    assertReason(call, Refusal.Reason.NOT_FOUND);
  }

  private static void assertInvalid(ThrowingCallable call) {
    assertReason(call, Refusal.Reason.INVALID_ARGUMENT);
  }

  private static void assertReason(ThrowingCallable call, Refusal.Reason reason) {
    assertThatExceptionOfType(Refusal.class)
        .isThrownBy(call)
        .satisfies(refusal -> assertThat(refusal.reason()).isEqualTo(reason));
  }
}
