package dev.kagzi.engine.dispatch;

import static dev.kagzi.engine.TestEngine.NAMESPACE;
import static dev.kagzi.engine.TestEngine.TYPE;
import static dev.kagzi.engine.TestEngine.await;
import static dev.kagzi.engine.TestEngine.done;
import static dev.kagzi.engine.TestEngine.payload;
import static dev.kagzi.engine.TestEngine.stepDone;
import static java.util.stream.Collectors.counting;
import static java.util.stream.Collectors.groupingBy;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kagzi.engine.EngineConfig;
import dev.kagzi.engine.Stored;
import dev.kagzi.engine.TestDatabase;
import dev.kagzi.engine.TestEngine;
import dev.kagzi.engine.config.DispatchConfig;
import dev.kagzi.engine.metrics.DispatchMetrics;
import dev.kagzi.engine.run.Report;
import dev.kagzi.engine.run.StartOptions;
import dev.kagzi.engine.run.StartRequest;
import dev.kagzi.engine.run.StartResult;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.RecordedStep;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.TypeVersion;
import dev.kagzi.engine.value.WorkerId;
import dev.kagzi.engine.worker.WorkerRegistration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A poll gets the types, versions and amounts that it asked for, within the worker's limits. */
class PollLimitsTest {
  @RegisterExtension static final TestDatabase database = new TestDatabase();

  private static final DispatchConfig DEFAULTS = DispatchConfig.defaults();

  private TestEngine engine;
  private String queue;

  @BeforeEach
  void open(TestInfo test) {
    queue = test.getTestMethod().orElseThrow().getName();
    engine = TestEngine.start(database.config(), queue);
  }

  @AfterEach
  void close() {
    engine.close();
  }

  private void restart(int answerBytesMax) {
    engine.close();
    engine =
        TestEngine.start(
            database.config(),
            queue,
            EngineConfig.defaults()
                .withDispatch(
                    new DispatchConfig(
                        DEFAULTS.pollMax(),
                        DEFAULTS.firstLease(),
                        DEFAULTS.fallbackInterval(),
                        DEFAULTS.keepSlots(),
                        answerBytesMax,
                        DEFAULTS.claimers())));
  }

  private DispatchMetrics metrics() {
    return engine.engine().metrics().dispatch();
  }

  private WorkerId register(
      @Nullable Integer limit, Map<String, Integer> typeLimits, String... types) {
    List<TypeVersion> served = new ArrayList<>();
    for (String type : types) {
      served.add(new TypeVersion(type, ""));
    }
    return await(
        engine
            .engine()
            .workers()
            .register(
                new WorkerRegistration(
                    engine.queue(), served, true, "host", 1, "", Map.of(), limit, typeLimits, ""),
                null));
  }

  private Poll poll(WorkerId worker, int tasksMax, PollRequest.Wanted... types) {
    return engine
        .engine()
        .tasks()
        .poll(new PollRequest(engine.queue(), worker, List.of(types), tasksMax, 10_000));
  }

  private Poll pollOne(WorkerId worker, String... types) {
    return engine.engine().tasks().pollOne(engine.queue(), worker, List.of(types), 0);
  }

  private StartRequest request(String type, String version, Payload input) {
    return new StartRequest(
        NAMESPACE, "", queue, type, version, input, null, null, StartOptions.NONE);
  }

  private RunId start(String type, String version) {
    return await(engine.engine().runs().start(request(type, version, payload("1")))).runId();
  }

  private List<RunId> startMany(int count, String type) {
    List<StartRequest> requests = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      requests.add(request(type, "", payload("1")));
    }
    return engine.engine().runs().startAll(requests).stream()
        .map(TestEngine::await)
        .map(StartResult::runId)
        .toList();
  }

  private static List<RunId> ids(List<Task> tasks) {
    return tasks.stream().map(task -> task.claim().runId()).toList();
  }

  @Test
  void an_answer_holds_no_more_tasks_than_were_asked_for() {
    WorkerId worker = engine.register();
    List<RunId> runs = startMany(10, TYPE);

    List<RunId> first = ids(await(engine.poll(worker, 3).tasks()));
    List<RunId> second = ids(await(engine.poll(worker, 100).tasks()));

    assertThat(first).hasSize(3);
    assertThat(second).hasSize(7);
    assertThat(first).doesNotContainAnyElementsOf(second);
    assertThat(runs).containsAll(first).containsAll(second);
  }

  @Test
  void claim_queries_keep_the_maximum_of_a_type() {
    WorkerId worker = register(null, Map.of(), "a", "b");
    startMany(5, "a");
    startMany(5, "b");

    List<Task> tasks =
        await(
            poll(worker, 20, new PollRequest.Wanted("a", "", 2), new PollRequest.Wanted("b", "", 0))
                .tasks());

    assertThat(tasks.stream().collect(groupingBy(Task::workflowType, counting())))
        .isEqualTo(Map.of("a", 2L, "b", 5L));
  }

  @Test
  void claim_queries_keep_the_maximum_of_a_type_that_is_polled_for_in_any_version() {
    WorkerId worker = register(null, Map.of(), TYPE);
    for (int i = 0; i < 3; i++) {
      start(TYPE, "v1");
      start(TYPE, "v2");
    }

    List<Task> tasks = await(poll(worker, 20, new PollRequest.Wanted(TYPE, "*", 2)).tasks());

    assertThat(tasks).hasSize(2);
    assertThat(running()).isEqualTo(2);
    assertThat(await(poll(worker, 20, new PollRequest.Wanted(TYPE, "*", 0)).tasks())).hasSize(4);
  }

  @Test
  void starts_that_are_dispatched_directly_keep_the_maximum_of_a_type() {
    WorkerId idle = engine.register();
    engine.settle(idle);
    WorkerId worker = engine.register();
    Poll poll = poll(worker, 20, new PollRequest.Wanted(TYPE, "", 1));
    await(engine.engine().workers().deregister(null, idle, false));

    List<RunId> runs = startMany(3, TYPE);
    List<RunId> first = ids(await(poll.tasks()));
    List<RunId> second = ids(await(poll(worker, 20, new PollRequest.Wanted(TYPE, "", 2)).tasks()));

    assertThat(first).hasSize(1);
    assertThat(second).hasSize(2);
    assertThat(runs).containsAll(first).containsAll(second);
  }

  @Test
  void a_poll_without_versions_gets_runs_of_every_version() {
    WorkerId worker = register(null, Map.of(), TYPE);
    List<RunId> runs = List.of(start(TYPE, ""), start(TYPE, "v1"), start(TYPE, "v2"));

    List<RunId> got = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      got.addAll(ids(await(pollOne(worker, TYPE).tasks())));
    }
    Poll waiting = pollOne(worker, TYPE);
    RunId later = start(TYPE, "v3");

    assertThat(got).containsExactlyElementsOf(runs);
    assertThat(ids(await(waiting.tasks()))).containsExactly(later);
  }

  @Test
  void a_poll_for_a_version_gets_runs_of_that_version_only() {
    WorkerId worker = register(null, Map.of(), TYPE);
    start(TYPE, "");
    RunId wanted = start(TYPE, "v1");
    start(TYPE, "v2");
    start("other", "v1");

    Poll first = poll(worker, 10, new PollRequest.Wanted(TYPE, "v1", 0));
    List<RunId> got = ids(await(first.tasks()));
    Poll second = poll(worker, 10, new PollRequest.Wanted(TYPE, "v1", 0));
    start(TYPE, "v2");
    RunId next = start(TYPE, "v1");

    assertThat(got).containsExactly(wanted);
    assertThat(ids(await(second.tasks()))).containsExactly(next);
  }

  /** The server enforces queue_concurrency_limit for clients that poll for one task at a time. */
  @Test
  void a_worker_holds_no_more_runs_than_its_limit() {
    WorkerId worker = register(2, Map.of(), TYPE);
    startMany(3, TYPE);
    Task one = await(pollOne(worker, TYPE).tasks()).get(0);
    Task two = await(pollOne(worker, TYPE).tasks()).get(0);
    long claimRounds = metrics().claimRounds();

    Poll third = pollOne(worker, TYPE);
    Awaitility.await().until(() -> metrics().claimRounds() > claimRounds);
    boolean early = third.tasks().isDone();
    engine.report(done(one.claim(), "1"));

    assertThat(early).isFalse();
    assertThat(await(third.tasks())).hasSize(1);
    assertThat(two.claim().runId()).isNotEqualTo(one.claim().runId());
  }

  @Test
  void a_worker_holds_no_more_runs_of_a_type_than_its_limit_for_it() {
    WorkerId worker = register(null, Map.of("a", 1), "a", "b");
    startMany(2, "a");
    Task a = await(pollOne(worker, "a", "b").tasks()).get(0);
    long claimRounds = metrics().claimRounds();

    Poll second = pollOne(worker, "a", "b");
    Awaitility.await().until(() -> metrics().claimRounds() > claimRounds);
    RunId b = start("b", "");
    List<RunId> got = ids(await(second.tasks()));
    Poll third = pollOne(worker, "a", "b");
    engine.report(done(a.claim(), "1"));

    assertThat(got).containsExactly(b);
    assertThat(await(third.tasks())).extracting(Task::workflowType).containsExactly("a");
  }

  @Test
  void the_limit_of_a_type_holds_for_all_its_versions_together() {
    WorkerId worker = register(null, Map.of(TYPE, 1), TYPE);
    CompletableFuture<List<Task>> one = pollOne(worker, TYPE).tasks();
    CompletableFuture<List<Task>> two = pollOne(worker, TYPE).tasks();
    // No event announces them: one claim query, after the fallback, finds both.
    database.execute(
        """
        INSERT INTO kagzi.workflow_runs
               (run_id, namespace, task_queue, workflow_type, version, status, available_at, created_at)
        SELECT gen_random_uuid(), 'default', '%s', 'order', 'v' || i, 'PENDING', kagzi.clock(),
               kagzi.clock()
          FROM generate_series(1, 2) i
        """
            .formatted(queue));

    await(CompletableFuture.anyOf(one, two));
    long running = running();
    boolean both = one.isDone() && two.isDone();
    engine.report(done(await(one.isDone() ? one : two).getFirst().claim(), "1"));

    assertThat(running).isEqualTo(1);
    assertThat(both).isFalse();
    assertThat(await(one)).hasSize(1);
    assertThat(await(two)).hasSize(1);
  }

  @Test
  void each_waiting_poll_of_a_simple_client_gets_the_types_that_it_asked_for() {
    for (Integer limit : Arrays.asList(null, 10)) {
      WorkerId worker = register(limit, Map.of(), "a", "b");
      Poll pollA = pollOne(worker, "a");
      Poll pollB = pollOne(worker, "b");

      RunId b = start("b", "");
      RunId a = start("a", "");

      assertThat(ids(await(pollA.tasks()))).containsExactly(a);
      assertThat(ids(await(pollB.tasks()))).containsExactly(b);
    }
  }

  @Test
  void runs_of_types_that_a_poll_does_not_ask_for_count_for_the_limit_of_its_worker() {
    WorkerId worker = register(1, Map.of(), "a", "b");
    start("a", "");
    Task a = await(pollOne(worker, "a").tasks()).getFirst();
    RunId b = start("b", "");
    long claimRounds = metrics().claimRounds();

    Poll second = pollOne(worker, "b");
    Awaitility.await()
        .until(() -> second.tasks().isDone() || metrics().claimRounds() > claimRounds + 1);
    boolean early = second.tasks().isDone();
    engine.report(done(a.claim(), "1"));

    assertThat(early).isFalse();
    assertThat(ids(await(second.tasks()))).containsExactly(b);
  }

  private long running() {
    return new Stored(database)
        .count(
            "SELECT count(*) AS value FROM kagzi.workflow_runs WHERE status = 'RUNNING'"
                + " AND task_queue = '"
                + queue
                + "'");
  }

  @Test
  void a_history_that_is_too_big_for_a_task_comes_in_pages() {
    restart(100_000);
    WorkerId worker = engine.register();
    engine.start();
    Task task = engine.claimOne(worker);
    String big = '"' + "x".repeat(600_000) + '"';
    for (int i = 1; i <= 3; i++) {
      engine.report(stepDone(task.claim(), "step-" + i, big));
    }
    engine.report(new Report.Released(task.claim(), 0, null));

    Task again = engine.claimOne(worker);
    List<List<RecordedStep>> pages = new ArrayList<>();
    engine.engine().tasks().history(NAMESPACE, again.claim(), pages::add);

    assertThat(again.historyApart()).isTrue();
    assertThat(again.steps()).isEmpty();
    assertThat(pages).hasSize(3);
    assertThat(pages.stream().flatMap(List::stream).map(RecordedStep::stepKey))
        .containsExactly("step-1", "step-2", "step-3");
    assertThat(pages.get(0).get(0).result())
        .isEqualTo(new RecordedStep.Result.Output(payload(big)));
    assertThatThrownBy(() -> engine.engine().tasks().history(NAMESPACE, task.claim(), page -> {}))
        .isInstanceOfSatisfying(
            Refusal.class,
            refusal -> assertThat(refusal.code()).isEqualTo(Refusal.Code.CLAIM_LOST));
  }

  @Test
  void an_answer_is_no_bigger_than_its_limit_and_the_rest_comes_next() {
    restart(10_000);
    WorkerId worker = engine.register();
    Payload input = payload('"' + "x".repeat(4_000) + '"');
    List<StartRequest> requests = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      requests.add(request(TYPE, "", input));
    }
    List<RunId> runs =
        engine.engine().runs().startAll(requests).stream()
            .map(TestEngine::await)
            .map(StartResult::runId)
            .toList();

    List<RunId> got = new ArrayList<>();
    while (got.size() < 5) {
      List<Task> tasks = await(engine.poll(worker, 10).tasks());
      assertThat(tasks.stream().mapToInt(Task::bytes).sum()).isBetween(1, 10_000);
      assertThat(tasks).allMatch(task -> task.claim().epoch() == 1);
      got.addAll(ids(tasks));
    }

    assertThat(got).containsExactlyInAnyOrderElementsOf(runs);
  }
}
