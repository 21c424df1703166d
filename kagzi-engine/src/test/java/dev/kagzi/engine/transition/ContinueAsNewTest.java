package dev.kagzi.engine.transition;

import static dev.kagzi.engine.TestEngine.NAMESPACE;
import static dev.kagzi.engine.TestEngine.TYPE;
import static dev.kagzi.engine.TestEngine.await;
import static dev.kagzi.engine.TestEngine.done;
import static dev.kagzi.engine.TestEngine.failed;
import static dev.kagzi.engine.TestEngine.payload;
import static dev.kagzi.engine.TestEngine.stepDone;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kagzi.engine.EngineConfig;
import dev.kagzi.engine.FamilyTest;
import dev.kagzi.engine.Holds;
import dev.kagzi.engine.TestConfigs;
import dev.kagzi.engine.TestEngine;
import dev.kagzi.engine.config.JournalConfig;
import dev.kagzi.engine.dispatch.Poll;
import dev.kagzi.engine.dispatch.Task;
import dev.kagzi.engine.page.PageSpec;
import dev.kagzi.engine.query.RunView;
import dev.kagzi.engine.query.SignalView;
import dev.kagzi.engine.query.WaitCause;
import dev.kagzi.engine.run.CancelResult;
import dev.kagzi.engine.run.IfExists;
import dev.kagzi.engine.run.Report;
import dev.kagzi.engine.run.ReportResult;
import dev.kagzi.engine.run.ReportResult.ChildAccepted;
import dev.kagzi.engine.run.ReportResult.ClaimLost;
import dev.kagzi.engine.run.ReportResult.Continued;
import dev.kagzi.engine.run.ReportResult.Received;
import dev.kagzi.engine.run.ReportResult.Refused;
import dev.kagzi.engine.run.RunEnd;
import dev.kagzi.engine.run.SignalRequest;
import dev.kagzi.engine.run.SignalResult;
import dev.kagzi.engine.run.StartOptions;
import dev.kagzi.engine.run.StartRequest;
import dev.kagzi.engine.run.StartResult;
import dev.kagzi.engine.value.CallbackAnswer;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.RecordedStep;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.StepKind;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Chains of runs: a run ends, its successor starts, and calls, children and parents follow the
 * chain.
 */
class ContinueAsNewTest extends FamilyTest {
  /** The statement that inserts successors. */
  private static final String INSERTS_SUCCESSOR = "continued_from,";

  /** With one lane, writes that wait for it share a batch. */
  @Override
  protected TestEngine start(Holds connections) {
    EngineConfig config =
        TestConfigs.withJournal(JournalConfig.defaults().withLanes(1))
            .withCoordinatorInterval(Duration.ofMillis(100));
    return TestEngine.start(database.config(), queue, config, connections);
  }

  private static Report next(Claim claim) {
    return next(claim, "\"next\"");
  }

  private static Report next(Claim claim, String input) {
    return new Report.ContinueAsNew(claim, payload(input), null, false, "");
  }

  private RunId continued(ReportResult result) {
    assertThat(result).isInstanceOf(Continued.class);
    return ((Continued) result).successor();
  }

  private Claim startAndClaim(String externalId) {
    engine.start(externalId);
    return engine.claimOne(worker).claim();
  }

  private long successors(RunId first) {
    return stored.count(
        "SELECT count(*) AS value FROM kagzi.workflow_runs WHERE first_run_id = '" + first + "'");
  }

  private static SignalRequest signal(String id) {
    return new SignalRequest("approval", payload("\"" + id + "\""), id);
  }

  private SignalResult send(RunId run, String id) {
    return await(engine.engine().runs().signal(NAMESPACE, run, signal(id)));
  }

  private List<SignalView> signals(RunId run) {
    return engine.engine().queries().signals(NAMESPACE, run, false, PageSpec.FIRST).items();
  }

  private @Nullable Payload received(Claim claim, String step) {
    ReportResult result = engine.report(new Report.Receive(claim, step, "approval", null, true));
    assertThat(result).isInstanceOf(Received.class);
    return ((RecordedStep.Result.Output) ((Received) result).step().result()).payload();
  }

  private static Report.ChildStarted child(Claim claim, String step, boolean detached) {
    StartRequest start =
        new StartRequest(NAMESPACE, "", "", TYPE, "", payload("1"), null, null, StartOptions.NONE);
    return new Report.ChildStarted(claim, step, 1, start, detached);
  }

  private static void assertRefused(CompletableFuture<?> answer, Refusal.Code code, String text) {
    assertThatThrownBy(() -> await(answer))
        .isInstanceOfSatisfying(
            Refusal.class, refusal -> assertThat(refusal.code()).isEqualTo(code))
        .hasMessageContaining(text);
  }

  @Test
  void the_successor_starts_under_the_external_id_with_the_options_of_the_run() {
    StartOptions options =
        new StartOptions(
            60_000L,
            null,
            7_000L,
            90_000L,
            "handler",
            "handlers",
            IfExists.USE_EXISTING,
            null,
            Map.of("tenant", "a"));
    RunId run =
        await(
                engine
                    .engine()
                    .runs()
                    .start(
                        new StartRequest(
                            NAMESPACE, queue, queue, TYPE, "", payload("1"), null, null, options)))
            .runId();
    Claim claim = engine.claimOne(worker).claim();
    engine.report(stepDone(claim, "a", "1"));

    RunId successor = continued(engine.report(next(claim, "2")));

    RunView old = engine.run(run);
    assertThat(old.status()).isEqualTo(RunStatus.COMPLETED);
    assertThat(old.output()).isNull();
    assertThat(old.setup().chain()).isEqualTo(new RunView.Chain(successor, null, null));
    RunView now = engine.run(successor);
    assertThat(now.setup().chain()).isEqualTo(new RunView.Chain(null, run, run));
    assertThat(now.externalId()).isEqualTo(queue);
    assertThat(now.input()).isEqualTo(payload("2"));
    assertThat(now.setup().executionTimeoutMs()).isEqualTo(60_000L);
    assertThat(now.setup().stepTimeoutMs()).isEqualTo(7_000L);
    assertThat(now.setup().heartbeatTimeoutMs()).isEqualTo(90_000L);
    assertThat(now.setup().onFailureWorkflow()).isEqualTo("handler");
    assertThat(now.setup().onFailureTaskQueue()).isEqualTo("handlers");
    assertThat(now.setup().headers()).isEqualTo(Map.of("tenant", "a"));
    assertThat(now.deadlineAt()).isEqualTo(now.createdAt().plusSeconds(60));
    assertThat(engine.engine().queries().byExternalId(NAMESPACE, queue).runId())
        .isEqualTo(successor);
    Task task = engine.claimOne(worker);
    assertThat(task.claim()).isEqualTo(new Claim(successor, 1));
    assertThat(task.steps()).isEmpty();
    assertThat(task.input()).isEqualTo(payload("2"));
  }

  @Test
  void a_repeated_report_starts_one_successor_also_after_that_has_continued() {
    Claim claim = startAndClaim(queue);
    RunId successor = continued(engine.report(next(claim)));
    Claim second = engine.claimOne(worker).claim();
    RunId third = continued(engine.report(next(second)));

    assertThat(engine.report(next(claim, "\"other\""))).isEqualTo(new Continued(successor));
    assertThat(engine.report(next(second))).isEqualTo(new Continued(third));
    assertThat(engine.report(done(claim, "1"))).isEqualTo(new ClaimLost(RunStatus.COMPLETED));
    assertThat(engine.run(third).setup().chain().first()).isEqualTo(claim.runId());
    assertThat(successors(claim.runId())).isEqualTo(2);
  }

  @Test
  void another_server_hands_out_the_successor() {
    try (TestEngine other = start(new Holds(database.config()))) {
      Claim claim = startAndClaim(queue);
      Poll poll = other.poll(other.register(), 1);

      RunId successor = continued(engine.report(next(claim)));

      assertThat(await(poll.tasks()).get(0).claim()).isEqualTo(new Claim(successor, 1));
    }
  }

  @Test
  void an_explanation_names_the_successor() {
    Claim claim = startAndClaim(queue);
    RunId successor = continued(engine.report(next(claim)));

    assertThat(engine.engine().queries().explain(NAMESPACE, claim.runId()).causes())
        .singleElement()
        .satisfies(
            cause -> {
              assertThat(cause.code()).isEqualTo(WaitCause.Code.ENDED);
              assertThat(cause.text()).contains("continued as run " + successor);
              assertThat(cause.refs())
                  .extracting(WaitCause.Ref::id)
                  .containsExactly(successor.toString());
            });
  }

  @Test
  void a_lost_claim_and_a_run_that_has_ended_otherwise_continue_nothing() {
    Claim claim = startAndClaim(queue);

    assertThat(engine.report(next(new Claim(claim.runId(), 99))))
        .isEqualTo(new ClaimLost(RunStatus.RUNNING));
    engine.report(done(claim, "1"));
    assertThat(engine.report(next(claim))).isEqualTo(new ClaimLost(RunStatus.COMPLETED));
    assertThat(engine.run(claim.runId()).setup().chain()).isEqualTo(RunView.Chain.NONE);
  }

  @Test
  void a_failed_chain_keeps_the_retry_policy_and_the_version_can_change() {
    RunId run = engine.start();
    Claim claim = engine.claimOne(worker).claim();

    RunId successor =
        continued(engine.report(new Report.ContinueAsNew(claim, payload("1"), "v2", false, "")));

    assertThat(engine.run(run).version()).isEmpty();
    assertThat(engine.run(successor).version()).isEqualTo("v2");
  }

  @Test
  void who_waits_for_the_first_run_gets_the_end_of_the_last_on_each_server() throws Exception {
    try (TestEngine other = start(new Holds(database.config()))) {
      Claim claim = startAndClaim(queue);
      CompletableFuture<Optional<RunEnd>> here = engine.end(claim.runId());
      CompletableFuture<Optional<RunEnd>> there = other.end(claim.runId());
      engine.report(next(claim));
      Claim second = engine.claimOne(worker).claim();
      engine.report(next(second));
      Claim third = engine.claimOne(worker).claim();
      CompletableFuture<Optional<RunEnd>> fromTheMiddle = other.end(second.runId());

      assertThat(here).isNotDone();
      assertThat(there).isNotDone();
      engine.report(done(third, "\"all\""));

      RunEnd end = new RunEnd(third.runId(), RunStatus.COMPLETED, payload("\"all\""), null);
      assertThat(await(here)).contains(end);
      assertThat(await(there)).contains(end);
      assertThat(await(fromTheMiddle)).contains(end);
      assertThat(await(engine.end(claim.runId()))).contains(end);
      assertThat(await(other.end(claim.runId()))).contains(end);
      assertThat(engine.engine().queries().lastOfChain(NAMESPACE, claim.runId()).runId())
          .isEqualTo(third.runId());
    }
  }

  @Test
  void the_end_of_a_long_chain_is_found_without_walking_it() {
    Claim first = startAndClaim(queue);
    CompletableFuture<Optional<RunEnd>> end = engine.end(first.runId());
    Claim last = first;
    for (int i = 0; i < 30; i++) {
      engine.report(next(last));
      last = engine.claimOne(worker).claim();
    }

    engine.report(done(last, "1"));

    assertThat(await(end).orElseThrow().runId()).isEqualTo(last.runId());
    assertThat(await(engine.end(first.runId())).orElseThrow().runId()).isEqualTo(last.runId());
    assertRefused(
        engine.engine().runs().signal(NAMESPACE, first.runId(), signal("late")),
        Refusal.Code.RUN_ENDED,
        last.runId().toString());
  }

  @Test
  void signals_that_are_not_received_move_along_in_their_order() {
    Claim claim = startAndClaim(queue);
    for (String id : List.of("a", "b", "c")) {
      send(claim.runId(), id);
    }
    assertThat(received(claim, "approval")).isEqualTo(payload("\"a\""));

    RunId successor = continued(engine.report(next(claim)));
    send(successor, "d");
    Claim second = engine.claimOne(worker).claim();

    assertThat(signals(claim.runId())).extracting(SignalView::signalId).containsExactly("a");
    assertThat(signals(successor)).extracting(SignalView::signalId).containsExactly("b", "c", "d");
    assertThat(received(second, "approval")).isEqualTo(payload("\"b\""));
    assertThat(received(second, "approval#2")).isEqualTo(payload("\"c\""));
    assertThat(received(second, "approval#3")).isEqualTo(payload("\"d\""));
  }

  @Test
  void a_signal_of_the_same_batch_moves_along() throws Exception {
    Claim claim = startAndClaim(queue);
    CompletableFuture<SignalResult> sent;
    CompletableFuture<List<ReportResult>> reported;
    CompletableFuture<SignalResult> after;
    RunId other = engine.start();
    CompletableFuture<?> held;
    try (Holds.Hold hold = holds.statement(LOCK)) {
      // While the lane is held, the next writes wait for one batch.
      held = engine.engine().runs().cancel(NAMESPACE, other);
      hold.awaitReached();
      sent = engine.engine().runs().signal(NAMESPACE, claim.runId(), signal("a"));
      reported = engine.engine().reports().accept(NAMESPACE, List.of(next(claim)));
      after = engine.engine().runs().signal(NAMESPACE, claim.runId(), signal("b"));
    }
    await(held);

    RunId successor = continued(await(reported).get(0));
    assertThat(await(sent).known()).isFalse();
    assertThat(await(after)).isEqualTo(new SignalResult(successor, false));
    assertThat(signals(successor)).extracting(SignalView::signalId).containsExactly("a", "b");
    assertThat(signals(claim.runId())).isEmpty();
  }

  @Test
  void a_repeated_signal_is_harmless_in_every_run_of_the_chain() {
    Claim claim = startAndClaim(queue);
    send(claim.runId(), "received");
    send(claim.runId(), "moved");
    assertThat(received(claim, "approval")).isEqualTo(payload("\"received\""));
    RunId successor = continued(engine.report(next(claim)));
    send(successor, "late");
    Claim second = engine.claimOne(worker).claim();
    received(second, "approval");
    RunId third = continued(engine.report(next(second)));

    for (RunId run : List.of(claim.runId(), successor, third)) {
      for (String id : List.of("received", "moved", "late")) {
        assertThat(send(run, id).known()).as("%s to %s", id, run).isTrue();
      }
    }
    assertThat(signals(third)).extracting(SignalView::signalId).containsExactly("late");
    assertThat(send(claim.runId(), "new")).isEqualTo(new SignalResult(third, false));
    assertRefused(
        engine
            .engine()
            .runs()
            .signal(NAMESPACE, third, new SignalRequest("other", payload("1"), "moved")),
        Refusal.Code.INVALID_ARGUMENT,
        "approval");
  }

  @Test
  void a_signal_or_start_finds_the_open_run_of_the_chain_and_what_earlier_runs_accepted() {
    StartRequest start = engine.request(queue, null);
    RunId run = await(engine.engine().runs().signalOrStart(start, signal("a"))).runId();
    Claim claim = engine.claimOne(worker).claim();
    RunId successor = continued(engine.report(next(claim)));

    var again = await(engine.engine().runs().signalOrStart(start, signal("a")));
    var other = await(engine.engine().runs().signalOrStart(start, signal("b")));

    assertThat(claim.runId()).isEqualTo(run);
    assertThat(again.runId()).isEqualTo(successor);
    assertThat(again.known()).isTrue();
    assertThat(other.runId()).isEqualTo(successor);
    assertThat(other.started()).isFalse();
    assertThat(signals(successor)).extracting(SignalView::signalId).containsExactly("a", "b");
  }

  /** The start waits for the transaction that ends the run and inserts its successor. */
  @Test
  void no_start_takes_the_external_id_between_a_run_and_its_successor() throws Exception {
    Claim claim = startAndClaim(queue);
    try (TestEngine other = start(new Holds(database.config()))) {
      CompletableFuture<List<ReportResult>> reported;
      CompletableFuture<StartResult> started;
      try (Holds.Hold hold = holds.statement(INSERTS_SUCCESSOR)) {
        reported = engine.engine().reports().accept(NAMESPACE, List.of(next(claim)));
        hold.awaitReached();
        started = other.engine().runs().start(other.request(queue, null));
        Awaitility.await().until(stored::somebodyWaitsForALock);
      }

      RunId successor = continued(await(reported).get(0));
      assertThat(await(started).existed()).isTrue();
      assertThat(await(started).runId()).isEqualTo(successor);
    }
  }

  @Test
  void a_signal_in_the_moment_of_the_commit_reaches_the_successor_from_another_server()
      throws Exception {
    Claim claim = startAndClaim(queue);
    try (TestEngine other = start(new Holds(database.config()))) {
      CompletableFuture<List<ReportResult>> reported;
      CompletableFuture<SignalResult> sent;
      try (Holds.Hold hold = holds.commitAfter(INSERTS_SUCCESSOR)) {
        reported = engine.engine().reports().accept(NAMESPACE, List.of(next(claim)));
        hold.awaitReached();
        sent = other.engine().runs().signal(NAMESPACE, claim.runId(), signal("a"));
        Awaitility.await().until(stored::somebodyWaitsForALock);
      }

      RunId successor = continued(await(reported).get(0));
      assertThat(await(sent)).isEqualTo(new SignalResult(successor, false));
      assertThat(signals(successor)).hasSize(1);
    }
  }

  @Test
  void a_cancel_in_the_moment_of_the_commit_cancels_the_successor() throws Exception {
    Claim claim = startAndClaim(queue);
    try (TestEngine other = start(new Holds(database.config()))) {
      CompletableFuture<List<ReportResult>> reported;
      CompletableFuture<CancelResult> cancelled;
      try (Holds.Hold hold = holds.commitAfter(INSERTS_SUCCESSOR)) {
        reported = engine.engine().reports().accept(NAMESPACE, List.of(next(claim)));
        hold.awaitReached();
        cancelled = other.engine().runs().cancel(NAMESPACE, claim.runId());
        Awaitility.await().until(stored::somebodyWaitsForALock);
      }

      RunId successor = continued(await(reported).get(0));
      assertThat(await(cancelled)).isEqualTo(new CancelResult(true, RunStatus.CANCELLED));
      assertThat(engine.run(successor).status()).isEqualTo(RunStatus.CANCELLED);
      assertThat(await(engine.end(claim.runId())).orElseThrow().status())
          .isEqualTo(RunStatus.CANCELLED);
      assertThat(await(other.engine().runs().cancel(NAMESPACE, claim.runId())).cancelled())
          .isTrue();
    }
  }

  @Test
  void a_run_that_was_cancelled_first_does_not_continue() {
    Claim claim = startAndClaim(queue);
    await(engine.engine().runs().cancel(NAMESPACE, claim.runId()));

    assertThat(engine.report(next(claim))).isEqualTo(new ClaimLost(RunStatus.CANCELLED));
    assertThat(successors(claim.runId())).isZero();
  }

  @Test
  void a_termination_of_the_first_run_ends_the_last_one() {
    Claim claim = startAndClaim(queue);
    RunId successor = continued(engine.report(next(claim)));

    CancelResult result =
        await(engine.engine().runs().terminate(NAMESPACE, claim.runId(), "enough"));

    assertThat(result).isEqualTo(new CancelResult(true, RunStatus.FAILED));
    assertThat(engine.error(successor)).isEqualTo("terminated: enough");
  }

  @Test
  void open_children_are_named_and_children_that_have_ended_or_are_detached_are_not() {
    engine.start();
    Claim claim = engine.claimOne(worker).claim();
    engine.report(child(claim, "pack", false));
    engine.report(child(claim, "mail", true));

    List<ReportResult> refused = engine.report(List.of(child(claim, "ship", false), next(claim)));

    assertThat(refused.get(1))
        .isInstanceOfSatisfying(
            Refused.class,
            why -> {
              assertThat(why.refusal().code()).isEqualTo(Refusal.Code.OPEN_STEPS);
              assertThat(why.refusal().getMessage()).contains("pack, ship").doesNotContain("mail");
            });
    assertThat(engine.run(claim.runId()).status()).isEqualTo(RunStatus.RUNNING);
    for (int i = 0; i < 3; i++) {
      engine.report(done(engine.claimOne(worker).claim(), "1"));
    }
    continued(engine.report(new Report.ContinueAsNew(claim, payload("1"), null, true, "")));
    assertThat(
            stored.count(
                "SELECT count(*) AS value FROM kagzi.step_runs WHERE run_id = '"
                    + claim.runId()
                    + "' AND status = 'RUNNING'"))
        .isZero();
  }

  private static Report next(Claim claim, String input, String step) {
    return new Report.ContinueAsNew(claim, payload(input), null, true, step);
  }

  private static String message(ReportResult refused) {
    assertThat(refused).isInstanceOf(Refused.class);
    return ((Refused) refused).refusal().getMessage();
  }

  @Test
  void a_refusal_is_recorded_and_stays_although_the_child_has_ended() {
    Family family = family();
    Report report = next(family.parent, "1", "continue-as-new");
    String refused = message(engine.report(report));
    engine.report(done(family.child, "1"));

    assertThat(message(engine.report(report))).as("sent again").isEqualTo(refused);
    engine.report(new Report.Released(family.parent, 0, null));
    Task task = engine.claimOne(worker);

    assertThat(task.steps())
        .filteredOn(step -> step.stepKey().equals("continue-as-new"))
        .singleElement()
        .satisfies(
            step ->
                assertThat(step.result())
                    .isInstanceOfSatisfying(
                        RecordedStep.Result.FinalFailure.class,
                        failure -> {
                          assertThat(failure.failure().message()).isEqualTo(refused);
                          assertThat(failure.failure().metadata())
                              .containsEntry("code", "OPEN_STEPS");
                        }));
    continued(engine.report(next(task.claim(), "1", "continue-as-new#2")));
  }

  @Test
  void the_next_attempt_of_a_run_is_not_refused_for_what_an_earlier_one_was() {
    Family family = family();
    message(engine.report(next(family.parent, "1", "continue-as-new")));
    engine.report(failed(family.parent, "cannot continue"));
    engine.report(done(family.child, "1"));
    await(engine.engine().runs().resume(NAMESPACE, family.parent.runId(), null, false));
    Claim second = engine.claimOne(worker).claim();

    continued(engine.report(next(second, "1", "continue-as-new")));
  }

  @Test
  void a_callback_without_an_answer_is_named_and_its_answer_does_not_move() {
    engine.start();
    Claim claim = engine.claimOne(worker).claim();
    engine.report(
        new Report.StepDone(claim, "payment", 1, StepKind.CALLBACK, null, payload("1"), 0, ""));

    assertThat(engine.report(next(claim)))
        .isInstanceOfSatisfying(
            Refused.class,
            why -> {
              assertThat(why.refusal().code()).isEqualTo(Refusal.Code.OPEN_STEPS);
              assertThat(why.refusal().getMessage()).contains("payment");
            });

    await(
        engine
            .engine()
            .runs()
            .answerCallback(
                NAMESPACE, claim.runId(), "payment", new CallbackAnswer.Completed(payload("1"))));
    RunId successor = continued(engine.report(next(claim)));
    assertThat(
            stored.count(
                "SELECT count(*) AS value FROM kagzi.run_signals WHERE run_id = '"
                    + successor
                    + "'"))
        .isZero();
  }

  @Test
  void a_callback_of_the_same_batch_is_named_too() {
    Claim claim = startAndClaim(queue);

    List<ReportResult> results =
        engine.report(
            List.of(
                new Report.StepDone(
                    claim, "payment", 1, StepKind.CALLBACK, null, payload("1"), 0, ""),
                next(claim)));

    assertThat(message(results.get(1))).contains("payment");
  }

  @Test
  void each_run_of_a_chain_has_answers_of_its_own_to_callbacks_of_the_same_name() {
    engine.start();
    for (int i = 0; i < 4; i++) {
      Claim claim = engine.claimOne(worker).claim();
      engine.report(
          new Report.StepDone(claim, "payment", 1, StepKind.CALLBACK, null, payload("1"), 0, ""));
      await(
          engine
              .engine()
              .runs()
              .answerCallback(
                  NAMESPACE, claim.runId(), "payment", new CallbackAnswer.Completed(payload("1"))));
      continued(engine.report(next(claim)));
    }
  }

  private record Family(Claim parent, Claim child) {}

  private Family family() {
    engine.start();
    Claim parent = engine.claimOne(worker).claim();
    RunId child = ((ChildAccepted) engine.report(child(parent, "a", false))).child();
    Claim claim = engine.claimOne(worker).claim();
    assertThat(claim.runId()).isEqualTo(child);
    return new Family(parent, claim);
  }

  private static Report awaited(Claim parent) {
    return new Report.Awaited(parent, List.of("a"), true, null, false);
  }

  @Test
  void a_parent_that_waits_gets_the_result_of_the_last_run_of_its_childs_chain() {
    Family family = family();
    engine.report(awaited(family.parent));
    RunId successor = continued(engine.report(next(family.child)));
    Claim second = engine.claimOne(worker).claim();

    assertThat(engine.run(family.parent.runId()).status()).isEqualTo(RunStatus.SLEEPING);
    engine.report(done(second, "\"last\""));

    assertThat(second.runId()).isEqualTo(successor);
    Task woken = engine.claimOne(worker);
    assertThat(woken.claim().runId()).isEqualTo(family.parent.runId());
    assertThat(woken.steps())
        .singleElement()
        .satisfies(
            step -> {
              assertThat(step.result())
                  .isEqualTo(new RecordedStep.Result.Output(payload("\"last\"")));
              assertThat(step.child()).isEqualTo(family.child.runId());
            });
  }

  @Test
  void a_failure_of_the_last_run_reaches_the_parent() {
    Family family = family();
    engine.report(awaited(family.parent));
    engine.report(next(family.child));

    engine.report(failed(engine.claimOne(worker).claim(), "boom"));

    assertThat(engine.claimOne(worker).steps())
        .singleElement()
        .satisfies(
            step -> assertThat(step.result()).isInstanceOf(RecordedStep.Result.FinalFailure.class));
  }

  @Test
  void a_cancel_of_the_parent_reaches_the_last_run_of_its_childs_chain() {
    Family family = family();
    RunId successor = continued(engine.report(next(family.child)));

    await(engine.engine().runs().cancel(NAMESPACE, family.parent.runId()));

    Awaitility.await().until(() -> engine.run(successor).status() == RunStatus.CANCELLED);
  }

  /** The parent's cancel sees the child as open, because the successor is not committed. */
  @Test
  void a_cancel_of_the_parent_in_the_moment_of_the_commit_reaches_the_successor() throws Exception {
    Family family = family();
    try (TestEngine other = start(new Holds(database.config()))) {
      CompletableFuture<List<ReportResult>> reported;
      try (Holds.Hold hold = holds.commitAfter(INSERTS_SUCCESSOR)) {
        reported = engine.engine().reports().accept(NAMESPACE, List.of(next(family.child)));
        hold.awaitReached();
        await(other.engine().runs().cancel(NAMESPACE, family.parent.runId()));
      }

      RunId successor = continued(await(reported).get(0));
      Awaitility.await().until(() -> engine.run(successor).status() == RunStatus.CANCELLED);
    }
  }

  private void postCancel(RunId run) {
    database.execute(
        "INSERT INTO kagzi.run_messages (to_run, step_id, what, created_at) VALUES ('"
            + run
            + "', '', 'CANCEL', kagzi.clock())");
  }

  /**
   * The report reads and deletes the messages to its run, because they may be results that it waits
   * for. The cancel is one of these messages.
   */
  @Test
  void a_cancel_of_the_parent_is_not_lost_to_a_report_that_is_sent_again() {
    Family family = family();
    RunId successor = continued(engine.report(next(family.child)));
    postCancel(family.child.runId());

    engine.report(new Report.Awaited(family.child, List.of("b"), true, null, true));

    Awaitility.await().until(() -> engine.run(successor).status() == RunStatus.CANCELLED);
  }

  @Test
  void a_cancel_of_the_parent_is_not_lost_to_a_report_from_another_namespace() {
    Family family = family();
    postCancel(family.child.runId());

    ReportResult result =
        await(
                engine
                    .engine()
                    .reports()
                    .accept(
                        "other",
                        List.of(new Report.Awaited(family.child, List.of("b"), true, null, true))))
            .getFirst();

    assertThat(result).isInstanceOf(Refused.class);
    Awaitility.await()
        .until(() -> engine.run(family.child.runId()).status() == RunStatus.CANCELLED);
  }

  @Test
  void a_resumed_parent_gets_the_result_of_a_chain_that_completed_meanwhile() {
    Family family = family();
    engine.report(next(family.child));
    Claim second = engine.claimOne(worker).claim();
    engine.report(failed(family.parent, "boom"));
    engine.report(done(second, "\"last\""));

    await(engine.engine().runs().resume(NAMESPACE, family.parent.runId(), null, false));

    Task resumed = engine.claimOne(worker);
    assertThat(engine.report(awaited(resumed.claim())))
        .isInstanceOfSatisfying(
            ReportResult.AwaitedSteps.class,
            ended ->
                assertThat(ended.steps())
                    .extracting(RecordedStep::result)
                    .containsExactly(new RecordedStep.Result.Output(payload("\"last\""))));
  }

  @Test
  void a_resumed_parent_starts_a_child_again_whose_chain_failed_meanwhile() {
    Family family = family();
    engine.report(next(family.child));
    Claim second = engine.claimOne(worker).claim();
    engine.report(failed(family.parent, "boom"));
    engine.report(failed(second, "broken"));

    await(engine.engine().runs().resume(NAMESPACE, family.parent.runId(), null, false));

    assertThat(engine.claimOne(worker).steps())
        .singleElement()
        .satisfies(step -> assertThat(step.result()).isInstanceOf(RecordedStep.Result.Retry.class));
  }

  @Test
  void a_run_that_has_continued_is_neither_retried_nor_resumed() {
    Claim claim = startAndClaim(queue);
    RunId successor = continued(engine.report(next(claim)));
    Claim second = engine.claimOne(worker).claim();
    RunId third = continued(engine.report(next(second)));
    engine.report(failed(engine.claimOne(worker).claim(), "boom"));

    assertThatThrownBy(
            () -> await(engine.engine().runs().retry(NAMESPACE, claim.runId(), null, null)))
        .isInstanceOfSatisfying(
            Refusal.class,
            refusal -> assertThat(refusal.code()).isEqualTo(Refusal.Code.RUN_CONTINUED))
        .hasMessageContaining(successor.toString())
        .hasMessageContaining(third.toString());
    assertRefused(
        engine.engine().runs().resume(NAMESPACE, claim.runId(), null, true),
        Refusal.Code.RUN_CONTINUED,
        third.toString());
    assertThat(await(engine.engine().runs().resume(NAMESPACE, third, null, false)).resumed())
        .isTrue();
  }

  @Test
  void the_last_run_can_be_resumed_and_who_waits_for_the_chain_gets_the_new_end() {
    Claim claim = startAndClaim(queue);
    RunId successor = continued(engine.report(next(claim)));
    engine.report(failed(engine.claimOne(worker).claim(), "boom"));
    assertThat(await(engine.end(claim.runId())).orElseThrow().status()).isEqualTo(RunStatus.FAILED);

    await(engine.engine().runs().resume(NAMESPACE, successor, null, false));
    CompletableFuture<Optional<RunEnd>> end = engine.end(claim.runId());
    engine.report(done(engine.claimOne(worker).claim(), "1"));

    assertThat(await(end).orElseThrow().status()).isEqualTo(RunStatus.COMPLETED);
  }

  @Test
  void a_retry_of_the_last_run_begins_a_chain_of_its_own_and_gets_no_signals() {
    Claim claim = startAndClaim(queue);
    RunId successor = continued(engine.report(next(claim)));
    Claim second = engine.claimOne(worker).claim();
    send(successor, "a");
    engine.report(failed(second, "boom"));

    RunId again = await(engine.engine().runs().retry(NAMESPACE, successor, null, null)).runId();

    assertThat(engine.run(again).setup().chain()).isEqualTo(RunView.Chain.NONE);
    assertThat(engine.run(again).input()).isEqualTo(payload("\"next\""));
    assertThat(signals(again)).isEmpty();
  }

  @Test
  void a_deadline_holds_for_the_chain_and_the_timeout_for_each_run() {
    Instant deadline = Instant.now().plus(Duration.ofHours(1)).truncatedTo(ChronoUnit.MILLIS);
    StartOptions options =
        new StartOptions(
            60_000L, deadline, null, null, "", "", IfExists.USE_EXISTING, null, Map.of());
    RunId run = engine.start(options);
    Claim claim = engine.claimOne(worker).claim();
    RunId successor = continued(engine.report(next(claim)));

    RunView now = engine.run(successor);
    assertThat(engine.run(run).deadlineAt()).isEqualTo(engine.run(run).createdAt().plusSeconds(60));
    assertThat(now.deadlineAt()).isEqualTo(now.createdAt().plusSeconds(60));
    assertThat(
            stored.text(
                "SELECT (chain_deadline = '"
                    + deadline
                    + "')::text AS value FROM kagzi.workflow_runs WHERE run_id = '"
                    + successor
                    + "'"))
        .isEqualTo("true");

    RunId only =
        engine.start(
            new StartOptions(
                null, deadline, null, null, "", "", IfExists.USE_EXISTING, null, Map.of()));
    engine.report(done(engine.claimOne(worker).claim(), "1"));
    Claim second = engine.claimOne(worker).claim();
    assertThat(second.runId()).isEqualTo(only);
    RunId last = continued(engine.report(next(second)));
    assertThat(engine.run(last).deadlineAt()).isEqualTo(deadline);
  }

  @Test
  void a_resume_and_a_retry_give_the_chain_its_time_again() {
    Instant deadline = Instant.now().plus(Duration.ofHours(1));
    RunId run =
        engine.start(
            new StartOptions(
                60_000L, deadline, null, null, "", "", IfExists.USE_EXISTING, null, Map.of()));
    engine.report(failed(engine.claimOne(worker).claim(), "boom"));
    database.execute(
        "UPDATE kagzi.workflow_runs SET chain_deadline = kagzi.clock() - interval '1 day'"
            + " WHERE run_id = '%s'".formatted(run));

    RunId retried = await(engine.engine().runs().retry(NAMESPACE, run, null, null)).runId();
    RunId afterRetry = continued(engine.report(next(engine.claimOne(worker).claim())));
    engine.report(done(engine.claimOne(worker).claim(), "1"));
    await(engine.engine().runs().resume(NAMESPACE, run, null, false));
    RunId afterResume = continued(engine.report(next(engine.claimOne(worker).claim())));

    for (RunId each : List.of(retried, afterRetry, run, afterResume)) {
      assertThat(
              stored.count(
                  "SELECT extract(epoch FROM chain_deadline - kagzi.clock())::bigint AS value"
                      + " FROM kagzi.workflow_runs WHERE run_id = '%s'".formatted(each)))
          .isBetween(3_500L, 3_601L);
      assertThat(engine.run(each).deadlineAt()).isBefore(deadline.minusSeconds(1_000));
    }
  }

  @Test
  void a_chain_whose_deadline_has_passed_times_out() {
    RunId run =
        engine.start(
            new StartOptions(
                null,
                Instant.now().plusSeconds(2),
                null,
                null,
                "",
                "",
                IfExists.USE_EXISTING,
                null,
                Map.of()));
    Claim claim = engine.claimOne(worker).claim();
    RunId successor = continued(engine.report(next(claim)));

    Awaitility.await().until(() -> engine.run(successor).status() == RunStatus.TIMED_OUT);
    assertThat(await(engine.end(run)).orElseThrow().status()).isEqualTo(RunStatus.TIMED_OUT);
  }
}
