package dev.kagzi.engine.dispatch;

import static dev.kagzi.engine.TestEngine.NAMESPACE;
import static dev.kagzi.engine.TestEngine.TYPE;
import static dev.kagzi.engine.TestEngine.await;
import static dev.kagzi.engine.TestEngine.done;
import static dev.kagzi.engine.TestEngine.payload;
import static dev.kagzi.engine.TestEngine.stepDone;
import static dev.kagzi.engine.TestEngine.stepFailed;
import static java.util.stream.Collectors.counting;
import static java.util.stream.Collectors.groupingBy;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kagzi.engine.EngineConfig;
import dev.kagzi.engine.Holds;
import dev.kagzi.engine.TestClock;
import dev.kagzi.engine.TestDatabase;
import dev.kagzi.engine.TestEngine;
import dev.kagzi.engine.Valve;
import dev.kagzi.engine.retry.RetryPolicy;
import dev.kagzi.engine.run.StartRequest;
import dev.kagzi.engine.run.StartResult;
import dev.kagzi.engine.schedule.ScheduleSpec;
import dev.kagzi.engine.schedule.Schedules;
import dev.kagzi.engine.step.RecordedStep;
import dev.kagzi.engine.transition.Report;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.TypeVersion;
import dev.kagzi.engine.value.WorkerId;
import dev.kagzi.engine.worker.WorkerRegistration;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.extension.RegisterExtension;

/** How due runs reach waiting workers (W21, W22, W25, W26, C30, R119-R123). */
class TaskQueueTest {
  @RegisterExtension static final TestDatabase database = new TestDatabase();

  private static final String CLAIM = "WITH c AS MATERIALIZED";
  private static final DispatchConfig DEFAULTS = DispatchConfig.defaults();

  private Holds holds;
  private TestEngine engine;
  private String queue;

  @BeforeEach
  void open(TestInfo test) {
    queue = test.getTestMethod().orElseThrow().getName();
    holds = new Holds(database.config());
    engine = start(DEFAULTS);
  }

  @AfterEach
  void close() {
    engine.close();
  }

  private TestEngine start(DispatchConfig dispatch) {
    return TestEngine.start(
        database.config(), queue, EngineConfig.defaults().withDispatch(dispatch), holds);
  }

  private void restart(Duration linger, Duration fallbackLook) {
    engine.close();
    engine =
        start(
            new DispatchConfig(
                DEFAULTS.pollMax(),
                DEFAULTS.firstLease(),
                fallbackLook,
                linger,
                DEFAULTS.answerBytesMax(),
                DEFAULTS.claimers()));
  }

  private void restart(Duration linger, int answerBytesMax) {
    engine.close();
    engine =
        start(
            new DispatchConfig(
                DEFAULTS.pollMax(),
                DEFAULTS.firstLease(),
                DEFAULTS.fallbackInterval(),
                linger,
                answerBytesMax,
                DEFAULTS.claimers()));
  }

  private DispatchMetrics meter() {
    return engine.engine().meter().dispatch();
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
                    engine.queue(), served, true, "host", 1, "", Map.of(), limit, typeLimits, "")));
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
    return new StartRequest(NAMESPACE, "", queue, type, version, input, null, null);
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

  /** W21: the poll stands before the gate looks, so nothing falls between. */
  @Test
  void a_start_while_the_gate_looks_is_not_lost() throws Exception {
    WorkerId worker = engine.register();

    Poll poll;
    RunId run;
    try (Holds.Hold look = holds.commitAfter(CLAIM)) {
      poll = engine.poll(worker, 1);
      look.awaitReached();
      run = engine.start();
    }

    assertThat(ids(await(poll.tasks()))).containsExactly(run);
    assertThat(meter().fallbackClaimed()).isZero();
    assertThat(meter().handedOver()).isZero();
  }

  /** The same when the gate has looked, and has yet to set its timer. */
  @Test
  void a_start_after_the_look_and_before_the_wait_is_not_lost() throws Exception {
    WorkerId worker = engine.register();
    Valve.inClockOf(database, "AS due_ms");

    Poll poll;
    RunId run;
    try (Valve valve = new Valve(database)) {
      poll = engine.poll(worker, 1);
      valve.awaitSomebodyWaiting();
      run = engine.start();
    } finally {
      new TestClock(database).reset();
    }

    assertThat(ids(await(poll.tasks()))).containsExactly(run);
    assertThat(meter().fallbackClaimed()).isZero();
  }

  /** One notice tells of all of them, and of how many nobody knows. */
  @Test
  void runs_that_a_schedule_makes_at_once_are_all_handed_out_at_once() {
    WorkerId worker = engine.register();
    engine.settle(worker);
    Schedules schedules = engine.engine().schedules();
    RunId schedule =
        schedules
            .create(
                new Schedules.Creation(
                    NAMESPACE,
                    ScheduleSpec.of(queue, queue, TestEngine.TYPE, "0 * * * *"),
                    null,
                    false,
                    false))
            .id();
    Poll poll = engine.poll(worker, 10);

    schedules.backfill(
        NAMESPACE,
        schedule,
        Instant.parse("2026-01-01T00:00:00Z"),
        Instant.parse("2026-01-01T05:00:00Z"));

    int handed = await(poll.tasks()).size();
    while (handed < 5) {
      handed += await(engine.poll(worker, 10).tasks()).size();
    }
    assertThat(meter().fallbackClaimed()).isZero();
  }

  @Test
  void runs_that_nobody_told_of_are_found_although_told_ones_keep_coming() throws Exception {
    restart(Duration.ZERO, Duration.ofMillis(200));
    WorkerId worker = engine.register();
    engine.settle(worker);
    // Keeps the gate, and what it knows, while the worker is away.
    poll(register(null, Map.of(), "other"), 1, new PollRequest.Wanted("other", "", 0));
    database.execute(
        """
        INSERT INTO kagzi.workflow_runs
               (run_id, namespace, task_queue, workflow_type, version, status, available_at, created_at)
        SELECT gen_random_uuid(), 'default', '%s', 'order', '', 'PENDING', kagzi.clock(), kagzi.clock()
          FROM generate_series(1, 5)
        """
            .formatted(queue));

    int taken = 0;
    int told = 0;
    while (taken < told + 5 && told < 400) {
      startMany(2, TestEngine.TYPE);
      told += 2;
      taken += await(engine.poll(worker, 20).tasks()).size();
    }

    assertThat(taken).isEqualTo(told + 5);
    assertThat(meter().fallbackClaimed()).isZero();
  }

  /** W22: what falls due later wakes a waiting poll by a timer, not by the end of the poll. */
  @Test
  void a_retry_wakes_a_waiting_poll_on_time() {
    WorkerId worker = engine.register();
    RunId run = engine.start();
    Task task = engine.claimOne(worker);
    RetryPolicy policy = new RetryPolicy(3, 1_300, 1, 1_300, 0, List.of());

    long failedAt = System.nanoTime();
    engine.report(stepFailed(task.claim(), "charge", 1, policy));
    Task again = engine.claimOne(worker);
    long waitedMs = (System.nanoTime() - failedAt) / 1_000_000;

    assertThat(again.claim()).isEqualTo(new Claim(run, 2));
    assertThat(again.steps().get(0).result()).isInstanceOf(RecordedStep.Result.Retry.class);
    assertThat(waitedMs).isGreaterThanOrEqualTo(1_300);
    assertThat(meter().fallbackClaimed()).isZero();
  }

  @Test
  void several_sleeps_wake_each_at_its_time() {
    WorkerId worker = engine.register();
    startMany(3, TYPE);
    List<Task> tasks = new ArrayList<>();
    while (tasks.size() < 3) {
      tasks.addAll(await(engine.poll(worker, 3).tasks()));
    }
    long begun = System.nanoTime();
    engine.report(
        List.of(
            TestEngine.sleep(tasks.get(0).claim(), "nap", 1_800),
            TestEngine.sleep(tasks.get(1).claim(), "nap", 1_000),
            TestEngine.sleep(tasks.get(2).claim(), "nap", 1_400)));

    List<RunId> woken = new ArrayList<>();
    List<Long> afterMs = new ArrayList<>();
    while (woken.size() < 3) {
      for (Task task : await(engine.poll(worker, 1).tasks())) {
        woken.add(task.claim().runId());
        afterMs.add((System.nanoTime() - begun) / 1_000_000);
      }
    }

    assertThat(woken)
        .containsExactly(
            tasks.get(1).claim().runId(),
            tasks.get(2).claim().runId(),
            tasks.get(0).claim().runId());
    assertThat(afterMs.get(0)).isGreaterThanOrEqualTo(1_000);
    assertThat(afterMs.get(1)).isGreaterThanOrEqualTo(1_400);
    assertThat(afterMs.get(2)).isGreaterThanOrEqualTo(1_800);
    assertThat(meter().fallbackClaimed()).isZero();
  }

  /** W23, R122: whatever becomes claimable is told, not only starts. */
  @Test
  void a_release_wakes_a_waiting_poll() {
    WorkerId worker = engine.register();
    engine.settle(worker);
    WorkerId other = engine.register();
    RunId run = engine.start();
    Task task = engine.claimOne(worker);
    Poll waiting = engine.poll(other, 1);

    engine.report(new Report.Released(task.claim(), 0, null));

    assertThat(await(waiting.tasks()).get(0).claim()).isEqualTo(new Claim(run, 2));
    assertThat(meter().fallbackClaimed()).isZero();
  }

  @Test
  void a_worker_that_leaves_wakes_a_waiting_poll() {
    WorkerId worker = engine.register();
    engine.settle(worker);
    WorkerId other = engine.register();
    RunId run = engine.start();
    engine.claimOne(worker);
    Poll waiting = engine.poll(other, 1);

    await(engine.engine().workers().deregister(null, worker, false));

    assertThat(await(waiting.tasks()).get(0).claim()).isEqualTo(new Claim(run, 2));
    assertThat(meter().fallbackClaimed()).isZero();
  }

  /** W25: no herd. */
  @Test
  void one_start_wakes_one_slot_and_asks_nobody() {
    WorkerId first = engine.register();
    engine.settle(first);
    List<Poll> polls = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      polls.add(engine.poll(engine.register(), 1));
    }
    await(engine.engine().workers().deregister(null, first, false));
    long looks = meter().claimRounds();

    engine.start();
    Awaitility.await().until(() -> polls.stream().anyMatch(poll -> poll.tasks().isDone()));
    long woken = polls.stream().filter(poll -> poll.tasks().isDone()).count();
    startMany(7, TYPE);
    Set<RunId> all = new HashSet<>();
    polls.forEach(poll -> all.addAll(ids(await(poll.tasks()))));

    assertThat(woken).isEqualTo(1);
    assertThat(all).hasSize(8);
    assertThat(meter().claimRounds()).isEqualTo(looks);
  }

  /** W26: one look fills the slots of all who wait, in turn. */
  @Test
  void one_look_is_spread_over_the_waiting_polls() throws Exception {
    WorkerId one = engine.register();
    WorkerId two = engine.register();
    WorkerId three = engine.register();

    List<Poll> polls = new ArrayList<>();
    List<RunId> runs;
    try (Holds.Hold look = holds.commitAfter(CLAIM)) {
      polls.add(engine.poll(one, 4));
      look.awaitReached();
      polls.add(engine.poll(two, 4));
      polls.add(engine.poll(three, 4));
      runs = startMany(9, TYPE);
    }

    List<RunId> got = new ArrayList<>();
    for (Poll poll : polls) {
      List<RunId> share = ids(await(poll.tasks()));
      assertThat(share).hasSize(3);
      got.addAll(share);
    }
    assertThat(got).containsExactlyInAnyOrderElementsOf(runs);
    assertThat(meter().claimRounds()).isLessThanOrEqualTo(3);
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
  void a_types_own_maximum_is_kept_by_looks() {
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
  void a_types_own_maximum_is_kept_by_starts_that_are_handed_over() {
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

  /** W26: an answer that nobody waits for any more is not lost for the length of a lease. */
  @Test
  void tasks_of_a_cancelled_poll_go_to_others_and_count_nowhere() throws Exception {
    WorkerId gone = engine.register();
    WorkerId other = engine.register();
    RunId run = engine.start();

    Poll waiting;
    try (Holds.Hold look = holds.commitAfter(CLAIM)) {
      Poll cancelled = engine.poll(gone, 1);
      look.awaitReached();
      cancelled.cancel();
      waiting = engine.poll(other, 1);
      assertThat(await(cancelled.tasks())).isEmpty();
    }

    assertThat(await(waiting.tasks()).get(0).claim()).isEqualTo(new Claim(run, 2));
    assertThat(engine.run(run).crashes()).isZero();
    assertThat(engine.run(run).workerId()).isEqualTo(other);
  }

  @Test
  void a_start_between_two_polls_waits_for_the_next() {
    restart(Duration.ofSeconds(10), DEFAULTS.answerBytesMax());
    WorkerId worker = engine.register();
    engine.settle(worker);
    Poll first = engine.poll(worker, 5);
    engine.start();
    await(first.tasks());
    long handedOver = meter().handedOver();
    long looks = meter().claimRounds();

    RunId between = engine.start();
    List<Task> second = await(engine.poll(worker, 5).tasks());

    assertThat(ids(second)).containsExactly(between);
    assertThat(second.get(0).claim().epoch()).isEqualTo(1);
    assertThat(meter().handedOver()).isEqualTo(handedOver + 1);
    assertThat(meter().claimRounds()).isEqualTo(looks);
  }

  /** A worker that waits is quicker than one that is about to. */
  @Test
  void a_start_goes_to_a_poll_that_stands_rather_than_to_one_that_may_come() {
    restart(Duration.ofSeconds(10), DEFAULTS.answerBytesMax());
    WorkerId away = engine.register();
    engine.settle(away);
    Poll answered = engine.poll(away, 100);
    engine.start();
    await(answered.tasks());
    Poll waiting = engine.poll(engine.register(), 1);

    RunId run = engine.start();

    assertThat(ids(await(waiting.tasks()))).containsExactly(run);
  }

  @Test
  void a_start_that_its_worker_does_not_come_for_goes_to_another() {
    restart(Duration.ofSeconds(3), DEFAULTS.answerBytesMax());
    WorkerId worker = engine.register();
    engine.settle(worker);
    Poll first = engine.poll(worker, 5);
    engine.start();
    await(first.tasks());
    long handedOver = meter().handedOver();
    RunId run = engine.start();
    long handedOverTo = meter().handedOver();

    Task task = engine.claimOne(engine.register());

    assertThat(handedOverTo).isEqualTo(handedOver + 1);
    assertThat(task.claim()).isEqualTo(new Claim(run, 2));
    assertThat(engine.run(run).crashes()).isZero();
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

  /** The wire's queue_concurrency_limit, kept for clients that poll task by task. */
  @Test
  void a_worker_holds_no_more_runs_than_its_limit() {
    WorkerId worker = register(2, Map.of(), TYPE);
    startMany(3, TYPE);
    Task one = await(pollOne(worker, TYPE).tasks()).get(0);
    Task two = await(pollOne(worker, TYPE).tasks()).get(0);
    long looks = meter().claimRounds();

    Poll third = pollOne(worker, TYPE);
    Awaitility.await().until(() -> meter().claimRounds() > looks);
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
    long looks = meter().claimRounds();

    Poll second = pollOne(worker, "a", "b");
    Awaitility.await().until(() -> meter().claimRounds() > looks);
    RunId b = start("b", "");
    List<RunId> got = ids(await(second.tasks()));
    Poll third = pollOne(worker, "a", "b");
    engine.report(done(a.claim(), "1"));

    assertThat(got).containsExactly(b);
    assertThat(await(third.tasks())).extracting(Task::workflowType).containsExactly("a");
  }

  @Test
  void a_history_that_is_too_big_for_a_task_comes_in_pages() {
    restart(DEFAULTS.keepSlots(), 100_000);
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
            refusal -> assertThat(refusal.reason()).isEqualTo(Refusal.Reason.ABORTED));
  }

  @Test
  void an_answer_is_no_bigger_than_its_limit_and_the_rest_comes_next() {
    restart(DEFAULTS.keepSlots(), 10_000);
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
