package dev.kagzi.engine.internal.dispatch;

import static dev.kagzi.engine.TestEngine.NAMESPACE;
import static dev.kagzi.engine.TestEngine.TYPE;
import static dev.kagzi.engine.TestEngine.await;
import static dev.kagzi.engine.TestEngine.payload;
import static dev.kagzi.engine.TestEngine.stepFailed;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.engine.EngineConfig;
import dev.kagzi.engine.Holds;
import dev.kagzi.engine.TestClock;
import dev.kagzi.engine.TestDatabase;
import dev.kagzi.engine.TestEngine;
import dev.kagzi.engine.TestSchedules;
import dev.kagzi.engine.Valve;
import dev.kagzi.engine.config.DispatchConfig;
import dev.kagzi.engine.dispatch.Poll;
import dev.kagzi.engine.dispatch.PollRequest;
import dev.kagzi.engine.dispatch.Task;
import dev.kagzi.engine.metrics.DispatchMetrics;
import dev.kagzi.engine.retry.RetryPolicy;
import dev.kagzi.engine.run.Report;
import dev.kagzi.engine.run.StartOptions;
import dev.kagzi.engine.run.StartRequest;
import dev.kagzi.engine.run.StartResult;
import dev.kagzi.engine.schedule.Schedules;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.RecordedStep;
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

/** How due runs reach waiting workers. */
class DispatcherTest {
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

  private void restart(Duration keepSlots, Duration fallbackInterval) {
    engine.close();
    engine =
        start(
            new DispatchConfig(
                DEFAULTS.pollMax(),
                DEFAULTS.firstLease(),
                fallbackInterval,
                keepSlots,
                DEFAULTS.answerBytesMax(),
                DEFAULTS.claimers()));
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

  private StartRequest request(String type, String version, Payload input) {
    return new StartRequest(
        NAMESPACE, "", queue, type, version, input, null, null, StartOptions.NONE);
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

  /** The poll is in its queue before the claim query is sent. */
  @Test
  void a_start_during_a_claim_query_is_not_lost() throws Exception {
    WorkerId worker = engine.register();

    Poll poll;
    RunId run;
    try (Holds.Hold claim = holds.commitAfter(CLAIM)) {
      poll = engine.poll(worker, 1);
      claim.awaitReached();
      run = engine.start();
    }

    assertThat(ids(await(poll.tasks()))).containsExactly(run);
    assertThat(metrics().fallbackClaimed()).isZero();
    assertThat(metrics().handedOver()).isZero();
  }

  /** The same after the claim query, before the queue has set its wake-up timer. */
  @Test
  void a_start_between_claim_query_and_wake_up_timer_is_not_lost() throws Exception {
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
    assertThat(metrics().fallbackClaimed()).isZero();
  }

  /** One message announces all of these runs, without their number. */
  @Test
  void runs_that_a_schedule_starts_together_are_all_dispatched_at_once() {
    WorkerId worker = engine.register();
    engine.settle(worker);
    Schedules schedules = engine.engine().schedules();
    RunId schedule =
        schedules
            .create(
                new Schedules.Creation(
                    NAMESPACE,
                    TestSchedules.spec(queue, queue, TestEngine.TYPE, "0 * * * *"),
                    null,
                    false,
                    false,
                    null))
            .id();
    Poll poll = engine.poll(worker, 10);

    engine
        .engine()
        .scheduleStarts()
        .backfill(
            NAMESPACE,
            schedule,
            Instant.parse("2026-01-01T00:00:00Z"),
            Instant.parse("2026-01-01T05:00:00Z"),
            null);

    int received = await(poll.tasks()).size();
    while (received < 5) {
      received += await(engine.poll(worker, 10).tasks()).size();
    }
    assertThat(metrics().fallbackClaimed()).isZero();
  }

  @Test
  void runs_without_an_event_are_found_while_runs_with_an_event_keep_coming() throws Exception {
    restart(Duration.ZERO, Duration.ofMillis(200));
    WorkerId worker = engine.register();
    engine.settle(worker);
    // Keeps the queue and its backlogs while the worker does not poll.
    poll(register(null, Map.of(), "other"), 1, new PollRequest.Wanted("other", "", 0));
    database.execute(
        """
        INSERT INTO kagzi.workflow_runs
               (run_id, namespace, task_queue, workflow_type, version, status, available_at, created_at)
        SELECT gen_random_uuid(), 'default', '%s', 'order', '', 'PENDING', kagzi.clock(), kagzi.clock()
          FROM generate_series(1, 5)
        """
            .formatted(queue));

    int received = 0;
    int started = 0;
    while (received < started + 5 && started < 400) {
      startMany(2, TestEngine.TYPE);
      started += 2;
      received += await(engine.poll(worker, 20).tasks()).size();
    }

    assertThat(received).isEqualTo(started + 5);
    assertThat(metrics().fallbackClaimed()).isZero();
  }

  /** The wake-up timer of the queue finds the run, not the end of the poll. */
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
    assertThat(metrics().fallbackClaimed()).isZero();
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
    assertThat(metrics().fallbackClaimed()).isZero();
  }

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
    assertThat(metrics().fallbackClaimed()).isZero();
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
    assertThat(metrics().fallbackClaimed()).isZero();
  }

  /** No thundering herd. */
  @Test
  void one_start_fills_one_slot_without_a_claim_query() {
    WorkerId first = engine.register();
    engine.settle(first);
    List<Poll> polls = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      polls.add(engine.poll(engine.register(), 1));
    }
    await(engine.engine().workers().deregister(null, first, false));
    long claimRounds = metrics().claimRounds();

    engine.start();
    Awaitility.await().until(() -> polls.stream().anyMatch(poll -> poll.tasks().isDone()));
    long woken = polls.stream().filter(poll -> poll.tasks().isDone()).count();
    startMany(7, TYPE);
    Set<RunId> all = new HashSet<>();
    polls.forEach(poll -> all.addAll(ids(await(poll.tasks()))));

    assertThat(woken).isEqualTo(1);
    assertThat(all).hasSize(8);
    assertThat(metrics().claimRounds()).isEqualTo(claimRounds);
  }

  @Test
  void one_claim_query_is_spread_over_the_waiting_polls() throws Exception {
    WorkerId one = engine.register();
    WorkerId two = engine.register();
    WorkerId three = engine.register();

    List<Poll> polls = new ArrayList<>();
    List<RunId> runs;
    try (Holds.Hold claim = holds.commitAfter(CLAIM)) {
      polls.add(engine.poll(one, 4));
      claim.awaitReached();
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
    assertThat(metrics().claimRounds()).isLessThanOrEqualTo(3);
  }

  /** They do not wait until their lease expires. */
  @Test
  void tasks_of_a_cancelled_poll_go_to_others_and_are_no_crash() throws Exception {
    WorkerId gone = engine.register();
    WorkerId other = engine.register();
    RunId run = engine.start();

    Poll waiting;
    try (Holds.Hold claim = holds.commitAfter(CLAIM)) {
      Poll cancelled = engine.poll(gone, 1);
      claim.awaitReached();
      cancelled.cancel();
      waiting = engine.poll(other, 1);
      assertThat(await(cancelled.tasks())).isEmpty();
    }

    assertThat(await(waiting.tasks()).get(0).claim()).isEqualTo(new Claim(run, 2));
    assertThat(engine.run(run).crashes()).isZero();
    assertThat(engine.run(run).workerId()).isEqualTo(other);
  }

  @Test
  void a_start_between_two_polls_is_dispatched_to_the_next_poll() {
    restart(Duration.ofSeconds(10), DEFAULTS.fallbackInterval());
    WorkerId worker = engine.register();
    engine.settle(worker);
    Poll first = engine.poll(worker, 5);
    engine.start();
    await(first.tasks());
    long handedOver = metrics().handedOver();
    long claimRounds = metrics().claimRounds();

    RunId between = engine.start();
    List<Task> second = await(engine.poll(worker, 5).tasks());

    assertThat(ids(second)).containsExactly(between);
    assertThat(second.get(0).claim().epoch()).isEqualTo(1);
    assertThat(metrics().handedOver()).isEqualTo(handedOver + 1);
    assertThat(metrics().claimRounds()).isEqualTo(claimRounds);
  }

  @Test
  void a_start_prefers_a_waiting_poll_to_a_kept_slot() {
    restart(Duration.ofSeconds(10), DEFAULTS.fallbackInterval());
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
  void a_start_whose_worker_does_not_poll_again_goes_to_another() {
    restart(Duration.ofSeconds(3), DEFAULTS.fallbackInterval());
    WorkerId worker = engine.register();
    engine.settle(worker);
    Poll first = engine.poll(worker, 5);
    engine.start();
    await(first.tasks());
    long handedOver = metrics().handedOver();
    RunId run = engine.start();
    long handedOverTo = metrics().handedOver();

    Task task = engine.claimOne(engine.register());

    assertThat(handedOverTo).isEqualTo(handedOver + 1);
    assertThat(task.claim()).isEqualTo(new Claim(run, 2));
    assertThat(engine.run(run).crashes()).isZero();
  }
}
