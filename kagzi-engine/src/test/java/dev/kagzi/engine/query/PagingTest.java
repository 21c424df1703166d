package dev.kagzi.engine.query;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.kagzi.engine.TestDatabase;
import dev.kagzi.engine.internal.value.Uuids;
import dev.kagzi.engine.page.Page;
import dev.kagzi.engine.page.PageSpec;
import dev.kagzi.engine.page.Walk;
import dev.kagzi.engine.retry.RetryPolicy;
import dev.kagzi.engine.value.Limits;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.WorkerId;
import dev.kagzi.engine.value.WorkerStatus;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class PagingTest {
  private static final Instant START = Instant.parse("2026-03-01T12:00:00.000001Z");
  private static final Comparator<RunView> NEWEST_FIRST =
      Comparator.comparing(RunView::createdAt)
          .thenComparing(run -> run.runId().value(), Uuids.ORDER)
          .reversed();

  @RegisterExtension static final TestDatabase database = new TestDatabase();

  private final Random random = new Random(11);
  private final Rows rows = new Rows(database);
  private final String namespace = "ns-" + UUID.randomUUID();
  private final Queries queries =
      new Queries(
          database.open(),
          Limits.DEFAULT,
          new QueryRules(new Health.Rules(6_000, 10_000), 60_000, 6_000, 10, RetryPolicy.DEFAULT),
          () -> {});

  @Test
  void runs_of_one_microsecond_are_neither_lost_nor_repeated() {
    Set<RunId> stored = new HashSet<>();
    for (int i = 0; i < 200; i++) {
      stored.add(insertRun());
    }
    insertRunOfAnotherNamespace();

    for (int round = 0; round < 5; round++) {
      Walk<RunView> walk = new Walk<>(this::runs, () -> random.nextInt(1, 40), () -> {});
      List<RunView> forward = walk.forward();
      List<RunView> backward = walk.backward();

      assertThat(forward).isSortedAccordingTo(NEWEST_FIRST);
      assertThat(ids(forward)).doesNotHaveDuplicates().containsExactlyInAnyOrderElementsOf(stored);
      assertThat(backward).isEqualTo(forward.subList(0, backward.size()));
    }
  }

  @Test
  void reading_backward_from_the_last_page_returns_every_run_before_it() {
    for (int i = 0; i < 50; i++) {
      insertRun();
    }
    Walk<RunView> walk = new Walk<>(this::runs, () -> random.nextInt(1, 9), () -> {});

    List<RunView> forward = walk.forward();
    List<RunView> lastPage = walk.last().items();
    List<RunView> before = walk.backward();

    before.addAll(lastPage);
    assertThat(before).isEqualTo(forward);
    assertThat(walk.last().prevToken()).isEmpty();
  }

  @Test
  void runs_that_start_while_a_list_is_read_do_not_affect_older_ones() {
    Set<RunId> stored = new HashSet<>();
    for (int i = 0; i < 100; i++) {
      stored.add(insertRun());
    }
    Walk<RunView> walk =
        new Walk<>(
            this::runs,
            () -> random.nextInt(1, 12),
            () -> {
              insertRun();
              insertRun();
            });

    List<RunView> forward = walk.forward();
    List<RunView> lastPage = walk.last().items();
    List<RunView> backward = walk.backward();
    backward.addAll(lastPage);

    for (List<RunView> seen : List.of(forward, backward)) {
      assertThat(seen).isSortedAccordingTo(NEWEST_FIRST);
      assertThat(ids(seen)).doesNotHaveDuplicates().containsAll(stored);
    }
  }

  @Test
  void a_list_can_be_read_from_its_end() {
    for (int i = 0; i < 7; i++) {
      insertRun();
    }
    List<RunView> all = runs(new PageSpec(100, "", false, false)).items();

    Page<RunView> last = runs(new PageSpec(3, "", false, false, true));
    Page<RunView> before = runs(new PageSpec(3, last.prevToken(), false, false, true));

    assertThat(last.items()).isEqualTo(all.subList(4, 7));
    assertThat(last.hasMore()).isFalse();
    assertThat(before.items()).isEqualTo(all.subList(1, 4));
    assertThat(runs(new PageSpec(100, "", false, false, true)).items()).isEqualTo(all);
  }

  @Test
  void a_list_ends_exactly_with_the_last_run() {
    for (int count = 0; count <= 6; count++) {
      Page<RunView> exact = runs(new PageSpec(Math.max(1, count), "", false, false));
      assertThat(exact.items()).hasSize(count);
      assertThat(exact.hasMore()).isFalse();
      assertThat(exact.nextToken()).isEmpty();
      if (count > 1) {
        Page<RunView> less = runs(new PageSpec(count - 1, "", false, false));
        assertThat(less.items()).hasSize(count - 1);
        assertThat(less.hasMore()).isTrue();
        Page<RunView> rest = runs(new PageSpec(count - 1, less.nextToken(), false, false));
        assertThat(rest.items()).hasSize(1);
        assertThat(rest.hasMore()).isFalse();
      }
      insertRun();
    }
  }

  @Test
  void filtered_lists_are_paged_completely() {
    List<Rows.Run> stored = new ArrayList<>();
    for (int i = 0; i < 300; i++) {
      Rows.Run run =
          Rows.Run.of(namespace, time())
              .status(pick(RunStatus.PENDING, RunStatus.COMPLETED, RunStatus.FAILED))
              .type(pick("a", "b"))
              .queue(pick("q1", "q2"))
              .version(pick("", "v2"));
      rows.insert(run);
      stored.add(run);
    }
    for (int round = 0; round < 40; round++) {
      Set<RunStatus> statuses =
          pick(
              Set.of(),
              Set.of(RunStatus.PENDING),
              Set.of(RunStatus.FAILED, RunStatus.COMPLETED),
              Set.of(RunStatus.PENDING, RunStatus.SLEEPING));
      String type = random.nextBoolean() ? null : "a";
      String queue = random.nextBoolean() ? null : "q2";
      String version = random.nextBoolean() ? null : pick("", "v2");
      Instant after = random.nextBoolean() ? null : time().plusNanos(random.nextInt(2000));
      Instant before = random.nextBoolean() ? null : time().plusNanos(random.nextInt(2000));
      RunFilter filter =
          new RunFilter(
              namespace, statuses, type, queue, after, before, version, null, null, null, false,
              false);
      long expected =
          stored.stream()
              .filter(run -> statuses.isEmpty() || statuses.contains(run.status()))
              .filter(run -> type == null || run.type().equals(type))
              .filter(run -> queue == null || run.queue().equals(queue))
              .filter(run -> version == null || run.version().equals(version))
              .filter(run -> after == null || !run.createdAt().isBefore(after))
              .filter(run -> before == null || run.createdAt().isBefore(before))
              .count();

      Walk<RunView> walk =
          new Walk<>(spec -> queries.runs(filter, spec), () -> random.nextInt(1, 30), () -> {});
      List<RunView> forward = walk.forward();
      Page<RunView> counted = queries.runs(filter, new PageSpec(1, "", true, false));

      assertThat(forward).hasSize((int) expected).isSortedAccordingTo(NEWEST_FIRST);
      assertThat(ids(forward)).doesNotHaveDuplicates();
      assertThat(counted.totalCount()).isEqualTo(expected);
    }
  }

  @Test
  void many_runs_of_one_external_id_are_paged_completely() {
    Set<RunId> stored = new HashSet<>();
    for (int i = 0; i < 60; i++) {
      Rows.Run run = Rows.Run.of(namespace, time()).status(RunStatus.COMPLETED);
      stored.add(rows.insert(run.externalId("nightly")));
      rows.insert(run.externalId("other-" + i));
    }
    RunFilter filter =
        new RunFilter(
            namespace, Set.of(), null, null, null, null, null, "nightly", null, null, false, false);

    List<RunView> seen =
        new Walk<>(spec -> queries.runs(filter, spec), () -> 7, () -> {}).forward();

    assertThat(ids(seen)).doesNotHaveDuplicates().containsExactlyInAnyOrderElementsOf(stored);
    assertThat(seen).isSortedAccordingTo(NEWEST_FIRST);
  }

  @Test
  void steps_are_paged_in_the_order_in_which_they_began() {
    RunId run = insertRun();
    Set<String> stored = new HashSet<>();
    for (int i = 0; i < 80; i++) {
      String key = "step-" + i % 30;
      int attempt = 1 + i / 30;
      rows.step(run, key, attempt, new byte[] {1}, time());
      stored.add(run + "/" + key + "@" + attempt + ".1");
    }
    int[] added = {0};
    Walk<StepView> walk =
        new Walk<>(
            spec -> queries.steps(namespace, run, null, spec),
            () -> random.nextInt(1, 9),
            () -> rows.step(run, "new-" + added[0]++, 1, new byte[0], time()));

    List<StepView> forward = walk.forward();
    List<StepView> lastPage = walk.last().items();
    List<StepView> backward = walk.backward();
    backward.addAll(lastPage);

    for (List<StepView> seen : List.of(forward, backward)) {
      assertThat(seen).isSortedAccordingTo(Comparator.comparing(StepView::createdAt));
      assertThat(seen.stream().map(step -> step.stepId().toString()))
          .doesNotHaveDuplicates()
          .containsAll(stored);
    }
  }

  @Test
  void workers_are_paged_by_queue_and_registration_time() {
    Set<WorkerId> stored = new HashSet<>();
    Set<WorkerId> online = new HashSet<>();
    for (int i = 0; i < 90; i++) {
      UUID id = UUID.randomUUID();
      String status = pick("ONLINE", "OFFLINE");
      rows.worker(id, namespace, pick("q1", "q2", "Q3", "ä"), status, time());
      stored.add(new WorkerId(id));
      if (status.equals("ONLINE")) {
        online.add(new WorkerId(id));
      }
    }
    rows.worker(UUID.randomUUID(), "other-" + namespace, "q1", "ONLINE", time());
    Walk<WorkerView> all =
        new Walk<>(
            spec -> queries.workers(namespace, null, null, spec),
            () -> random.nextInt(1, 9),
            () -> {});

    List<WorkerView> forward = all.forward();
    List<WorkerView> lastPage = all.last().items();
    List<WorkerView> backward = all.backward();
    backward.addAll(lastPage);
    List<WorkerView> onlyOnline =
        new Walk<>(
                spec -> queries.workers(namespace, null, WorkerStatus.ONLINE, spec),
                () -> 7,
                () -> {})
            .forward();
    List<WorkerView> oneQueue =
        new Walk<>(spec -> queries.workers(namespace, "q2", null, spec), () -> 3, () -> {})
            .forward();

    assertThat(forward.stream().map(WorkerView::workerId))
        .doesNotHaveDuplicates()
        .containsExactlyInAnyOrderElementsOf(stored);
    assertThat(backward).isEqualTo(forward);
    assertThat(onlyOnline.stream().map(WorkerView::workerId))
        .containsExactlyInAnyOrderElementsOf(online);
    assertThat(oneQueue)
        .isEqualTo(forward.stream().filter(worker -> worker.taskQueue().equals("q2")).toList());
  }

  @Test
  void a_token_is_accepted_only_by_the_list_that_returned_it() {
    RunId run = insertRun();
    insertRun();
    rows.step(run, "a", 1, new byte[0], time());
    rows.step(run, "b", 1, new byte[0], time());
    String token = runs(new PageSpec(1, "", false, false)).nextToken();
    String steps =
        queries.steps(namespace, run, null, new PageSpec(1, "", false, false)).nextToken();
    PageSpec foreign = new PageSpec(1, token, false, false);

    assertThat(runs(foreign).items()).hasSize(1);
    assertRefused(() -> queries.steps(namespace, run, null, foreign));
    assertRefused(() -> queries.workers(namespace, null, null, foreign));
    assertRefused(() -> queries.runs(RunFilter.all("default"), foreign));
    assertRefused(() -> runs(new PageSpec(1, steps, false, false)));
    assertRefused(
        () ->
            queries.runs(
                new RunFilter(
                    namespace,
                    Set.of(RunStatus.FAILED),
                    null,
                    null,
                    null,
                    null,
                    null,
                    null,
                    null,
                    null,
                    false,
                    false),
                foreign));
    assertRefused(() -> runs(new PageSpec(1, "next:garbage", false, false)));
  }

  @Test
  void a_page_whose_rows_were_deleted_is_empty_and_has_no_tokens() {
    RunId older = insertRun();
    RunId newer = insertRun();
    String token = runs(new PageSpec(1, "", false, false)).nextToken();
    database.execute(
        "DELETE FROM kagzi.workflow_runs WHERE run_id IN ('%s', '%s')".formatted(older, newer));

    Page<RunView> page = runs(new PageSpec(1, token, false, false));

    assertThat(page).isEqualTo(new Page<RunView>(List.of(), "", "", false, 0));
  }

  private static void assertRefused(ThrowingCallable call) {
    assertThatExceptionOfType(Refusal.class)
        .isThrownBy(call)
        .satisfies(
            refusal -> assertThat(refusal.reason()).isEqualTo(Refusal.Reason.INVALID_ARGUMENT))
        .withMessageStartingWith("page_token");
  }

  private Page<RunView> runs(PageSpec spec) {
    return queries.runs(RunFilter.all(namespace), spec);
  }

  private static List<RunId> ids(List<RunView> runs) {
    return runs.stream().map(RunView::runId).toList();
  }

  private RunId insertRun() {
    return rows.insert(Rows.Run.of(namespace, time()));
  }

  private void insertRunOfAnotherNamespace() {
    rows.insert(Rows.Run.of("other-" + namespace, time()));
  }

  // Only twenty different microseconds, so that many rows share one.
  private Instant time() {
    return START.plus(random.nextInt(20), ChronoUnit.MICROS);
  }

  @SafeVarargs
  private <T> T pick(T... choices) {
    return choices[random.nextInt(choices.length)];
  }
}
