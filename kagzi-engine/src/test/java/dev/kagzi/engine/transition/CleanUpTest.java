package dev.kagzi.engine.transition;

import static dev.kagzi.engine.TestEngine.NAMESPACE;
import static dev.kagzi.engine.TestEngine.TYPE;
import static dev.kagzi.engine.TestEngine.await;
import static dev.kagzi.engine.TestEngine.done;
import static dev.kagzi.engine.TestEngine.failed;
import static dev.kagzi.engine.TestEngine.payload;
import static dev.kagzi.engine.TestEngine.sleep;
import static dev.kagzi.engine.TestEngine.stepDone;
import static dev.kagzi.engine.TestEngine.stepFailed;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.engine.EngineConfig;
import dev.kagzi.engine.Holds;
import dev.kagzi.engine.TestClock;
import dev.kagzi.engine.TestConfigs;
import dev.kagzi.engine.TestEngine;
import dev.kagzi.engine.TestOptions;
import dev.kagzi.engine.TestReports;
import dev.kagzi.engine.config.DispatchConfig;
import dev.kagzi.engine.config.JournalConfig;
import dev.kagzi.engine.dispatch.Poll;
import dev.kagzi.engine.dispatch.PollRequest;
import dev.kagzi.engine.dispatch.Task;
import dev.kagzi.engine.query.WaitCause;
import dev.kagzi.engine.retry.CrashPolicy;
import dev.kagzi.engine.retry.RetryPolicy;
import dev.kagzi.engine.run.CancelResult;
import dev.kagzi.engine.run.Report;
import dev.kagzi.engine.run.ReportResult;
import dev.kagzi.engine.run.ReportResult.Accepted;
import dev.kagzi.engine.run.ReportResult.ChildAccepted;
import dev.kagzi.engine.run.StartOptions;
import dev.kagzi.engine.run.StartRequest;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.RecordedStep.Result;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.StepKind;
import dev.kagzi.engine.value.WorkerId;
import dev.kagzi.engine.worker.AttachListener;
import dev.kagzi.engine.worker.HeartbeatResult;
import dev.kagzi.engine.worker.WorkerHeartbeat;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Cancel with clean-up: which runs clean up, where their code learns of the cancel, and how they
 * end.
 */
class CleanUpTest extends EngineFixture {
  private static final long GRACE_MS = 60_000;
  private static final RetryPolicy HOURLY =
      new RetryPolicy(9, 3_600_000, 1.0, 3_600_000, 0, List.of());

  private final TestClock clock = new TestClock(database);

  @Override
  EngineConfig config() {
    EngineConfig config = super.config();
    return config
        .withRules(config.rules().withCrashes(new CrashPolicy(20, 100, 2)))
        .withDispatch(DispatchConfig.defaults().withFallbackInterval(Duration.ofMillis(100)));
  }

  @AfterEach
  void resetClock() {
    clock.reset();
  }

  private Poll poll(long cleanUpMs) {
    return engine
        .engine()
        .tasks()
        .poll(
            new PollRequest(
                engine.queue(),
                worker,
                List.of(new PollRequest.Wanted(TYPE, "", 0, cleanUpMs)),
                1,
                10_000));
  }

  private Task claim() {
    return await(poll(GRACE_MS).tasks()).getFirst();
  }

  private Claim startAndClaim() {
    engine.start();
    return claim().claim();
  }

  private CancelResult cancel(RunId run) {
    return await(engine.engine().runs().cancel(NAMESPACE, run));
  }

  private static Report seen(Claim claim, String step) {
    return new Report.CancelSeen(claim, step, StepKind.FUNCTION, "");
  }

  private static void assertSeen(Result result) {
    assertThat(result).isInstanceOf(Result.FinalFailure.class);
    assertThat(((Result.FinalFailure) result).failure().metadata()).containsKey("cancel_requested");
  }

  private void awaitStatus(RunId run, RunStatus status) {
    Awaitility.await()
        .atMost(Duration.ofSeconds(20))
        .untilAsserted(() -> assertThat(engine.run(run).status()).isEqualTo(status));
  }

  private RunId startChild(Claim parent, String step) {
    StartRequest start =
        new StartRequest(NAMESPACE, "", "", TYPE, "", payload("1"), null, null, StartOptions.NONE);
    return ((ChildAccepted) engine.report(new Report.ChildStarted(parent, step, 1, start, false)))
        .child();
  }

  @Test
  void a_running_run_stays_open_until_its_code_ends() {
    engine.start("order-1");
    Claim claim = claim().claim();
    engine.report(stepDone(claim, "charge", "1"));

    CancelResult first = cancel(claim.runId());
    CancelResult again = cancel(claim.runId());

    assertThat(first.cancelled()).isTrue();
    assertThat(first.status()).isEqualTo(RunStatus.RUNNING);
    assertThat(first.cleanUpUntil()).isEqualTo(engine.run(claim.runId()).deadlineAt());
    assertThat(again).as("a repeated cancel").isEqualTo(first);
    assertThat(engine.run(claim.runId()).cancelRequestedAt()).isNotNull();
    assertThat(engine.start("order-1").existed()).as("its id stays taken").isTrue();

    assertThat(engine.report(seen(claim, "ship"))).isEqualTo(new Accepted(RunStatus.RUNNING));
    engine.report(stepDone(claim, "saga[refund]/refund", "1"));
    ReportResult end = engine.report(done(claim, "\"shipped\""));

    assertThat(end).isEqualTo(new Accepted(RunStatus.CANCELLED));
    assertThat(await(engine.end(claim.runId())).orElseThrow().status())
        .isEqualTo(RunStatus.CANCELLED);
    assertThat(engine.run(claim.runId()).output()).as("what the code returned").isNull();
    assertThat(engine.run(claim.runId()).error()).isNull();
    assertThat(engine.report(done(claim, "\"shipped\"")))
        .as("a report that is sent again")
        .isEqualTo(new Accepted(RunStatus.CANCELLED));
    assertThat(cancel(claim.runId())).isEqualTo(new CancelResult(true, RunStatus.CANCELLED));
    assertThat(engine.start("order-1").existed()).isFalse();
  }

  @Test
  void a_run_that_was_handed_over_at_its_start_cleans_up_too() {
    engine.settle(worker);
    long handedOver = engine.engine().metrics().dispatch().handedOver();
    Poll poll = poll(GRACE_MS);
    engine.start();
    Claim claim = await(poll.tasks()).getFirst().claim();

    assertThat(engine.engine().metrics().dispatch().handedOver()).isEqualTo(handedOver + 1);
    assertThat(cancel(claim.runId()).status()).isEqualTo(RunStatus.RUNNING);
  }

  @Test
  void a_code_that_ends_before_it_has_learnt_of_the_cancel_ends_cancelled_too() {
    Claim claim = startAndClaim();
    cancel(claim.runId());

    assertThat(engine.report(List.of(stepDone(claim, "last", "1"), done(claim, "1"))))
        .endsWith(new Accepted(RunStatus.CANCELLED));
  }

  @Test
  void a_code_that_continues_as_new_before_it_has_learnt_of_the_cancel_has_no_successor() {
    Claim claim = startAndClaim();
    cancel(claim.runId());

    engine.report(new Report.ContinueAsNew(claim, payload("1"), null, false, ""));

    assertThat(engine.run(claim.runId()).status()).isEqualTo(RunStatus.CANCELLED);
    assertThat(engine.run(claim.runId()).setup().chain().continuedTo()).isNull();
  }

  @Test
  void a_code_that_continues_as_new_learns_there_of_a_cancel_that_came_first() {
    Claim claim = startAndClaim();
    RunId child = startChild(claim, "pack");
    cancel(claim.runId());
    Report next = new Report.ContinueAsNew(claim, payload("1"), null, false, "continue-as-new");

    assertThat(engine.report(next)).isEqualTo(new Accepted(RunStatus.RUNNING));
    assertThat(engine.report(next)).as("sent again").isEqualTo(new Accepted(RunStatus.RUNNING));
    awaitStatus(child, RunStatus.CANCELLED);
    engine.report(new Report.Released(claim, 0, null));
    Task again = claim();
    assertSeen(
        again.steps().stream()
            .filter(step -> step.stepKey().equals("continue-as-new"))
            .findFirst()
            .orElseThrow()
            .result());
    engine.report(stepDone(again.claim(), "saga[refund]/refund", "1"));

    assertThat(engine.report(done(again.claim(), "1")))
        .isEqualTo(new Accepted(RunStatus.CANCELLED));
    assertThat(engine.run(claim.runId()).setup().chain().continuedTo()).isNull();
  }

  @Test
  void a_failed_clean_up_is_shown_and_neither_retried_nor_handled() {
    RunId run = engine.start(RetryPolicy.DEFAULT);
    Claim claim = claim().claim();
    cancel(run);
    engine.report(seen(claim, "ship"));

    ReportResult end = engine.report(failed(claim, "refund refused"));

    assertThat(end).isEqualTo(new Accepted(RunStatus.CANCELLED));
    assertThat(engine.error(run)).contains("refund refused");
    assertThat(engine.report(failed(claim, "refund refused")))
        .isEqualTo(new Accepted(RunStatus.CANCELLED));
  }

  @Test
  void a_run_that_waits_is_woken_and_its_next_task_says_why() {
    Claim sleeping = startAndClaim();
    engine.report(sleep(sleeping, "nap", 3_600_000));

    assertThat(cancel(sleeping.runId()).status()).isEqualTo(RunStatus.PENDING);

    assertThat(engine.run(sleeping.runId()).status()).isEqualTo(RunStatus.PENDING);
    Task task = claim();
    assertThat(task.claim()).isEqualTo(new Claim(sleeping.runId(), 2));
    assertThat(task.cancel()).isEqualTo(Task.Cancel.CLEAN_UP);
    assertThat(result(task, "nap")).isInstanceOf(Result.Sleeping.class);
    assertThat(engine.report(seen(task.claim(), "nap"))).isEqualTo(new Accepted(RunStatus.RUNNING));
    engine.report(new Report.Released(task.claim(), 0, null));
    Task replay = claim();
    assertSeen(result(replay, "nap"));
    assertThat(replay.steps().getFirst().kind()).isEqualTo(StepKind.SLEEP);
  }

  @Test
  void waits_for_signals_children_and_retries_end_too() {
    Claim receiving = startAndClaim();
    engine.report(new Report.Receive(receiving, "approval", "approval", null, false));
    cancel(receiving.runId());
    Task received = claim();
    engine.report(seen(received.claim(), "approval"));
    engine.report(done(received.claim(), "1"));

    Claim retrying = startAndClaim();
    engine.report(stepFailed(retrying, "pay", 1, HOURLY));
    cancel(retrying.runId());
    Task retried = claim();
    engine.report(seen(retried.claim(), "pay"));
    engine.report(new Report.Released(retried.claim(), 0, null));
    Task replay = claim();
    assertSeen(result(replay, "pay"));
    assertThat(replay.steps().getFirst().attempt()).isEqualTo(2);
    engine.report(done(replay.claim(), "1"));

    Claim parent = startAndClaim();
    RunId child = startChild(parent, "sub");
    engine.report(TestReports.awaited(parent, List.of("sub"), true, null));
    cancel(parent.runId());
    Task first = claim();
    Task second = claim();
    Task awaited = first.claim().runId().equals(parent.runId()) ? first : second;
    assertThat(awaited.claim().runId()).isEqualTo(parent.runId());
    assertThat(engine.run(child).cancelRequestedAt()).as("before the clean-up begins").isNull();
    engine.report(seen(awaited.claim(), "sub"));
    Awaitility.await()
        .atMost(Duration.ofSeconds(20))
        .untilAsserted(() -> assertThat(engine.run(child).cancelRequestedAt()).isNotNull());
    engine.report(new Report.Released(awaited.claim(), 0, null));
    Task again = claim();
    assertSeen(result(again, "sub"));
    assertThat(again.steps().getFirst().child()).as("the child").isEqualTo(child);
  }

  @Test
  void runs_of_other_types_never_claimed_runs_and_runs_of_simple_workers_end_at_once() {
    CancelResult ended = new CancelResult(true, RunStatus.CANCELLED);
    RunId never = engine.start();
    assertThat(cancel(never)).isEqualTo(ended);

    engine.start();
    Claim other = engine.claimOne(worker).claim();
    assertThat(cancel(other.runId())).isEqualTo(ended);

    Claim parked = startAndClaim();
    engine.report(new Report.Released(parked, 0, null));
    Claim simple =
        await(
                engine
                    .engine()
                    .tasks()
                    .pollOne(engine.queue(), engine.register(), List.of(TYPE), 10_000)
                    .tasks())
            .getFirst()
            .claim();
    assertThat(simple.runId()).isEqualTo(parked.runId());
    assertThat(cancel(simple.runId())).isEqualTo(ended);
  }

  @Test
  void a_worker_that_gives_the_run_back_without_knowing_gets_it_again_at_once() {
    Claim claim = startAndClaim();
    cancel(claim.runId());
    engine.report(sleep(claim, "nap", 3_600_000));

    Task task = claim();

    assertThat(task.cancel()).isEqualTo(Task.Cancel.CLEAN_UP);
    engine.report(seen(task.claim(), "nap"));
    engine.report(sleep(task.claim(), "saga[refund]/wait", 30_000));
    assertThat(engine.run(claim.runId()).status())
        .as("a clean-up may wait")
        .isEqualTo(RunStatus.SLEEPING);
  }

  @Test
  void the_place_is_recorded_once_and_only_by_the_holder_of_a_cancelled_run() {
    Claim claim = startAndClaim();
    assertThat(engine.report(seen(claim, "pay"))).isInstanceOf(ReportResult.Refused.class);
    engine.report(stepDone(claim, "charge", "1"));
    cancel(claim.runId());

    assertThat(engine.report(seen(claim, "charge")))
        .as("a step that has a result")
        .isInstanceOf(ReportResult.AlreadyRecorded.class);
    assertThat(engine.report(List.of(seen(claim, "pay"), seen(claim, "pay"))))
        .containsExactly(new Accepted(RunStatus.RUNNING), new Accepted(RunStatus.RUNNING));
    assertThat(
            stored.count(
                "SELECT count(*) AS value FROM kagzi.step_runs WHERE step_id = 'pay' AND run_id = '"
                    + claim.runId()
                    + "'"))
        .isEqualTo(1);

    stored.expireLease(claim.runId());
    Claim next = claim().claim();
    assertThat(engine.report(seen(claim, "ship")))
        .as("a worker that was paused")
        .isInstanceOf(ReportResult.ClaimLost.class);
    assertThat(engine.report(done(claim, "1"))).isInstanceOf(ReportResult.ClaimLost.class);
    assertThat(engine.report(done(next, "1"))).isEqualTo(new Accepted(RunStatus.CANCELLED));
    assertThat(engine.report(List.of(seen(next, "pay"), done(next, "1"))))
        .as("sent again after the end")
        .containsExactly(new Accepted(RunStatus.RUNNING), new Accepted(RunStatus.CANCELLED));
  }

  @Test
  void the_end_of_the_grace_ends_the_run_and_its_children() {
    Claim claim = startAndClaim();
    RunId child = startChild(claim, "sub");
    cancel(claim.runId());

    clock.ahead(Duration.ofMillis(GRACE_MS + 1_000));

    awaitStatus(claim.runId(), RunStatus.CANCELLED);
    assertThat(engine.error(claim.runId())).contains("had not cleaned up by");
    awaitStatus(child, RunStatus.CANCELLED);
    assertThat(engine.report(done(claim, "1"))).isInstanceOf(ReportResult.ClaimLost.class);
  }

  @Test
  void a_run_that_no_worker_takes_within_the_grace_ends_as_well() {
    Claim claim = startAndClaim();
    engine.report(sleep(claim, "nap", 3_600_000));
    cancel(claim.runId());

    clock.ahead(Duration.ofMillis(GRACE_MS + 1_000));

    awaitStatus(claim.runId(), RunStatus.CANCELLED);
  }

  @Test
  void a_deadline_before_the_end_of_the_grace_stays() {
    RunId run = engine.start(new TestOptions().withExecutionTimeoutMs(20_000).build());
    Claim claim = claim().claim();
    Instant deadline = engine.run(run).deadlineAt();

    assertThat(cancel(run).cleanUpUntil()).isEqualTo(deadline);
    assertThat(cancel(run).cleanUpUntil()).isEqualTo(deadline);
    clock.ahead(Duration.ofSeconds(21));
    awaitStatus(claim.runId(), RunStatus.CANCELLED);
  }

  @Test
  void terminate_wins_and_a_forced_resume_forgets_the_cancel() {
    Claim claim = startAndClaim();
    cancel(claim.runId());
    engine.report(seen(claim, "pay"));

    CancelResult terminated =
        await(engine.engine().runs().terminate(NAMESPACE, claim.runId(), "now"));

    assertThat(terminated).isEqualTo(new CancelResult(true, RunStatus.FAILED));
    assertThat(engine.report(done(claim, "1"))).isInstanceOf(ReportResult.ClaimLost.class);
    await(engine.engine().runs().resume(NAMESPACE, claim.runId(), null, true));
    Task resumed = claim();
    assertThat(resumed.cancel()).isEqualTo(Task.Cancel.NONE);
    assertThat(engine.run(claim.runId()).cancelRequestedAt()).isNull();
    assertThat(engine.run(claim.runId()).deadlineAt()).isNull();
    assertThat(engine.report(done(resumed.claim(), "1")))
        .isEqualTo(new Accepted(RunStatus.COMPLETED));
  }

  @Test
  void a_cancel_in_the_same_batch_as_a_resume_is_not_forgotten() throws Exception {
    engine.close();
    Holds holds = new Holds(database.config());
    EngineConfig config = TestConfigs.withJournal(JournalConfig.defaults().withLanes(1));
    engine = TestEngine.start(database.config(), "one-batch", config, holds);
    worker = engine.register();
    RunId run = startAndClaim().runId();
    await(engine.engine().runs().terminate(NAMESPACE, run, "now"));

    CompletableFuture<CancelResult> cancelled;
    try (Holds.Hold hold = holds.statement("INSERT INTO kagzi.workflow_runs")) {
      var unused = engine.engine().runs().start(engine.request("", null));
      hold.awaitReached();
      var unusedResume = engine.engine().runs().resume(NAMESPACE, run, null, true);
      cancelled = engine.engine().runs().cancel(NAMESPACE, run);
    }

    assertThat(await(cancelled).cancelled()).isTrue();
    assertThat(engine.run(run).cancelRequestedAt()).isNotNull();
  }

  @Test
  void a_forced_resume_leaves_a_wait_closed_that_the_cancel_had_ended() {
    Claim claim = startAndClaim();
    engine.report(sleep(claim, "nap", 3_600_000));
    cancel(claim.runId());
    Claim cleaning = claim().claim();
    engine.report(seen(cleaning, "nap"));
    engine.report(sleep(cleaning, "later", 3_600_000));
    await(engine.engine().runs().terminate(NAMESPACE, claim.runId(), "now"));

    await(engine.engine().runs().resume(NAMESPACE, claim.runId(), null, true));

    assertThat(status(claim, "nap")).isEqualTo("FAILED");
    assertThat(status(claim, "later")).isEqualTo("RUNNING");
  }

  private static String status(Claim claim, String step) {
    return database
        .run(
            session ->
                session
                    .query("SELECT status FROM kagzi.step_runs WHERE run_id = ? AND step_id = ?")
                    .bind(claim.runId().value())
                    .bind(step)
                    .first(row -> row.text("status")))
        .orElseThrow();
  }

  @Test
  void the_successor_of_a_run_cleans_up_even_if_no_worker_has_claimed_it() {
    Claim claim = startAndClaim();
    engine.report(new Report.ContinueAsNew(claim, payload("1"), null, true, ""));

    CancelResult result = cancel(claim.runId());

    assertThat(result.status()).isEqualTo(RunStatus.PENDING);
    assertThat(claim().cancel()).isEqualTo(Task.Cancel.CLEAN_UP);
  }

  @Test
  void a_run_that_only_a_worker_without_clean_up_takes_ends_at_once() {
    Claim claim = startAndClaim();
    cancel(claim.runId());
    engine.report(new Report.Released(claim, 0, null));

    Poll poll = poll(0);

    awaitStatus(claim.runId(), RunStatus.CANCELLED);
    assertThat(poll.tasks()).isNotDone();
    poll.cancel();
  }

  @Test
  void a_clean_up_that_kills_its_workers_ends_cancelled() {
    Claim claim = startAndClaim();
    cancel(claim.runId());
    for (int crash = 0; crash < 3; crash++) {
      stored.expireLease(claim.runId());
      Poll poll = poll(GRACE_MS);
      Awaitility.await()
          .atMost(Duration.ofSeconds(20))
          .until(
              () ->
                  poll.tasks().isDone()
                      || engine.run(claim.runId()).status() == RunStatus.CANCELLED);
      poll.cancel();
    }

    awaitStatus(claim.runId(), RunStatus.CANCELLED);
    assertThat(engine.error(claim.runId())).contains("times in a row");
  }

  @Test
  void the_worker_learns_it_by_its_stream_and_by_each_heartbeat_of_that_claim() {
    CompletableFuture<List<Claim>> requested = attach(engine, worker);
    Claim claim = startAndClaim();

    cancel(claim.runId());

    assertThat(await(requested)).containsExactly(claim);
    for (int i = 0; i < 2; i++) {
      assertThat(heartbeat(claim))
          .isEqualTo(new HeartbeatResult(false, List.of(), List.of(), List.of(claim)));
    }
    engine.report(new Report.Released(claim, 0, null));
    Claim next = claim().claim();
    assertThat(heartbeat(next))
        .as("a claim whose task has it")
        .isEqualTo(new HeartbeatResult(false, List.of(), List.of(), List.of()));
  }

  private HeartbeatResult heartbeat(Claim claim) {
    return await(
        engine
            .engine()
            .workers()
            .heartbeat(new WorkerHeartbeat(worker, List.of(claim), null, 0, 0, null, 0, 0)));
  }

  private static CompletableFuture<List<Claim>> attach(TestEngine engine, WorkerId worker) {
    CompletableFuture<Boolean> attached = new CompletableFuture<>();
    CompletableFuture<List<Claim>> requested = new CompletableFuture<>();
    var unused =
        engine
            .engine()
            .workers()
            .attach(
                NAMESPACE,
                worker,
                new AttachListener() {
                  @Override
                  public void attached() {
                    attached.complete(true);
                  }

                  @Override
                  public void stop(List<Claim> claims, RunStatus status) {}

                  @Override
                  public void stepEnded(List<Claim> claims) {}

                  @Override
                  public void cancelRequested(List<Claim> claims) {
                    requested.complete(claims);
                  }

                  @Override
                  public void drain() {}

                  @Override
                  public void closed(Refusal why) {}
                });
    await(attached);
    return requested;
  }

  @Test
  void a_cancel_at_another_server_reaches_the_worker() {
    try (TestEngine other = TestEngine.start(database.config(), engine.queue().queue())) {
      CompletableFuture<List<Claim>> requested = attach(engine, worker);
      Claim claim = startAndClaim();

      await(other.engine().runs().cancel(NAMESPACE, claim.runId()));

      assertThat(await(requested)).containsExactly(claim);
      engine.report(seen(claim, "pay"));
      engine.report(done(claim, "1"));
      assertThat(other.run(claim.runId()).status()).isEqualTo(RunStatus.CANCELLED);
    }
  }

  @Test
  void an_explanation_names_the_request_and_the_end_of_the_grace() {
    Claim claim = startAndClaim();
    cancel(claim.runId());

    List<WaitCause> causes = engine.engine().queries().explain(NAMESPACE, claim.runId()).causes();

    assertThat(causes.getFirst().code()).isEqualTo(WaitCause.Code.CANCEL_REQUESTED);
    assertThat(causes.getFirst().text()).contains("A cancel was requested", "terminate");
    assertThat(causes.getFirst().at()).isEqualTo(engine.run(claim.runId()).deadlineAt());
    assertThat(causes).hasSizeGreaterThan(1);
  }
}
