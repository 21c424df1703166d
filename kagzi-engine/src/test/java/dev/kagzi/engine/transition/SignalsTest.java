package dev.kagzi.engine.transition;

import static dev.kagzi.engine.TestEngine.NAMESPACE;
import static dev.kagzi.engine.TestEngine.await;
import static dev.kagzi.engine.TestEngine.done;
import static dev.kagzi.engine.TestEngine.failed;
import static dev.kagzi.engine.TestEngine.payload;
import static dev.kagzi.engine.TestEngine.sleep;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.kagzi.engine.EngineConfig;
import dev.kagzi.engine.TestEngine;
import dev.kagzi.engine.dispatch.Poll;
import dev.kagzi.engine.dispatch.Task;
import dev.kagzi.engine.metrics.StatementMetrics;
import dev.kagzi.engine.page.PageSpec;
import dev.kagzi.engine.query.SignalView;
import dev.kagzi.engine.query.WaitCause;
import dev.kagzi.engine.run.Caller;
import dev.kagzi.engine.run.Report;
import dev.kagzi.engine.run.ReportResult;
import dev.kagzi.engine.run.ReportResult.Received;
import dev.kagzi.engine.run.ReportResult.Receiving;
import dev.kagzi.engine.run.SignalRequest;
import dev.kagzi.engine.run.SignalResult;
import dev.kagzi.engine.run.SignalStartResult;
import dev.kagzi.engine.run.StartRequest;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.Limits;
import dev.kagzi.engine.value.RecordedStep;
import dev.kagzi.engine.value.RecordedStep.Result;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.StepKind;
import dev.kagzi.engine.value.WorkerId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Signals: who receives which, and when; alone, in branches, and over two servers. */
class SignalsTest extends EngineFixture {
  private Claim startAndClaim() {
    engine.start();
    return engine.claimOne(worker).claim();
  }

  private static SignalRequest signal(String name, String id) {
    return new SignalRequest(name, payload("\"" + id + "\""), id);
  }

  private SignalResult send(RunId run, String name, String id) {
    return await(engine.engine().runs().signal(NAMESPACE, run, signal(name, id)));
  }

  private static Report.Receive receive(Claim claim, String step, @Nullable Long timeoutMs) {
    return new Report.Receive(claim, step, "approval", timeoutMs, false);
  }

  private static Report.Receive receiveInBranch(Claim claim, String step) {
    return new Report.Receive(claim, step, "approval", null, true);
  }

  private static Result output(String id) {
    return new Result.Output(payload("\"" + id + "\""));
  }

  private List<SignalView> signals(RunId run) {
    return engine.engine().queries().signals(NAMESPACE, run, false, PageSpec.FIRST).items();
  }

  @Test
  void signals_that_arrive_before_anybody_waits_are_received_in_their_order() {
    Claim claim = startAndClaim();
    for (String id : List.of("a", "b", "c")) {
      assertThat(send(claim.runId(), "approval", id))
          .isEqualTo(new SignalResult(claim.runId(), false));
    }
    send(claim.runId(), "other", "d");

    List<ReportResult> received =
        engine.report(
            List.of(
                receive(claim, "approval", null),
                receive(claim, "approval#2", null),
                receive(claim, "approval#3", null)));

    assertThat(received)
        .extracting(SignalsTest::result)
        .containsExactly(output("a"), output("b"), output("c"));
    assertThat(engine.report(receive(claim, "approval#4", null)))
        .isEqualTo(new Receiving(null, false));
    assertThat(engine.run(claim.runId()).status()).isEqualTo(RunStatus.SLEEPING);
  }

  @Test
  void a_received_signal_is_recorded_as_a_step_and_received_once() {
    Claim claim = startAndClaim();
    send(claim.runId(), "approval", "a");
    engine.report(receive(claim, "approval", null));

    ReportResult again = engine.report(receive(claim, "approval", null));
    engine.report(new Report.Released(claim, 0, null));
    Task next = engine.claimOne(worker);

    assertThat(result(again)).isEqualTo(output("a"));
    assertThat(next.steps()).hasSize(1);
    assertThat(next.steps().get(0).kind()).isEqualTo(StepKind.SIGNAL);
    assertThat(result(next, "approval")).isEqualTo(output("a"));
    assertThat(signals(claim.runId()))
        .singleElement()
        .satisfies(
            signal -> {
              assertThat(signal.stepKey()).isEqualTo("approval");
              assertThat(signal.receivedAt()).isNotNull();
              assertThat(signal.payload()).isEqualTo(payload("\"a\""));
            });
    assertThat(
            stored.text(
                "SELECT (data IS NULL)::text AS value FROM kagzi.run_signals WHERE run_id = '"
                    + claim.runId()
                    + "'"))
        .as("the step alone has the content")
        .isEqualTo("true");
  }

  @Test
  void a_signal_wakes_the_run_that_is_parked_for_it() {
    Claim claim = startAndClaim();
    assertThat(engine.report(receive(claim, "approval", null)))
        .isEqualTo(new Receiving(null, false));
    Poll poll = engine.poll(worker, 1);

    send(claim.runId(), "other", "x");
    assertThat(engine.run(claim.runId()).status()).isEqualTo(RunStatus.SLEEPING);
    send(claim.runId(), "approval", "a");

    Task woken = await(poll.tasks()).get(0);
    assertThat(woken.claim()).isEqualTo(new Claim(claim.runId(), 2));
    assertThat(result(woken, "approval")).isEqualTo(output("a"));
    assertThat(engine.report(receive(woken.claim(), "approval", null)))
        .as("a repeated report of the new claim")
        .isInstanceOf(Received.class);
  }

  @Test
  void the_second_signal_to_a_woken_run_stays_for_the_next_receive() {
    Claim claim = startAndClaim();
    engine.report(receive(claim, "approval", null));

    send(claim.runId(), "approval", "a");
    send(claim.runId(), "approval", "b");
    Task woken = engine.claimOne(worker);

    assertThat(result(woken, "approval")).isEqualTo(output("a"));
    assertThat(result(engine.report(receive(woken.claim(), "approval#2", null))))
        .isEqualTo(output("b"));
  }

  @Test
  void a_repeated_send_is_stored_once_also_after_the_run_has_ended() {
    Claim claim = startAndClaim();
    RunId run = claim.runId();

    assertThat(send(run, "approval", "a")).isEqualTo(new SignalResult(run, false));
    assertThat(send(run, "approval", "a")).isEqualTo(new SignalResult(run, true));
    engine.report(receive(claim, "approval", null));
    assertThat(send(run, "approval", "a")).isEqualTo(new SignalResult(run, true));
    engine.report(done(claim, "1"));

    assertThat(send(run, "approval", "a")).isEqualTo(new SignalResult(run, true));
    assertThat(signals(run)).hasSize(1);
    assertRefused(
        engine.engine().runs().signal(NAMESPACE, run, signal("approval", "b")),
        Refusal.Code.RUN_ENDED,
        "status COMPLETED (expected: an open run");
    assertRefused(
        engine.engine().runs().signal(NAMESPACE, run, signal("other", "a")),
        Refusal.Code.INVALID_ARGUMENT,
        "signal_id: a, which was sent with the name approval");
  }

  @Test
  void many_signals_in_one_batch_are_stored_once_each_and_in_order() {
    RunId run = engine.start();
    List<CompletableFuture<SignalResult>> sent = new ArrayList<>();
    for (int i = 0; i < 80; i++) {
      SignalRequest each = signal("approval", "s" + i);
      sent.add(engine.engine().runs().signal(NAMESPACE, run, each));
      sent.add(engine.engine().runs().signal(NAMESPACE, run, each));
    }
    sent.forEach(TestEngine::await);

    List<SignalView> stored =
        engine
            .engine()
            .queries()
            .signals(NAMESPACE, run, false, new PageSpec(100, "", false, false))
            .items();

    assertThat(stored).hasSize(80);
    for (int i = 0; i < 80; i++) {
      assertThat(stored.get(i).number()).isEqualTo(i + 1);
      assertThat(stored.get(i).signalId()).isEqualTo("s" + i);
    }
  }

  @Test
  void an_unknown_run_and_one_of_another_namespace_are_not_found() {
    RunId run = engine.start();

    assertRefused(
        engine.engine().runs().signal(NAMESPACE, RunId.next(), signal("approval", "a")),
        Refusal.Code.NOT_FOUND,
        "not found");
    assertRefused(
        engine.engine().runs().signal("elsewhere", run, signal("approval", "a")),
        Refusal.Code.NOT_FOUND,
        "not found");
    assertThat(signals(run)).isEmpty();
  }

  @Test
  void a_receive_that_times_out_takes_nothing_and_stays_timed_out() {
    Claim claim = startAndClaim();

    ReportResult timedOut = engine.report(receive(claim, "approval", 0L));
    send(claim.runId(), "approval", "late");
    ReportResult again = engine.report(receive(claim, "approval", 0L));

    assertThat(result(timedOut)).isEqualTo(new Result.TimedOut());
    assertThat(result(again)).isEqualTo(new Result.TimedOut());
    assertThat(result(engine.report(receive(claim, "approval#2", null)))).isEqualTo(output("late"));
  }

  @Test
  void a_timeout_counts_from_the_first_report_and_wakes_the_run() {
    Claim claim = startAndClaim();
    assertThat(engine.report(receive(claim, "approval", 1_200L)))
        .isInstanceOfSatisfying(
            Receiving.class, waiting -> assertThat(waiting.claimKept()).isFalse());

    Task woken = engine.claimOne(worker);
    ReportResult decided = engine.report(receive(woken.claim(), "approval", 1_200L));

    assertThat(result(woken, "approval")).isEqualTo(new Result.Sleeping(0));
    assertThat(result(decided)).isEqualTo(new Result.TimedOut());
    engine.report(new Report.Released(woken.claim(), 0, null));
    assertThat(result(engine.claimOne(worker), "approval")).isEqualTo(new Result.TimedOut());
  }

  @Test
  void a_signal_wins_over_a_timeout_that_has_passed_but_is_not_recorded() {
    Claim claim = startAndClaim();
    engine.report(receive(claim, "approval", 1_100L));
    Task woken = engine.claimOne(worker);

    send(claim.runId(), "approval", "a");

    assertThat(result(engine.report(receive(woken.claim(), "approval", 1_100L))))
        .isEqualTo(output("a"));
  }

  @Test
  void a_short_timeout_keeps_the_claim() {
    Claim claim = startAndClaim();

    assertThat(engine.report(receive(claim, "approval", 500L)))
        .isInstanceOfSatisfying(
            Receiving.class,
            waiting -> {
              assertThat(waiting.claimKept()).isTrue();
              assertThat(waiting.remainingMs()).isBetween(0L, 500L);
            });
    assertThat(engine.run(claim.runId()).status()).isEqualTo(RunStatus.RUNNING);
  }

  @Test
  void branches_that_wait_receive_one_signal_each_and_the_others_stay_open() {
    Claim claim = startAndClaim();
    engine.report(List.of(receiveInBranch(claim, "ask[0]/approval")));
    engine.report(List.of(receiveInBranch(claim, "ask[1]/approval")));
    ReportResult parked =
        engine.report(
            new Report.Awaited(
                claim, List.of("ask[0]/approval", "ask[1]/approval"), false, null, false));

    send(claim.runId(), "approval", "a");
    Task woken = engine.claimOne(worker);

    assertThat(parked).isEqualTo(new ReportResult.AwaitedSteps(List.of(), false));
    assertThat(result(woken, "ask[0]/approval")).isEqualTo(output("a"));
    assertThat(result(woken, "ask[1]/approval")).isEqualTo(new Result.Open());
    send(claim.runId(), "approval", "b");
    assertThat(
            engine.report(
                new Report.Awaited(woken.claim(), List.of("ask[1]/approval"), true, null, true)))
        .isInstanceOfSatisfying(
            ReportResult.AwaitedSteps.class,
            answer -> {
              assertThat(answer.claimKept()).isTrue();
              assertThat(answer.steps())
                  .extracting(RecordedStep::result)
                  .containsExactly(output("b"));
            });
  }

  @Test
  void a_signal_that_has_arrived_answers_a_wait_of_all_branches() {
    Claim claim = startAndClaim();
    engine.report(receiveInBranch(claim, "ask[0]/approval"));
    send(claim.runId(), "approval", "a");

    ReportResult answer =
        engine.report(new Report.Awaited(claim, List.of("ask[0]/approval"), true, 60_000L, false));

    assertThat(answer)
        .isInstanceOfSatisfying(
            ReportResult.AwaitedSteps.class,
            steps -> {
              assertThat(steps.claimKept()).isTrue();
              assertThat(steps.steps()).hasSize(1);
            });
  }

  @Test
  void a_step_that_nobody_waits_for_takes_no_signal() {
    Claim claim = startAndClaim();
    engine.report(receiveInBranch(claim, "ask[0]/approval"));
    engine.report(sleep(claim, "nap", 60_000));

    send(claim.runId(), "approval", "a");

    assertThat(engine.run(claim.runId()).status()).isEqualTo(RunStatus.SLEEPING);
    assertThat(signals(claim.runId())).singleElement().extracting(SignalView::stepKey).isNull();
  }

  @Test
  void what_a_losing_branch_received_is_received_again_in_the_old_order() {
    Claim claim = startAndClaim();
    for (String id : List.of("a", "b", "c")) {
      send(claim.runId(), "approval", id);
    }
    engine.report(receiveInBranch(claim, "race[ask]/approval"));
    engine.report(receiveInBranch(claim, "race[ask]/approval#2"));
    engine.report(receiveInBranch(claim, "race[asked]/approval"));

    List<ReportResult> stopped =
        engine.report(
            List.of(
                new Report.ReceivesStopped(claim, List.of("race[ask]/"), null),
                receive(claim, "approval", null)));

    assertThat(stopped.get(0)).isEqualTo(new ReportResult.Accepted(RunStatus.RUNNING));
    assertThat(result(stopped.get(1))).isEqualTo(output("a"));
    assertThat(result(engine.report(receive(claim, "approval#2", null)))).isEqualTo(output("b"));
    engine.report(new Report.Released(claim, 0, null));
    assertThat(engine.claimOne(worker).steps())
        .extracting(RecordedStep::stepKey)
        .containsExactlyInAnyOrder("race[asked]/approval", "approval", "approval#2");
  }

  /**
   * A replay of the losing branch needs its recorded receives, to register the undos that follow
   * them.
   */
  @Test
  void with_the_winner_the_receipts_of_a_loser_stay_recorded_and_its_signals_are_given_back() {
    Claim claim = startAndClaim();
    for (String id : List.of("a", "b")) {
      send(claim.runId(), "approval", id);
    }
    engine.report(receiveInBranch(claim, "race[ask]/approval"));
    Report.StepDone winner =
        new Report.StepDone(claim, "race", 1, StepKind.FUNCTION, null, payload("\"t\""), 0, "");
    Report stopped = new Report.ReceivesStopped(claim, List.of("race[ask]/"), winner);

    List<ReportResult> results =
        engine.report(
            List.of(
                receiveInBranch(claim, "race[ask]/approval#2"),
                receiveInBranch(claim, "race[ask]/approval#3"),
                stopped,
                receive(claim, "approval", null)));
    ReportResult again = engine.report(stopped);

    assertThat(results.get(2)).isEqualTo(new ReportResult.Accepted(RunStatus.RUNNING));
    assertThat(again).isEqualTo(new ReportResult.Accepted(RunStatus.RUNNING));
    assertThat(result(results.get(3))).isEqualTo(output("a"));
    assertThat(result(engine.report(receive(claim, "approval#2", null)))).isEqualTo(output("b"));
    engine.report(new Report.Released(claim, 0, null));
    assertThat(engine.claimOne(worker).steps())
        .extracting(RecordedStep::stepKey, RecordedStep::result)
        .containsExactlyInAnyOrder(
            tuple("race", new RecordedStep.Result.Output(payload("\"t\""))),
            tuple("race[ask]/approval", output("a")),
            tuple("race[ask]/approval#2", output("b")),
            tuple("approval", output("a")),
            tuple("approval#2", output("b")));
  }

  @Test
  void a_lost_claim_receives_and_gives_back_nothing() {
    Claim claim = startAndClaim();
    send(claim.runId(), "approval", "a");
    Claim old = new Claim(claim.runId(), 99);

    assertThat(engine.report(receive(old, "approval", null)))
        .isEqualTo(new ReportResult.ClaimLost(RunStatus.RUNNING));
    assertThat(engine.report(new Report.ReceivesStopped(old, List.of("race[ask]/"), null)))
        .isEqualTo(new ReportResult.ClaimLost(RunStatus.RUNNING));
    assertThat(signals(claim.runId())).singleElement().extracting(SignalView::stepKey).isNull();
  }

  @Test
  void a_report_that_is_sent_again_after_it_parked_the_run_is_parked_still() {
    Claim claim = startAndClaim();
    engine.report(receive(claim, "approval", null));
    send(claim.runId(), "approval", "a");

    assertThat(engine.report(receive(claim, "approval", null)))
        .isEqualTo(new Receiving(null, false));
    assertThat(result(engine.claimOne(worker), "approval")).isEqualTo(output("a"));
  }

  @Test
  void a_resume_keeps_the_buffer_and_the_open_wait_and_a_retry_gets_neither() {
    Claim claim = startAndClaim();
    RunId run = claim.runId();
    send(run, "other", "x");
    engine.report(receiveInBranch(claim, "ask[0]/approval"));
    engine.report(failed(claim, "no"));

    RunId retried = await(engine.engine().runs().retry(NAMESPACE, run, null, null)).runId();
    Task fresh = engine.claimOne(worker);
    engine.report(done(fresh.claim(), "1"));
    await(engine.engine().runs().resume(NAMESPACE, run, null, false));
    Task resumed = engine.claimOne(worker);
    send(run, "approval", "a");

    assertThat(fresh.claim().runId()).isEqualTo(retried);
    assertThat(signals(retried)).isEmpty();
    assertThat(result(resumed, "ask[0]/approval")).isEqualTo(new Result.Open());
    assertThat(result(engine.report(receive(resumed.claim(), "ask[0]/approval", null))))
        .isEqualTo(output("a"));
    assertThat(engine.run(run).setup().bufferedSignals()).isEqualTo(1);
  }

  @Test
  void an_explanation_names_the_signal_and_what_was_never_received() {
    Claim claim = startAndClaim();
    RunId run = claim.runId();
    send(run, "other", "x");
    engine.report(receive(claim, "approval", 60_000L));

    WaitCause waiting = engine.engine().queries().explain(NAMESPACE, run).causes().get(0);
    await(engine.engine().runs().cancel(NAMESPACE, run));
    WaitCause ended = engine.engine().queries().explain(NAMESPACE, run).causes().get(0);

    assertThat(waiting.code()).isEqualTo(WaitCause.Code.SIGNAL);
    assertThat(waiting.text())
        .startsWith("Step approval has waited for signal approval")
        .contains("It stops waiting at", "Signals of other names have arrived: other.")
        .endsWith("`kagzi workflow signal " + run + " approval --input JSON` sends one.");
    assertThat(ended.text()).contains("It never received 1 signal: other.");
    assertThat(engine.engine().queries().signals(NAMESPACE, run, true, PageSpec.FIRST).items())
        .extracting(SignalView::name)
        .containsExactly("other");
  }

  @Test
  void a_run_of_a_simple_client_refuses_signals_while_it_is_held_and_later() {
    RunId run = engine.start();
    WorkerId simple = engine.register();
    Task task =
        await(
                engine
                    .engine()
                    .tasks()
                    .pollOne(engine.queue(), simple, List.of(TestEngine.TYPE), 10_000)
                    .tasks())
            .get(0);
    assertThat(task.claim().runId()).isEqualTo(run);
    assertRefused(
        engine.engine().runs().signal(NAMESPACE, run, signal("approval", "a")),
        Refusal.Code.SIGNALS_UNSUPPORTED,
        "a worker that polls with PollTask");

    Caller caller = new Caller(null, null, Set.of(simple));
    await(
        engine
            .engine()
            .reports()
            .begin(NAMESPACE, run, "pay", StepKind.FUNCTION, null, null, 0, caller));
    engine.report(new Report.Released(task.claim(), 60_000, null));

    assertThat(engine.run(run).status()).isEqualTo(RunStatus.PENDING);
    assertRefused(
        engine.engine().runs().signal(NAMESPACE, run, signal("approval", "a")),
        Refusal.Code.SIGNALS_UNSUPPORTED,
        "others cannot receive signals");
  }

  @Test
  void a_run_with_too_many_signals_or_bytes_refuses_more_until_it_receives() {
    Limits d = Limits.DEFAULT;
    Limits few =
        new Limits(
            d.payloadBytesWarn(),
            d.payloadBytesMax(),
            d.nameLengthMax(),
            d.externalIdLengthMax(),
            d.stepKeyLengthMax(),
            d.stepsPerRunMax(),
            2,
            1_000,
            d.labelsMax(),
            d.labelLengthMax(),
            d.textLengthMax());
    EngineConfig config = EngineConfig.defaults().withLimits(few);
    try (TestEngine limited = TestEngine.start(database.config(), "limited", config)) {
      WorkerId own = limited.register();
      RunId run = limited.start();
      Claim claim = limited.claimOne(own).claim();
      for (String id : List.of("a", "b")) {
        await(limited.engine().runs().signal(NAMESPACE, run, signal("approval", id)));
      }

      assertRefused(
          limited.engine().runs().signal(NAMESPACE, run, signal("approval", "c")),
          Refusal.Code.TOO_MANY_SIGNALS,
          "2 signals that it has not received (expected: at most 2;");
      assertThat(await(limited.engine().runs().signal(NAMESPACE, run, signal("approval", "a"))))
          .as("a repeated one")
          .isEqualTo(new SignalResult(run, true));
      limited.report(receive(claim, "approval", null));
      limited.report(receive(claim, "approval#2", null));
      assertRefused(
          limited
              .engine()
              .runs()
              .signal(
                  NAMESPACE,
                  run,
                  new SignalRequest("approval", payload("\"" + "x".repeat(999) + "\""), "big")),
          Refusal.Code.TOO_MANY_SIGNALS,
          "1001 bytes of signals that it has not received (expected: at most 1000 bytes;");
      await(limited.engine().runs().signal(NAMESPACE, run, signal("approval", "c")));
    }
  }

  @Test
  void a_thousand_runs_that_wait_cost_no_statement() {
    List<RunId> runs = new ArrayList<>();
    for (int i = 0; i < 1_000; i++) {
      runs.add(RunId.next());
    }
    engine
        .engine()
        .runs()
        .startAll(runs.stream().map(run -> engine.request("", run)).toList())
        .forEach(TestEngine::await);
    List<Task> tasks = new ArrayList<>();
    while (tasks.size() < runs.size()) {
      tasks.addAll(await(engine.poll(worker, 100).tasks()));
    }
    tasks.forEach(task -> engine.report(receive(task.claim(), "approval", null)));
    StatementMetrics meter = engine.engine().metrics().statements();

    Duration watched = Duration.ofSeconds(3);
    Awaitility.await().pollDelay(watched).until(() -> true);
    long before = meter.statements();
    Awaitility.await().pollDelay(watched).until(() -> true);

    // One statement per run and minute would be 50.
    assertThat(meter.statements() - before).as("%s", meter.statementsBySession()).isLessThan(30);
  }

  private SignalStartResult signalOrStart(TestEngine on, String external, String id) {
    return await(
        on.engine().runs().signalOrStart(on.request(external, null), signal("approval", id)));
  }

  @Test
  void a_signal_starts_the_run_or_reaches_the_open_one() {
    String external = "ext " + RunId.next();

    SignalStartResult first = signalOrStart(engine, external, "a");
    SignalStartResult second = signalOrStart(engine, external, "b");
    SignalStartResult repeated = signalOrStart(engine, external, "a");
    Task task = engine.claimOne(worker);

    assertThat(first.started()).isTrue();
    assertThat(second).isEqualTo(new SignalStartResult(first.runId(), false, false));
    assertThat(repeated).isEqualTo(new SignalStartResult(first.runId(), false, true));
    assertThat(task.claim().runId()).isEqualTo(first.runId());
    assertThat(result(engine.report(receive(task.claim(), "approval", null))))
        .isEqualTo(output("a"));
    assertThat(result(engine.report(receive(task.claim(), "approval#2", null))))
        .isEqualTo(output("b"));
  }

  @Test
  void a_repeated_call_starts_no_second_run_after_the_end_of_the_first() {
    String external = "ext " + RunId.next();
    SignalStartResult first = signalOrStart(engine, external, "a");
    signalOrStart(engine, external, "b");
    engine.report(done(engine.claimOne(worker).claim(), "1"));

    assertThat(signalOrStart(engine, external, "a"))
        .isEqualTo(new SignalStartResult(first.runId(), false, true));
    assertThat(signalOrStart(engine, external, "b"))
        .isEqualTo(new SignalStartResult(first.runId(), false, true));
    SignalStartResult next = signalOrStart(engine, external, "c");
    assertThat(next.started()).isTrue();
    assertThat(signalOrStart(engine, external, "b"))
        .as("a signal of the ended run, while another run is open")
        .isEqualTo(new SignalStartResult(first.runId(), false, true));
    assertThat(signals(next.runId())).hasSize(1);
  }

  @Test
  void two_servers_start_one_run_and_store_each_signal_once_in_one_order() {
    try (TestEngine other = TestEngine.start(database.config(), engine.queue().queue())) {
      String external = "ext " + RunId.next();
      List<CompletableFuture<SignalStartResult>> sent = new ArrayList<>();
      for (int i = 0; i < 50; i++) {
        for (TestEngine on : List.of(engine, other)) {
          sent.add(
              on.engine()
                  .runs()
                  .signalOrStart(on.request(external, null), signal("approval", "s" + i)));
        }
      }
      List<SignalStartResult> results = sent.stream().map(TestEngine::await).toList();

      RunId run = results.get(0).runId();
      assertThat(results).allSatisfy(each -> assertThat(each.runId()).isEqualTo(run));
      assertThat(results.stream().filter(SignalStartResult::started)).hasSize(1);
      assertThat(results.stream().filter(each -> !each.known())).hasSize(50);
      Claim claim = engine.claimOne(worker).claim();
      List<Result> received = new ArrayList<>();
      for (int i = 1; i <= 50; i++) {
        received.add(result(engine.report(receive(claim, "approval#" + i, null))));
      }
      assertThat(received).doesNotHaveDuplicates();
      List<Result> inOrder = new ArrayList<>();
      engine
          .engine()
          .queries()
          .signals(NAMESPACE, run, false, new PageSpec(100, "", false, false))
          .items()
          .forEach(signal -> inOrder.add(output(signal.signalId())));
      assertThat(received).isEqualTo(inOrder);
    }
  }

  @Test
  void a_parked_run_is_woken_by_a_signal_to_another_server() {
    try (TestEngine other = TestEngine.start(database.config(), engine.queue().queue())) {
      Claim claim = startAndClaim();
      engine.report(receive(claim, "approval", null));
      Poll poll = engine.poll(worker, 1);

      await(other.engine().runs().signal(NAMESPACE, claim.runId(), signal("approval", "a")));

      assertThat(result(await(poll.tasks()).get(0), "approval")).isEqualTo(output("a"));
    }
  }

  @Test
  void a_run_of_another_type_with_the_external_id_gets_no_signal() {
    String external = "ext " + RunId.next();
    RunId run = engine.start(external).runId();
    StartRequest other = engine.request(external, null);
    StartRequest typed =
        new StartRequest(
            other.namespace(),
            external,
            other.taskQueue(),
            "refund",
            "",
            other.input(),
            null,
            null,
            other.options());

    assertRefused(
        engine.engine().runs().signalOrStart(typed, signal("approval", "a")),
        Refusal.Code.ID_IN_USE,
        "of type order (expected: a run of type refund)");
    assertThat(signals(run)).isEmpty();
  }
}
