package dev.kagzi.engine.namespace;

import static dev.kagzi.engine.TestEngine.TYPE;
import static dev.kagzi.engine.TestEngine.await;
import static dev.kagzi.engine.TestEngine.payload;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import dev.kagzi.engine.EngineConfig;
import dev.kagzi.engine.TestDatabase;
import dev.kagzi.engine.TestEngine;
import dev.kagzi.engine.TestSchedules;
import dev.kagzi.engine.dispatch.Poll;
import dev.kagzi.engine.dispatch.PollRequest;
import dev.kagzi.engine.dispatch.Task;
import dev.kagzi.engine.internal.db.Database;
import dev.kagzi.engine.run.Report;
import dev.kagzi.engine.run.RetryResult;
import dev.kagzi.engine.run.StartOptions;
import dev.kagzi.engine.run.StartRequest;
import dev.kagzi.engine.run.StartResult;
import dev.kagzi.engine.schedule.ScheduleView;
import dev.kagzi.engine.value.QueueName;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.Shard;
import dev.kagzi.engine.value.TypeVersion;
import dev.kagzi.engine.value.WorkerId;
import dev.kagzi.engine.worker.WorkerRegistration;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A disabled namespace, on the server that disabled it and on another. */
class DisabledTest {
  @RegisterExtension static final TestDatabase database = new TestDatabase();

  private final String name = "ns-" + UUID.randomUUID();
  private final QueueName queue = new QueueName(name, "q");
  private TestEngine here;
  private TestEngine there;

  @BeforeEach
  void open() {
    here = TestEngine.start(database.config(), "q", EngineConfig.defaults());
    there = TestEngine.start(database.config(), "q", EngineConfig.defaults());
    here.engine().namespaces().create(name, "", "", null, null);
  }

  @AfterEach
  void close() {
    here.close();
    there.close();
  }

  private WorkerId register(TestEngine engine) {
    return await(
        engine
            .engine()
            .workers()
            .register(
                new WorkerRegistration(
                    queue,
                    List.of(new TypeVersion(TYPE, "")),
                    false,
                    "host",
                    1,
                    "",
                    Map.of(),
                    null,
                    Map.of(),
                    ""),
                null));
  }

  private Poll poll(TestEngine engine, WorkerId worker, long waitMs) {
    return engine
        .engine()
        .tasks()
        .poll(
            new PollRequest(
                queue, worker, List.of(new PollRequest.Wanted(TYPE, "", 0)), 1, waitMs));
  }

  private RunId start(TestEngine engine) {
    return await(
            engine
                .engine()
                .runs()
                .start(
                    new StartRequest(
                        name, "", "q", TYPE, "", payload("1"), null, null, StartOptions.NONE)))
        .runId();
  }

  @Test
  void a_disabled_namespace_accepts_no_start_on_any_server() {
    start(here);
    start(there);

    here.engine().namespaces().setEnabled(name, false, null);

    assertRefused(here);
    await().atMost(Duration.ofSeconds(5)).untilAsserted(() -> assertRefused(there));
    here.engine().namespaces().setEnabled(name, true, null);
    start(here);
    await().atMost(Duration.ofSeconds(5)).untilAsserted(() -> assertThat(start(there)).isNotNull());
  }

  /** The caller may be a Netty event loop. */
  @Test
  void a_poll_does_not_block_its_caller_while_the_namespace_is_read() throws Exception {
    WorkerId worker = register(here);
    CountDownLatch locked = new CountDownLatch(1);
    CountDownLatch answered = new CountDownLatch(1);
    try (Database own = Database.open(database.config());
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<Boolean> lock =
          threads.submit(
              () ->
                  own.write(
                      tx -> {
                        tx.query("LOCK TABLE kagzi.namespaces").execute();
                        locked.countDown();
                        return waitFor(answered);
                      }));
      assertThat(locked.await(10, TimeUnit.SECONDS)).isTrue();

      Future<Poll> poll = threads.submit(() -> poll(there, worker, 20_000));
      try {
        poll.get(5, TimeUnit.SECONDS);
      } finally {
        answered.countDown();
      }
      lock.get(10, TimeUnit.SECONDS);

      RunId run = start(here);
      assertThat(TestEngine.await(poll.get().tasks()))
          .extracting(task -> task.claim().runId())
          .containsExactly(run);
    }
  }

  private static boolean waitFor(CountDownLatch latch) {
    try {
      return latch.await(20, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private void assertRefused(TestEngine engine) {
    assertThatExceptionOfType(Refusal.class)
        .isThrownBy(() -> start(engine))
        .satisfies(
            refusal -> assertThat(refusal.reason()).isEqualTo(Refusal.Reason.FAILED_PRECONDITION));
  }

  @Test
  void a_repeated_start_with_its_run_id_gets_its_first_answer() {
    RunId chosen = RunId.next(Shard.of(name, "mine"));
    RunId retried = RunId.next(chosen.shard());
    assertThat(start(here, chosen, TYPE, "mine")).isEqualTo(StartResult.made(chosen));
    await(here.engine().runs().cancel(name, chosen));
    assertThat(await(here.engine().runs().retry(name, chosen, retried, null)).runId())
        .isEqualTo(retried);

    here.engine().namespaces().setEnabled(name, false, null);

    for (TestEngine engine : List.of(here, there)) {
      await().atMost(Duration.ofSeconds(5)).until(() -> isShut(engine));
      assertThat(start(engine, chosen, TYPE, "mine")).isEqualTo(StartResult.made(chosen));
      assertThat(await(engine.engine().runs().retry(name, chosen, retried, null)))
          .isEqualTo(new RetryResult(retried, false));
      assertDisabled(() -> start(engine, RunId.next(), TYPE, "new"));
      assertDisabled(() -> start(engine, null, TYPE, "mine"));
      assertDisabled(() -> start(engine, chosen, "other", "mine"));
      assertDisabled(() -> start(engine, chosen, TYPE, "other"));
      assertDisabled(
          () ->
              await(engine.engine().runs().retry(name, chosen, RunId.next(chosen.shard()), null)));
    }
    assertThat(here.engine().queries().depth(name, null).pending()).isEqualTo(1);
  }

  @Test
  void a_repeated_trigger_with_its_run_id_gets_its_first_answer() {
    ScheduleView schedule =
        here.engine()
            .schedules()
            .create(
                TestSchedules.creation(name, TestSchedules.spec("yearly", "q", TYPE, "0 0 1 1 *")));
    RunId chosen =
        here.engine()
            .scheduleStarts()
            .trigger(name, schedule.id(), RunId.next(schedule.id().shard()));

    here.engine().namespaces().setEnabled(name, false, null);

    assertThat(here.engine().scheduleStarts().trigger(name, schedule.id(), chosen))
        .isEqualTo(chosen);
    assertDisabled(
        () ->
            here.engine()
                .scheduleStarts()
                .trigger(name, schedule.id(), RunId.next(schedule.id().shard())));
    assertDisabled(() -> here.engine().scheduleStarts().trigger(name, schedule.id(), null));
  }

  @Test
  void starts_in_one_call_are_refused_or_repeated_separately() {
    List<RunId> made = Stream.generate(RunId::next).limit(50).toList();
    made.forEach(id -> start(here, id, TYPE, ""));
    here.engine().namespaces().setEnabled(name, false, null);
    List<RunId> asked = new ArrayList<>(made);
    Stream.generate(RunId::next).limit(50).forEach(asked::add);

    List<CompletableFuture<StartResult>> answers =
        asked.stream().map(id -> here.engine().runs().start(request(id, TYPE, ""))).toList();

    for (int i = 0; i < asked.size(); i++) {
      CompletableFuture<StartResult> answer = answers.get(i);
      if (i < made.size()) {
        assertThat(await(answer).runId()).isEqualTo(asked.get(i));
      } else {
        assertDisabled(() -> await(answer));
      }
    }
  }

  private boolean isShut(TestEngine engine) {
    return !engine.engine().namespaces().check(name);
  }

  private StartResult start(
      TestEngine engine, @Nullable RunId runId, String type, String externalId) {
    return await(engine.engine().runs().start(request(runId, type, externalId)));
  }

  private StartRequest request(@Nullable RunId runId, String type, String externalId) {
    return new StartRequest(
        name, externalId, "q", type, "", payload("1"), null, runId, StartOptions.NONE);
  }

  private static void assertDisabled(ThrowingCallable start) {
    assertThatExceptionOfType(Refusal.class)
        .isThrownBy(start)
        .satisfies(
            refusal -> assertThat(refusal.code()).isEqualTo(Refusal.Code.NAMESPACE_DISABLED));
  }

  @Test
  void a_waiting_poll_gets_no_tasks_while_disabled_and_gets_them_once_enabled() {
    for (TestEngine engine : List.of(here, there)) {
      WorkerId worker = register(engine);
      // The poll adds the namespace to the cache of this server.
      await(poll(engine, worker, 50).tasks());
      start(here);
      Task task = await(poll(engine, worker, 20_000).tasks()).get(0);
      here.engine().namespaces().setEnabled(name, false, null);
      await()
          .atMost(Duration.ofSeconds(5))
          .until(() -> !engine.engine().namespaces().mayDispatch(name));
      // The run is due again, and the task queue knows it.
      await(
          engine
              .engine()
              .reports()
              .accept(name, List.of(new Report.Released(task.claim(), 0, null))));

      assertThat(await(poll(engine, worker, 300).tasks())).isEmpty();
      Poll standing = poll(engine, worker, 20_000);
      here.engine().namespaces().setEnabled(name, true, null);

      Task again = await(standing.tasks()).get(0);
      assertThat(again.claim().runId()).isEqualTo(task.claim().runId());
      await(engine.engine().reports().accept(name, List.of(TestEngine.done(again.claim(), "1"))));
    }
  }

  @Test
  void a_dispatched_run_is_released_when_its_namespace_is_disabled() {
    WorkerId worker = register(here);
    await(poll(here, worker, 50).tasks());
    // Dispatched for the free slot of the last poll, with no poll to receive it.
    RunId run = start(here);

    here.engine().namespaces().setEnabled(name, false, null);

    await()
        .atMost(Duration.ofSeconds(5))
        .until(() -> here.engine().queries().depth(name, null).pending() == 1);
    here.engine().namespaces().setEnabled(name, true, null);
    assertThat(await(poll(here, worker, 20_000).tasks()).get(0).claim().runId()).isEqualTo(run);
  }
}
