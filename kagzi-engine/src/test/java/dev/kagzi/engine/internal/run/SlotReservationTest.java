package dev.kagzi.engine.internal.run;

import static dev.kagzi.engine.TestEngine.NAMESPACE;
import static dev.kagzi.engine.TestEngine.TYPE;
import static dev.kagzi.engine.TestEngine.await;
import static dev.kagzi.engine.TestEngine.payload;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kagzi.engine.CutProxy;
import dev.kagzi.engine.EngineConfig;
import dev.kagzi.engine.Stored;
import dev.kagzi.engine.TestConfigs;
import dev.kagzi.engine.TestDatabase;
import dev.kagzi.engine.TestEngine;
import dev.kagzi.engine.config.DispatchConfig;
import dev.kagzi.engine.config.JournalConfig;
import dev.kagzi.engine.config.TransitionRules;
import dev.kagzi.engine.config.WorkerConfig;
import dev.kagzi.engine.dispatch.Poll;
import dev.kagzi.engine.dispatch.Task;
import dev.kagzi.engine.internal.db.ConnectionFactory;
import dev.kagzi.engine.internal.db.Database;
import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.internal.journal.Journal;
import dev.kagzi.engine.internal.transition.RunWriter;
import dev.kagzi.engine.metrics.Meters;
import dev.kagzi.engine.run.StartOptions;
import dev.kagzi.engine.run.StartRequest;
import dev.kagzi.engine.run.StartResult;
import dev.kagzi.engine.thread.EssentialThreads;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.WorkerId;
import java.lang.reflect.Proxy;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A new run is dispatched to a polling worker from memory: once, and only if it is claimed for that
 * worker, even if callers or lanes repeat the start.
 */
class SlotReservationTest {
  @RegisterExtension static final TestDatabase database = new TestDatabase();

  /** PostgreSQL's answers to a single start that was inserted, and to one that was not. */
  private static final String STORED = "SELECT 1";

  private static final String HINDERED = "SELECT 0";

  private static final int COMMIT_LOCK = 7_103;

  private static final JournalConfig ONE_LANE =
      new JournalConfig(1, 64 << 20, 8 << 20, 2_000, Duration.ofSeconds(5), Duration.ofSeconds(10));

  private final List<TestEngine> open = new ArrayList<>();
  private CutProxy proxy;
  private String queue;

  @BeforeEach
  void openProxy(TestInfo test) {
    queue = test.getTestMethod().orElseThrow().getName();
    proxy = new CutProxy(database.config());
  }

  @AfterEach
  void close() {
    open.reversed().forEach(TestEngine::close);
    proxy.close();
  }

  /**
   * Only its lane uses the proxy, so that the proxy cannot cut other connections. A server that
   * starts makes the others check all queues, so the server under test starts last.
   */
  private TestEngine serverBehindProxy() {
    return server(
        () ->
            Database.connect(
                Thread.currentThread().getName().startsWith("kagzi-lane-")
                    ? proxy.config()
                    : database.config()));
  }

  private TestEngine server() {
    return server(() -> Database.connect(database.config()));
  }

  private TestEngine server(ConnectionFactory connector) {
    Duration never = Duration.ofHours(1);
    // A run that was not dispatched directly must not be found by a poll instead.
    EngineConfig config =
        TestConfigs.withJournal(ONE_LANE)
            .withDispatch(
                DispatchConfig.defaults()
                    .withFallbackInterval(never)
                    .withFirstLease(Duration.ofMinutes(1)))
            .withWorkers(
                new WorkerConfig(Duration.ofSeconds(3), Duration.ofMinutes(1), never, never));
    TestEngine engine = TestEngine.start(database.config(), queue, config, connector);
    open.add(engine);
    return engine;
  }

  private static CompletableFuture<StartResult> start(TestEngine engine, RunId run) {
    return engine.engine().runs().start(engine.request("", run));
  }

  private static List<Claim> claims(Poll poll) {
    return await(poll.tasks()).stream().map(Task::claim).toList();
  }

  /** A server that has just started does not know what another one has dispatched. */
  @Test
  void a_start_that_is_repeated_on_another_server_dispatches_nothing() {
    TestEngine here = server();
    WorkerId worker = here.register();
    RunId run = RunId.next();
    Poll first = here.poll(worker, 1);
    await(start(here, run));
    List<Claim> given = claims(first);
    TestEngine there = server();
    there.settle(worker);
    Poll second = there.poll(worker, 5);

    StartResult again = await(start(there, run));
    RunId next = there.start();

    assertThat(again).isEqualTo(StartResult.made(run));
    assertThat(given).containsExactly(new Claim(run, 1));
    assertThat(claims(second)).containsExactly(new Claim(next, 1));
  }

  /** What happens to the run while the answer to its start is lost. */
  enum Meanwhile {
    NOTHING("epoch = epoch", "started"),
    TAKEN_OVER("epoch = epoch + 1", "not started"),
    LEASE_ENDED("available_at = kagzi.clock() - interval '1 second'", "not started"),
    GIVEN_TO_ANOTHER("locked_by = gen_random_uuid()", "not started"),
    CANCELLED(
        "status = 'CANCELLED', available_at = NULL, locked_by = NULL, ended = run_id,"
            + " finished_at = now()",
        "not started");

    private final String change;
    private final String expectedCall;

    Meanwhile(String change, String expectedCall) {
      this.change = change;
      this.expectedCall = expectedCall;
    }
  }

  /** Uses the lane alone, with a slot that only records calls: nothing else changes the run. */
  @ParameterizedTest
  @EnumSource
  void a_start_that_is_written_again_dispatches_only_a_run_that_is_still_its_own(
      Meanwhile meanwhile) {
    RunId run = RunId.next();
    Listener slot = new Listener();
    StartRequest request =
        new StartRequest(
            NAMESPACE, "", queue, TYPE, "", payload("1"), null, run, StartOptions.NONE);
    StartRun start = new StartRun(run, request, StartRun.Lineage.CLIENT, slot);
    try (Database side = Database.open(database.config(), () -> Database.connect(proxy.config()));
        Journal<RunWrite<?>> journal =
            new Journal<>(
                side,
                () -> new RunWriter(TransitionRules.DEFAULT, SILENCE, new Random(1)),
                ONE_LANE,
                () -> 1,
                Meters.unpublished().journal("test"),
                new EssentialThreads())) {
      DeliverMessages warm = new DeliverMessages(run);
      journal.append(warm);
      await(warm.done());

      proxy.downAfter(STORED::equals);
      journal.append(start);
      Awaitility.await().until(() -> proxy.cuts().equals(List.of(STORED)));
      database.execute(
          "UPDATE kagzi.workflow_runs SET %s WHERE run_id = '%s' AND locked_by = '%s'"
              .formatted(meanwhile.change, run, slot.worker));
      proxy.up();
      StartResult answer = await(start.done());

      assertThat(answer).isEqualTo(StartResult.made(run));
      assertThat(slot.calls).containsExactly(meanwhile.expectedCall);
    }
  }

  private static final class Listener implements SlotReservation {
    private final WorkerId worker = WorkerId.next();
    private final List<String> calls = new CopyOnWriteArrayList<>();

    @Override
    public WorkerId worker() {
      return worker;
    }

    @Override
    public long leaseMs() {
      return 60_000;
    }

    @Override
    public void started(StartRun run, Instant createdAt) {
      calls.add("started");
    }

    @Override
    public void notStarted() {
      calls.add("not started");
    }
  }

  private static final RunEvents SILENCE =
      (RunEvents)
          Proxy.newProxyInstance(
              SlotReservationTest.class.getClassLoader(),
              new Class<?>[] {RunEvents.class},
              (self, method, arguments) -> null);

  @Test
  void a_start_that_is_written_again_does_not_dispatch_a_run_of_another_worker() {
    TestEngine there = server();
    RunId run = RunId.next();
    WorkerId other = there.register();
    Poll first = there.poll(other, 1);
    await(start(there, run));
    List<Claim> given = claims(first);
    TestEngine here = serverBehindProxy();
    WorkerId worker = here.register();
    here.settle(worker);
    Poll waiting = here.poll(worker, 1);

    proxy.cutAnswer(HINDERED::equals);
    StartResult again = await(start(here, run));
    RunId next = here.start();

    assertThat(proxy.cuts()).containsExactly(HINDERED);
    assertThat(again).isEqualTo(StartResult.made(run));
    assertThat(given).containsExactly(new Claim(run, 1));
    assertThat(claims(waiting)).containsExactly(new Claim(next, 1));
    assertThat(here.run(run).workerId()).isEqualTo(other);
  }

  /** The lane cannot know whether it inserted the run that it finds or the first start did. */
  @Test
  void a_repeated_start_whose_answer_is_lost_does_not_dispatch_the_same_claim_again() {
    TestEngine here = serverBehindProxy();
    WorkerId worker = here.register();
    here.settle(worker);
    Poll first = here.poll(worker, 1);
    RunId run = RunId.next();
    await(start(here, run));
    List<Claim> given = claims(first);
    Poll second = here.poll(worker, 5);

    proxy.cutAnswer(HINDERED::equals);
    StartResult again = await(start(here, run));
    RunId next = here.start();

    assertThat(proxy.cuts()).containsExactly(HINDERED);
    assertThat(again).isEqualTo(StartResult.made(run));
    assertThat(given).containsExactly(new Claim(run, 1));
    assertThat(claims(second)).containsExactly(new Claim(next, 1));
  }

  /** One start commits with its own statement, several with the transaction of their batch. */
  @ParameterizedTest
  @ValueSource(ints = {1, 3})
  void no_poll_receives_a_task_before_the_start_of_its_run_is_committed(int count)
      throws SQLException {
    TestEngine here = server();
    WorkerId worker = here.register();
    here.settle(worker);
    List<Poll> polls = Stream.generate(() -> here.poll(worker, 1)).limit(count).toList();
    List<StartRequest> requests =
        Stream.generate(() -> here.request("", RunId.next())).limit(count).toList();
    List<CompletableFuture<StartResult>> starts;
    try (Session holder = holdCommits()) {
      starts = here.engine().runs().startAll(requests);
      Awaitility.await().until(SlotReservationTest::commitIsHeld);
      // An arriving poll completes the worker's polls with any task that is ready for it.
      here.poll(worker, 1).cancel();

      assertThat(starts).noneMatch(CompletableFuture::isDone);
      assertThat(polls).noneMatch(poll -> poll.tasks().isDone());
      holder.query("SELECT pg_advisory_unlock(%d)".formatted(COMMIT_LOCK)).execute();
      starts.forEach(TestEngine::await);
    } finally {
      database.execute("DROP TRIGGER hold_commit ON kagzi.workflow_runs");
    }

    assertThat(polls.stream().flatMap(poll -> claims(poll).stream()))
        .containsExactlyInAnyOrderElementsOf(
            starts.stream().map(start -> new Claim(await(start).runId(), 1)).toList());
  }

  /**
   * A deferred trigger runs when a transaction commits, after all of its statements. This one waits
   * there for the returned session to release its lock.
   */
  private static Session holdCommits() throws SQLException {
    database.execute(
        """
        CREATE OR REPLACE FUNCTION public.hold_commit() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          PERFORM pg_advisory_xact_lock_shared(%d);
          RETURN NULL;
        END $$
        """
            .formatted(COMMIT_LOCK));
    database.execute(
        """
        CREATE CONSTRAINT TRIGGER hold_commit AFTER INSERT ON kagzi.workflow_runs
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.hold_commit()
        """);
    Session holder = database.open().open("holder");
    holder.query("SELECT pg_advisory_lock(%d)".formatted(COMMIT_LOCK)).execute();
    return holder;
  }

  private static boolean commitIsHeld() {
    return new Stored(database)
            .count(
                "SELECT count(*) AS value FROM pg_stat_activity"
                    + " WHERE datname = current_database() AND wait_event = 'advisory'")
        > 0;
  }

  /** notStarted is called twice: by the lane that found a conflict, and by the failed future. */
  @Test
  void a_refused_start_releases_its_reserved_slot_once() {
    TestEngine here = server();
    WorkerId worker = here.register();
    RunId taken = RunId.next();
    await(
        here.engine()
            .runs()
            .start(
                new StartRequest(
                    NAMESPACE,
                    "",
                    here.queue().queue(),
                    "another-type",
                    "",
                    payload("1"),
                    null,
                    taken,
                    StartOptions.NONE)));
    here.settle(worker);
    Poll waiting = here.poll(worker, 1);

    assertThatThrownBy(() -> await(start(here, taken))).isInstanceOf(Refusal.class);
    RunId fits = here.start();
    RunId doesNot = here.start();

    assertThat(claims(waiting)).containsExactly(new Claim(fits, 1));
    assertThat(here.run(doesNot).status()).isEqualTo(RunStatus.PENDING);
  }
}
