package dev.kagzi.engine.worker;

import static dev.kagzi.engine.TestEngine.NAMESPACE;
import static dev.kagzi.engine.TestEngine.TYPE;
import static dev.kagzi.engine.TestEngine.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kagzi.engine.EngineConfig;
import dev.kagzi.engine.Holds;
import dev.kagzi.engine.Stored;
import dev.kagzi.engine.TestDatabase;
import dev.kagzi.engine.TestEngine;
import dev.kagzi.engine.TestOptions;
import dev.kagzi.engine.config.WorkerConfig;
import dev.kagzi.engine.dispatch.Poll;
import dev.kagzi.engine.dispatch.Task;
import dev.kagzi.engine.internal.notification.ServerMessage;
import dev.kagzi.engine.query.WorkerView;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.TypeVersion;
import dev.kagzi.engine.value.WorkerId;
import dev.kagzi.engine.value.WorkerStatus;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The life cycle of workers: registration, heartbeats, broken streams, staleness, drain and
 * deregistration.
 */
class WorkersTest {
  @RegisterExtension static final TestDatabase database = new TestDatabase();

  private static final Duration STALE = Duration.ofMillis(1_500);
  private static final Duration DETACHED = Duration.ofMillis(300);

  private final Stored stored = new Stored(database);
  private Holds holds;
  private TestEngine engine;

  @BeforeEach
  void open(TestInfo test) {
    EngineConfig defaults = EngineConfig.defaults();
    EngineConfig config =
        defaults
            .withWorkers(
                new WorkerConfig(Duration.ofSeconds(3), Duration.ofSeconds(60), STALE, DETACHED))
            .withCoordinatorInterval(Duration.ofMillis(100));
    holds = new Holds(database.config());
    engine =
        TestEngine.start(
            database.config(), test.getTestMethod().orElseThrow().getName(), config, holds);
  }

  @AfterEach
  void close() {
    engine.close();
  }

  private Workers workers() {
    return engine.engine().workers();
  }

  private WorkerView view(WorkerId worker) {
    return engine.engine().queries().worker(null, worker);
  }

  private CompletableFuture<HeartbeatResult> heartbeat(WorkerId who, @Nullable List<Claim> claims) {
    return workers().heartbeat(new WorkerHeartbeat(who, claims, null, 0, 0, null, 0, 0));
  }

  private WorkerId register(String instanceId) {
    return await(workers().register(registration(instanceId), null));
  }

  private WorkerRegistration registration(String instanceId) {
    return new WorkerRegistration(
        engine.queue(),
        List.of(new TypeVersion(TYPE, "")),
        false,
        "host",
        1,
        "1.2.3",
        Map.of("zone", "a"),
        7,
        Map.of(TYPE, 3),
        instanceId);
  }

  private static void assertRefused(CompletableFuture<?> answer, Refusal.Reason reason) {
    assertThatThrownBy(() -> await(answer))
        .satisfies(
            thrown -> {
              Throwable cause = thrown.getCause() instanceof Refusal ? thrown.getCause() : thrown;
              assertThat(cause)
                  .isInstanceOfSatisfying(
                      Refusal.class, refusal -> assertThat(refusal.reason()).isEqualTo(reason));
            });
  }

  private void assertOffline(WorkerId worker) {
    assertThat(view(worker).status()).isEqualTo(WorkerStatus.OFFLINE);
  }

  @Test
  void a_registered_worker_is_online_and_has_the_values_of_its_registration() {
    WorkerId worker = register("");

    WorkerView view = view(worker);

    assertThat(view.status()).isEqualTo(WorkerStatus.ONLINE);
    assertThat(view.hostname()).isEqualTo("host");
    assertThat(view.version()).isEqualTo("1.2.3");
    assertThat(view.labels()).containsEntry("zone", "a");
    assertThat(view.queueConcurrencyLimit()).isEqualTo(7);
    assertThat(view.workflowTypeConcurrency()).containsEntry(TYPE, 3);
  }

  /** Host and pid do not identify a worker: they are reused. */
  @Test
  void two_registrations_with_the_same_host_and_pid_are_two_workers() {
    WorkerId one = register("");
    WorkerId two = register("");
    RunId run = engine.start();
    Claim claim = engine.claimOne(one).claim();

    await(heartbeat(two, null));
    boolean gone = await(workers().deregister(null, two, false));

    assertThat(one).isNotEqualTo(two);
    assertThat(gone).isTrue();
    assertThat(view(one).status()).isEqualTo(WorkerStatus.ONLINE);
    assertThat(stored.dueMs(run)).isLessThanOrEqualTo(6_000);
    assertThat(engine.run(run).workerId()).isEqualTo(one);
    assertThat(await(heartbeat(one, List.of(claim))).lost()).isEmpty();
  }

  @Test
  void a_registration_replaces_the_one_of_the_same_instance_and_no_other() {
    WorkerId one = register("nonce");
    WorkerId elsewhere = register("other");

    WorkerId two = register("nonce");

    assertOffline(one);
    assertThat(view(two).status()).isEqualTo(WorkerStatus.ONLINE);
    assertThat(view(elsewhere).status()).isEqualTo(WorkerStatus.ONLINE);
    assertRefused(heartbeat(one, null), Refusal.Reason.NOT_FOUND);
    assertRefused(engine.poll(one, 1).tasks(), Refusal.Reason.FAILED_PRECONDITION);
  }

  @Test
  void a_worker_that_registered_again_keeps_the_claims_that_it_lists() {
    WorkerId before = register("nonce");
    RunId run = engine.start();
    Claim claim = engine.claimOne(before).claim();
    WorkerId now = register("nonce");

    HeartbeatResult result = await(heartbeat(now, List.of(claim)));

    assertThat(result.lost()).isEmpty();
    assertThat(engine.run(run).workerId()).isEqualTo(now);
    assertThat(stored.dueMs(run)).isGreaterThan(6_000);
  }

  @Test
  void a_worker_without_heartbeats_goes_offline_and_its_claims_are_released() {
    WorkerId silent = engine.register();
    WorkerId alive = engine.register();
    RunId run = engine.start();
    engine.claimOne(silent);

    Poll poll = engine.poll(alive, 1);
    Awaitility.await()
        .pollInterval(Duration.ofMillis(200))
        .until(
            () -> {
              await(heartbeat(alive, List.of()));
              return poll.tasks().isDone();
            });

    Task task = await(poll.tasks()).get(0);
    assertThat(task.claim()).isEqualTo(new Claim(run, 2));
    assertThat(engine.run(run).crashes()).isEqualTo(1);
    assertOffline(silent);
    assertThat(view(alive).status()).isEqualTo(WorkerStatus.ONLINE);
    assertRefused(heartbeat(silent, null), Refusal.Reason.NOT_FOUND);
    assertRefused(engine.poll(silent, 1).tasks(), Refusal.Reason.FAILED_PRECONDITION);
    assertThat(
            stored.text(
                "SELECT string_agg(event || ': ' || reason, ', ' ORDER BY event_id) AS value"
                    + " FROM kagzi.worker_events WHERE worker_id = '"
                    + silent
                    + "'"))
        .isEqualTo("ONLINE: registered, OFFLINE: no heartbeat");
  }

  /** A worker that was marked offline by mistake must recover. */
  @Test
  void a_worker_that_was_marked_offline_registers_again_and_works() {
    WorkerId before = engine.register();
    engine.start();
    Claim claim = engine.claimOne(before).claim();
    Awaitility.await().until(() -> view(before).status() == WorkerStatus.OFFLINE);

    WorkerId again = engine.register();
    Task task = engine.claimOne(again);

    assertThat(again).isNotEqualTo(before);
    assertThat(task.claim()).isEqualTo(new Claim(claim.runId(), 2));
  }

  /** A broken stream is detected sooner than missing heartbeats. */
  @Test
  void a_broken_stream_releases_the_workers_claims_after_a_delay() {
    WorkerId broken = engine.register();
    WorkerId other = engine.register();
    RunId run = engine.start();
    engine.claimOne(broken);
    Stream stream = new Stream();
    Attachment attachment = workers().attach(NAMESPACE, broken, stream);
    await(stream.attached);

    attachment.close();
    Task task = engine.claimOne(other);

    assertThat(task.claim()).isEqualTo(new Claim(run, 2));
    assertOffline(broken);
    assertThat(engine.run(run).crashes()).isEqualTo(1);
  }

  @Test
  void a_heartbeat_that_names_another_namespace_does_not_disconnect_the_worker() {
    WorkerId worker = engine.register();
    Stream stream = new Stream();
    workers().attach(NAMESPACE, worker, stream);
    await(stream.attached);

    assertThat(
            workers().heartbeat(new WorkerHeartbeat(worker, null, null, 0, 0, "elsewhere", 0, 0)))
        .failsWithin(Duration.ofSeconds(10));

    assertThat(stream.closed).isNotDone();
    assertThat(workers().sendAttached(new ServerMessage.Drain(worker))).isTrue();
  }

  @Test
  void a_heartbeat_after_the_stream_broke_keeps_the_worker() {
    WorkerId worker = engine.register();
    Stream stream = new Stream();
    Attachment attachment = workers().attach(NAMESPACE, worker, stream);
    await(stream.attached);

    attachment.close();
    await(heartbeat(worker, List.of()));

    Awaitility.await()
        .during(DETACHED.plusMillis(400))
        .atMost(5, TimeUnit.SECONDS)
        .until(() -> view(worker).status() == WorkerStatus.ONLINE);
  }

  @Test
  void a_worker_that_attaches_again_is_kept() {
    WorkerId worker = engine.register();
    Stream stream = new Stream();
    Attachment attachment = workers().attach(NAMESPACE, worker, stream);
    await(stream.attached);

    attachment.close();
    Stream again = new Stream();
    workers().attach(NAMESPACE, worker, again);
    await(again.attached);

    Awaitility.await()
        .during(DETACHED.plusMillis(400))
        .atMost(5, TimeUnit.SECONDS)
        .until(() -> view(worker).status() == WorkerStatus.ONLINE);
  }

  @Test
  void a_stream_that_closed_before_it_was_attached_does_not_stay() throws Exception {
    WorkerId worker = engine.register();
    Stream stream = new Stream();

    Attachment attachment = workers().attach(NAMESPACE, worker, stream);
    attachment.close();

    Awaitility.await().until(() -> view(worker).status() == WorkerStatus.OFFLINE);
    // The entry is removed shortly after the end of the stream was stored.
    Claim any = new Claim(RunId.next(), 1);
    Awaitility.await()
        .until(
            () ->
                !workers().sendAttached(new ServerMessage.Stop(worker, any, RunStatus.CANCELLED)));
  }

  @Test
  void an_unknown_worker_cannot_attach() {
    Stream stream = new Stream();

    workers().attach(NAMESPACE, WorkerId.next(), stream);

    assertThat(await(stream.closed).reason()).isEqualTo(Refusal.Reason.NOT_FOUND);
  }

  /** Its waiting poll is answered as well. */
  @Test
  void a_draining_worker_gets_no_more_work() {
    WorkerId worker = engine.register();
    Stream stream = new Stream();
    workers().attach(NAMESPACE, worker, stream);
    await(stream.attached);
    Poll waiting = engine.poll(worker, 1);

    await(workers().drain(null, worker));

    assertThat(await(waiting.tasks())).isEmpty();
    await(stream.drained);
    assertThat(view(worker).status()).isEqualTo(WorkerStatus.DRAINING);
    assertThat(await(heartbeat(worker, List.of())).shouldDrain()).isTrue();
    assertRefused(engine.poll(worker, 1).tasks(), Refusal.Reason.FAILED_PRECONDITION);
  }

  @Test
  void a_draining_worker_that_repeats_its_registration_gets_no_more_work() {
    UUID request = UUID.randomUUID();
    WorkerId worker = await(workers().register(registration(""), request));
    await(workers().drain(null, worker));

    WorkerId again = await(workers().register(registration(""), request));

    assertThat(again).isEqualTo(worker);
    assertRefused(engine.poll(worker, 1).tasks(), Refusal.Reason.FAILED_PRECONDITION);
  }

  @Test
  void unknown_workers_are_refused() {
    WorkerId left = engine.register();
    await(workers().deregister(null, left, false));
    WorkerId unknown = WorkerId.next();

    assertRefused(engine.poll(left, 1).tasks(), Refusal.Reason.FAILED_PRECONDITION);
    assertRefused(engine.poll(unknown, 1).tasks(), Refusal.Reason.FAILED_PRECONDITION);
    assertRefused(heartbeat(left, null), Refusal.Reason.NOT_FOUND);
    assertRefused(heartbeat(unknown, null), Refusal.Reason.NOT_FOUND);
    assertRefused(workers().drain(null, unknown), Refusal.Reason.NOT_FOUND);
    assertRefused(workers().drain("elsewhere", left), Refusal.Reason.NOT_FOUND);
    assertThat(await(workers().drain(null, left))).isFalse();
    assertThat(await(workers().drain(NAMESPACE, left))).isFalse();
    assertThat(await(workers().deregister(null, unknown, false))).isFalse();
    assertThatThrownBy(
            () ->
                workers()
                    .register(
                        new WorkerRegistration(
                            engine.queue(),
                            List.of(),
                            false,
                            "host",
                            1,
                            "",
                            Map.of(),
                            null,
                            Map.of(),
                            ""),
                        null))
        .hasMessageContaining("workflow_types");
  }

  /**
   * Another server has marked the worker offline. This server learns it from the refused heartbeat.
   */
  @Test
  void a_worker_whose_heartbeat_was_refused_gets_no_work() {
    WorkerId worker = engine.register();
    Poll waiting = engine.poll(worker, 1);
    database.execute(
        "UPDATE kagzi.workers SET status = 'OFFLINE' WHERE worker_id = '" + worker + "'");

    assertRefused(heartbeat(worker, List.of()), Refusal.Reason.NOT_FOUND);

    assertThat(waiting.tasks()).succeedsWithin(Duration.ofSeconds(5)).isEqualTo(List.of());
    assertRefused(engine.poll(worker, 1).tasks(), Refusal.Reason.FAILED_PRECONDITION);
  }

  /** The server that marked the worker offline died before it released the claims. */
  @Test
  void a_run_with_a_long_lease_is_released_although_its_server_died_before_the_release() {
    WorkerId dead = engine.register();
    RunId run = engine.start(new TestOptions().withHeartbeatTimeoutMs(3_600_000).build());
    await(heartbeat(dead, List.of(engine.claimOne(dead).claim())));
    database.execute(
        "UPDATE kagzi.workers SET status = 'OFFLINE', deregistered_at = kagzi.clock()"
            + " WHERE worker_id = '"
            + dead
            + "'");
    WorkerId alive = engine.register();

    Poll poll = engine.poll(alive, 1);
    Awaitility.await()
        .pollInterval(Duration.ofMillis(200))
        .until(
            () -> {
              await(heartbeat(alive, List.of()));
              return poll.tasks().isDone();
            });

    assertThat(await(poll.tasks())).extracting(Task::claim).containsExactly(new Claim(run, 2));
  }

  /** Workers move to other servers: their cache entries must not stay forever. */
  @Test
  void a_worker_without_calls_is_evicted_from_the_cache_and_cached_again_when_it_returns() {
    WorkerId worker = engine.register();
    int fresh = workers().evictNotSeenFor(TimeUnit.HOURS.toNanos(1));

    int left = workers().evictNotSeenFor(0);
    engine.start();
    Task task = engine.claimOne(worker);

    assertThat(fresh).isEqualTo(1);
    assertThat(left).isZero();
    assertThat(task.claim().epoch()).isEqualTo(1);
  }

  @Test
  void heartbeats_of_one_worker_in_one_batch_are_all_counted() throws Exception {
    WorkerId worker = engine.register();
    List<CompletableFuture<HeartbeatResult>> heartbeats;
    try (Holds.Hold hold = holds.commitAfter("UPDATE kagzi.workers w")) {
      CompletableFuture<HeartbeatResult> first =
          workers().heartbeat(new WorkerHeartbeat(worker, List.of(), 9, 1, 0, null, 0, 0));
      hold.awaitReached();
      heartbeats =
          List.of(
              first,
              workers().heartbeat(new WorkerHeartbeat(worker, List.of(), 8, 10, 1, null, 0, 0)),
              workers().heartbeat(new WorkerHeartbeat(worker, List.of(), 7, 100, 2, null, 0, 0)));
    }

    heartbeats.forEach(TestEngine::await);

    assertThat(view(worker).totalCompleted()).isEqualTo(111);
    assertThat(view(worker).totalFailed()).isEqualTo(3);
    assertThat(view(worker).activeWorkflowCount()).isEqualTo(7);
  }

  /** Records the events of a stream. */
  private static final class Stream implements AttachListener {
    final CompletableFuture<Boolean> attached = new CompletableFuture<>();
    final CompletableFuture<Boolean> drained = new CompletableFuture<>();
    final CompletableFuture<Refusal> closed = new CompletableFuture<>();

    @Override
    public void attached() {
      attached.complete(true);
    }

    @Override
    public void stop(List<Claim> claims, RunStatus status) {}

    @Override
    public void stepEnded(List<Claim> claims) {}

    @Override
    public void cancelRequested(List<Claim> claims) {}

    @Override
    public void drain() {
      drained.complete(true);
    }

    @Override
    public void closed(Refusal why) {
      closed.complete(why);
    }
  }
}
