package dev.kagzi.engine.run;

import static dev.kagzi.engine.TestEngine.await;
import static dev.kagzi.engine.TestEngine.done;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kagzi.engine.EngineConfig;
import dev.kagzi.engine.TestDatabase;
import dev.kagzi.engine.TestEngine;
import dev.kagzi.engine.db.Session;
import dev.kagzi.engine.report.Report;
import dev.kagzi.engine.report.ReportResult;
import dev.kagzi.engine.task.DispatchConfig;
import dev.kagzi.engine.task.Poll;
import dev.kagzi.engine.task.Task;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.StepKind;
import dev.kagzi.engine.value.WorkerId;
import dev.kagzi.engine.worker.WorkerConfig;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.NullMarked;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A worker may have a run before its start is durable. Nothing that it says counts unless the run
 * is its own in the end.
 */
@NullMarked
class EarlyStartTest {
  @RegisterExtension static final TestDatabase database = new TestDatabase();

  private static final Duration NEVER = Duration.ofHours(1);

  private final List<TestEngine> open = new ArrayList<>();
  private final List<Session> gates = new ArrayList<>();
  private String queue = "";

  @BeforeEach
  void name(TestInfo test) {
    queue = test.getTestMethod().orElseThrow().getName();
  }

  @AfterEach
  void close() {
    gates.forEach(Session::close);
    open.reversed().forEach(TestEngine::close);
  }

  private TestEngine server() {
    EngineConfig config =
        EngineConfig.defaults()
            .withDispatch(
                DispatchConfig.defaults()
                    .withFallbackLook(NEVER)
                    .withFirstLease(Duration.ofMinutes(1)))
            .withWorkers(
                new WorkerConfig(Duration.ofSeconds(3), Duration.ofMinutes(1), NEVER, NEVER));
    TestEngine engine = TestEngine.start(database.config(), queue, config);
    open.add(engine);
    return engine;
  }

  /** Until it is closed no run can be started or changed; reading goes on. */
  private Session shut() throws SQLException {
    Session gate = database.open().open("gate");
    gates.add(gate);
    gate.query("BEGIN").execute();
    gate.query("LOCK TABLE kagzi.workflow_runs IN SHARE MODE").execute();
    return gate;
  }

  private static CompletableFuture<StartResult> start(TestEngine engine, RunId run) {
    return engine.engine().runs().start(engine.request("", run));
  }

  private static Task one(Poll poll) {
    List<Task> tasks = await(poll.tasks());
    assertThat(tasks).hasSize(1);
    return tasks.get(0);
  }

  private static CompletableFuture<ReportResult> say(
      TestEngine engine, Claim claim, WorkerId worker, @Nullable Report then) {
    return engine
        .engine()
        .reports()
        .accept(TestEngine.NAMESPACE, List.of(new Report.Early(claim, worker, then)))
        .thenApply(results -> results.get(0));
  }

  private static ReportResult confirm(TestEngine engine, Claim claim, WorkerId worker) {
    return await(say(engine, claim, worker, null));
  }

  @Test
  void a_run_without_effects_ends_right_behind_its_start() throws SQLException {
    TestEngine engine = server();
    WorkerId worker = engine.register();
    engine.settle(worker);
    RunId run = RunId.next();
    Poll poll = engine.pollEarly(worker, 1);
    CompletableFuture<StartResult> started;
    CompletableFuture<ReportResult> ended;
    Session gate = shut();
    started = start(engine, run);
    Task task = one(poll);
    assertThat(task.claim()).isEqualTo(new Claim(run, 1));
    assertThat(task.isStarting()).isTrue();
    ended = say(engine, task.claim(), worker, done(task.claim(), "7"));
    assertThat(started).isNotDone();
    assertThat(ended).isNotDone();
    gate.close();

    assertThat(await(started)).isEqualTo(StartResult.made(run));
    assertThat(await(ended)).isEqualTo(new ReportResult.Accepted(RunStatus.COMPLETED));
    assertThat(engine.run(run).status()).isEqualTo(RunStatus.COMPLETED);
    assertThat(engine.engine().meter().dispatch().handedEarly()).isEqualTo(1);
  }

  @Test
  void a_worker_that_asks_hears_of_the_start_once_it_is_durable() throws SQLException {
    TestEngine engine = server();
    WorkerId worker = engine.register();
    engine.settle(worker);
    Poll poll = engine.pollEarly(worker, 1);
    CompletableFuture<ReportResult> asked;
    Claim claim;
    Session gate = shut();
    CompletableFuture<StartResult> started = start(engine, RunId.next());
    claim = one(poll).claim();
    asked = say(engine, claim, worker, null);
    assertThat(started).isNotDone();
    assertThat(asked).isNotDone();
    gate.close();

    assertThat(await(asked))
        .isEqualTo(new ReportResult.Confirmed(engine.run(claim.runId()).createdAt()));
    assertThat(confirm(engine, claim, worker)).isEqualTo(await(asked));
    assertThat(engine.report(done(claim, "1")))
        .isEqualTo(new ReportResult.Accepted(RunStatus.COMPLETED));
  }

  @Test
  void another_server_answers_from_the_database() {
    TestEngine engine = server();
    TestEngine other = server();
    WorkerId worker = engine.register();
    engine.settle(worker);
    Poll poll = engine.pollEarly(worker, 1);
    RunId run = engine.start();
    Claim claim = one(poll).claim();

    assertThat(confirm(other, claim, worker))
        .isEqualTo(new ReportResult.Confirmed(engine.run(run).createdAt()));
    assertThat(confirm(other, claim, WorkerId.next())).isInstanceOf(ReportResult.ClaimLost.class);
    assertThat(confirm(other, new Claim(run, 2), worker))
        .isInstanceOf(ReportResult.ClaimLost.class);
    assertThat(confirm(other, new Claim(RunId.next(), 1), worker))
        .isInstanceOf(ReportResult.ClaimLost.class);
  }

  /** The worker's connection broke, and it has turned to another server. */
  @Test
  void another_server_waits_a_moment_for_a_start_that_is_being_written() throws SQLException {
    TestEngine engine = server();
    TestEngine other = server();
    WorkerId worker = engine.register();
    engine.settle(worker);
    RunId run = RunId.next();
    Poll poll = engine.pollEarly(worker, 1);
    Session gate = shut();
    CompletableFuture<StartResult> started = start(engine, run);
    Claim claim = one(poll).claim();
    CompletableFuture<ReportResult> ended = say(other, claim, worker, done(claim, "7"));
    assertThat(started).isNotDone();
    assertThat(ended).isNotDone();
    gate.close();

    assertThat(await(ended)).isEqualTo(new ReportResult.Accepted(RunStatus.COMPLETED));
    assertThat(confirm(other, claim, worker))
        .isEqualTo(new ReportResult.ClaimLost(RunStatus.COMPLETED));
  }

  @Test
  void others_do_not_wait_for_a_start_of_which_something_is_said_in_the_same_call()
      throws SQLException {
    TestEngine engine = server();
    WorkerId worker = engine.register();
    engine.settle(worker);
    Poll poll = engine.pollEarly(worker, 1);
    Session gate = shut();
    CompletableFuture<StartResult> started = start(engine, RunId.next());
    Claim claim = one(poll).claim();
    Claim nobodys = new Claim(RunId.next(), 1);
    CompletableFuture<List<ReportResult>> said =
        engine
            .engine()
            .reports()
            .accept(
                TestEngine.NAMESPACE,
                List.of(
                    new Report.StepStarted(nobodys, "a", 0, StepKind.FUNCTION, null, 0),
                    new Report.Early(claim, worker, null),
                    TestEngine.stepDone(claim, "a", "1"),
                    new Report.StepStarted(nobodys, "b", 0, StepKind.FUNCTION, null, 0)));
    assertThat(started).isNotDone();
    gate.close();

    List<ReportResult> results = await(said);
    assertThat(results.get(0)).isInstanceOf(ReportResult.Refused.class);
    assertThat(results.get(1)).isInstanceOf(ReportResult.Confirmed.class);
    assertThat(results.get(2))
        .asString()
        .contains("beside what asks for its start (expected: the answer to that first)");
    assertThat(results.get(3)).isInstanceOf(ReportResult.Refused.class);
  }

  @Test
  void a_claim_that_was_freed_is_not_confirmed_from_memory() {
    TestEngine engine = server();
    WorkerId worker = engine.register();
    engine.settle(worker);
    Poll poll = engine.pollEarly(worker, 1);
    engine.start();
    Claim claim = one(poll).claim();
    assertThat(confirm(engine, claim, worker)).isInstanceOf(ReportResult.Confirmed.class);

    engine.report(new Report.Released(claim, 0, null));

    assertThat(confirm(engine, claim, worker))
        .isEqualTo(new ReportResult.ClaimLost(RunStatus.PENDING));
  }

  /** The first answer was lost, and the caller has turned to another server. */
  @Test
  void a_start_that_is_repeated_elsewhere_gives_nobody_a_part_in_the_run() throws SQLException {
    TestEngine there = server();
    WorkerId owner = there.register();
    RunId run = RunId.next();
    Poll first = there.poll(owner, 1);
    await(start(there, run));
    Claim claim = one(first).claim();
    TestEngine here = server();
    WorkerId stranger = here.register();
    here.settle(stranger);
    Poll second = here.pollEarly(stranger, 1);
    List<CompletableFuture<ReportResult>> said = new ArrayList<>();
    Session gate = shut();
    CompletableFuture<StartResult> again = start(here, run);
    assertThat(one(second).claim()).isEqualTo(claim);
    said.add(say(here, claim, stranger, null));
    said.add(say(here, claim, stranger, done(claim, "\"stranger\"")));
    said.add(say(here, claim, stranger, new Report.Released(claim, 0, null)));
    assertThat(again).isNotDone();
    gate.close();
    said.add(say(here, claim, stranger, done(claim, "\"stranger\"")));
    said.add(say(there, claim, stranger, done(claim, "\"stranger\"")));

    said.forEach(each -> assertThat(await(each)).isInstanceOf(ReportResult.ClaimLost.class));
    assertThat(here.run(run).status()).isEqualTo(RunStatus.RUNNING);
    assertThat(there.report(done(claim, "\"owner\"")))
        .isEqualTo(new ReportResult.Accepted(RunStatus.COMPLETED));
  }

  @Test
  void a_start_that_fails_leaves_the_worker_with_nothing_but_a_free_slot() throws SQLException {
    TestEngine engine = server();
    WorkerId worker = engine.register();
    engine.settle(worker);
    RunId taken = RunId.next();
    TestEngine other = engine.onQueue(queue + "_other");
    await(engine.engine().runs().start(other.request("order-1", taken)));
    engine.awaitIdleJournal();
    Poll poll = engine.pollEarly(worker, 1);

    CompletableFuture<StartResult> start = start(engine, taken);
    Claim claim = one(poll).claim();

    assertThatThrownBy(() -> await(start)).isInstanceOf(Refusal.class);
    assertThat(confirm(engine, claim, worker)).isInstanceOf(ReportResult.ClaimLost.class);
    assertThat(await(say(engine, claim, worker, done(claim, "1"))))
        .isInstanceOf(ReportResult.ClaimLost.class);
    // The worker has one slot, once: a second run would lie with it until it polls again.
    RunId first = engine.start();
    RunId second = engine.start();
    assertThat(engine.run(first).status()).isEqualTo(RunStatus.RUNNING);
    assertThat(engine.run(second).status()).isEqualTo(RunStatus.PENDING);
    assertThat(one(engine.pollEarly(worker, 1)).claim()).isEqualTo(new Claim(first, 1));
  }

  @Test
  void a_run_that_this_server_has_handed_out_is_not_handed_out_early() {
    TestEngine engine = server();
    WorkerId worker = engine.register();
    engine.settle(worker);
    RunId run = RunId.next();
    Poll first = engine.pollEarly(worker, 1);
    await(start(engine, run));
    Claim claim = one(first).claim();
    long early = engine.engine().meter().dispatch().handedEarly();
    Poll second = engine.pollEarly(worker, 1);

    StartResult again = await(start(engine, run));

    assertThat(again).isEqualTo(StartResult.made(run));
    assertThat(engine.engine().meter().dispatch().handedEarly()).isEqualTo(early);
    assertThat(second.tasks()).isNotDone();
    assertThat(confirm(engine, claim, worker)).isInstanceOf(ReportResult.Confirmed.class);
    second.cancel();
  }

  @Test
  void only_one_start_at_a_time_is_ahead_of_its_commit() throws SQLException {
    TestEngine engine = server();
    WorkerId worker = engine.register();
    engine.settle(worker);
    Poll first = engine.pollEarly(worker, 1);
    Poll second = engine.pollEarly(worker, 1);
    CompletableFuture<StartResult> one;
    CompletableFuture<StartResult> two;
    Session gate = shut();
    one = start(engine, RunId.next());
    two = start(engine, RunId.next());
    assertThat(one(first).isStarting()).isTrue();
    assertThat(second.tasks()).isNotDone();
    gate.close();

    await(one);
    await(two);
    assertThat(one(second).isStarting()).isFalse();
  }

  @Test
  void a_worker_that_does_not_say_so_gets_no_run_before_it_has_started() throws SQLException {
    TestEngine engine = server();
    WorkerId worker = engine.register();
    engine.settle(worker);
    Poll poll = engine.poll(worker, 1);
    CompletableFuture<StartResult> started;
    Session gate = shut();
    started = start(engine, RunId.next());
    assertThat(poll.tasks()).isNotDone();
    gate.close();

    await(started);
    assertThat(one(poll).isStarting()).isFalse();
  }

  @Test
  void a_start_with_an_id_or_a_deadline_is_never_early() {
    TestEngine engine = server();
    WorkerId worker = engine.register();
    engine.settle(worker);
    Poll first = engine.pollEarly(worker, 1);
    engine.start("order-" + RunId.next());
    Task withId = one(first);
    engine.report(done(withId.claim(), "1"));
    Poll second = engine.pollEarly(worker, 1);
    engine.start(StartOptions.NONE.withExecutionTimeoutMs(60_000));
    Task withDeadline = one(second);

    assertThat(withId.isStarting()).isFalse();
    assertThat(withDeadline.isStarting()).isFalse();
    assertThat(engine.engine().meter().dispatch().handedEarly()).isZero();
  }
}
