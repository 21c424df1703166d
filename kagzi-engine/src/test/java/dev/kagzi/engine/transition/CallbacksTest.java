package dev.kagzi.engine.transition;

import static dev.kagzi.engine.TestEngine.NAMESPACE;
import static dev.kagzi.engine.TestEngine.await;
import static dev.kagzi.engine.TestEngine.done;
import static dev.kagzi.engine.TestEngine.failed;
import static dev.kagzi.engine.TestEngine.payload;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kagzi.engine.EngineConfig;
import dev.kagzi.engine.TestEngine;
import dev.kagzi.engine.dispatch.Poll;
import dev.kagzi.engine.dispatch.Task;
import dev.kagzi.engine.page.PageSpec;
import dev.kagzi.engine.query.WaitCause;
import dev.kagzi.engine.run.CallbackResult;
import dev.kagzi.engine.run.Report;
import dev.kagzi.engine.run.ReportResult;
import dev.kagzi.engine.run.ReportResult.AlreadyRecorded;
import dev.kagzi.engine.run.ReportResult.Receiving;
import dev.kagzi.engine.run.SignalRequest;
import dev.kagzi.engine.value.CallbackAnswer;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.Limits;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.RecordedStep;
import dev.kagzi.engine.value.RecordedStep.Result;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.StepKind;
import dev.kagzi.engine.value.WorkerId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Callbacks: what is recorded, which answer counts, and which steps receive it. */
class CallbacksTest extends EngineFixture {
  private static final Payload STORED = new Payload(new byte[0], Map.of("made", "here"));
  private static final CallbackAnswer PAID = new CallbackAnswer.Completed(payload("\"paid\""));
  private static final CallbackAnswer DECLINED = new CallbackAnswer.Failed("no money", "Declined");
  private static final CallbackResult FIRST = new CallbackResult(false, false);
  private static final CallbackResult REPEATED = new CallbackResult(false, true);

  private static Report made(Claim claim) {
    return new Report.StepDone(claim, "payment", 1, StepKind.CALLBACK, null, STORED, 0, "");
  }

  private Claim claimWithCallback() {
    engine.start();
    Claim claim = engine.claimOne(worker).claim();
    assertThat(engine.report(made(claim))).isInstanceOf(AlreadyRecorded.class);
    return claim;
  }

  private static Report.Receive waiting(Claim claim, String step, @Nullable Long timeoutMs) {
    return new Report.Receive(claim, step, "callback:payment", timeoutMs, false);
  }

  private static Report.Receive waitingInBranch(Claim claim, String step) {
    return new Report.Receive(claim, step, "callback:payment", null, true);
  }

  private CallbackResult answer(RunId run, CallbackAnswer answer) {
    return await(answering(engine, run, answer));
  }

  private static CompletableFuture<CallbackResult> answering(
      TestEngine on, RunId run, CallbackAnswer answer) {
    return on.engine().runs().answerCallback(NAMESPACE, run, "payment", answer);
  }

  private static final Result OUTPUT = new Result.Output(payload("\"paid\""));

  @Test
  void a_callback_is_what_was_recorded_first() {
    Claim claim = claimWithCallback();
    Payload other = new Payload(new byte[0], Map.of("made", "elsewhere"));

    ReportResult again =
        engine.report(
            new Report.StepDone(claim, "payment", 1, StepKind.CALLBACK, null, other, 0, ""));

    assertThat(((AlreadyRecorded) again).step().result()).isEqualTo(new Result.Output(STORED));
    engine.report(new Report.Released(claim, 0, null));
    assertThat(result(engine.claimOne(worker), "payment")).isEqualTo(new Result.Output(STORED));
  }

  @Test
  void an_answer_that_arrives_before_the_wait_is_received_by_it() {
    Claim claim = claimWithCallback();

    assertThat(answer(claim.runId(), PAID)).isEqualTo(FIRST);

    assertThat(result(engine.report(waiting(claim, "await:payment", null)))).isEqualTo(OUTPUT);
  }

  @Test
  void an_answer_to_a_parked_run_wakes_it() {
    Claim claim = claimWithCallback();
    assertThat(engine.report(waiting(claim, "await:payment", null)))
        .isEqualTo(new Receiving(null, false));
    assertThat(engine.run(claim.runId()).status()).isEqualTo(RunStatus.SLEEPING);
    assertThat(engine.run(claim.runId()).workerId()).isNull();
    Poll poll = engine.poll(worker, 1);

    answer(claim.runId(), PAID);

    assertThat(result(await(poll.tasks()).get(0), "await:payment")).isEqualTo(OUTPUT);
  }

  @Test
  void an_answer_after_the_timeout_is_received_by_the_next_wait() {
    Claim claim = claimWithCallback();
    assertThat(result(engine.report(waiting(claim, "await:payment", 0L))))
        .isEqualTo(new Result.TimedOut());

    assertThat(answer(claim.runId(), PAID)).isEqualTo(FIRST);

    assertThat(result(engine.report(waiting(claim, "await:payment#2", 0L)))).isEqualTo(OUTPUT);
  }

  @Test
  void the_first_answer_stays_also_after_it_was_received_and_after_the_end() {
    Claim claim = claimWithCallback();
    RunId run = claim.runId();
    assertThat(answer(run, PAID)).isEqualTo(FIRST);

    assertThat(answer(run, DECLINED)).isEqualTo(REPEATED);
    engine.report(waiting(claim, "await:payment", null));
    assertThat(answer(run, DECLINED)).isEqualTo(REPEATED);
    engine.report(done(claim, "1"));
    assertThat(answer(run, DECLINED)).isEqualTo(REPEATED);
    assertThat(engine.engine().queries().callbackFailed(NAMESPACE, run, "payment")).contains(false);
    assertThat(engine.engine().queries().callbackFailed(NAMESPACE, run, "other")).isEmpty();
    assertThat(engine.engine().queries().callbackFailed("elsewhere", run, "payment")).isEmpty();
  }

  @Test
  void a_failure_is_known_as_one_when_it_is_repeated() {
    Claim claim = claimWithCallback();
    RunId run = claim.runId();
    assertThat(answer(run, DECLINED)).isEqualTo(new CallbackResult(true, false));

    assertThat(answer(run, PAID)).isEqualTo(new CallbackResult(true, true));
    assertThat(result(engine.report(waiting(claim, "await:payment", null))))
        .isEqualTo(
            new Result.Output(
                new Payload(
                    new byte[0],
                    Map.of("kagzi.failure", "no money", "kagzi.failure-type", "Declined"))));
    assertThat(engine.engine().queries().callbackFailed(NAMESPACE, run, "payment")).contains(true);
  }

  @Test
  void answers_beside_each_other_in_one_batch_are_one() {
    Claim claim = claimWithCallback();
    List<CompletableFuture<CallbackResult>> sent = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      sent.add(answering(engine, claim.runId(), i % 2 == 0 ? PAID : DECLINED));
    }

    List<CallbackResult> results = sent.stream().map(TestEngine::await).toList();

    assertThat(results).filteredOn(result -> !result.repeated()).hasSize(1);
    assertThat(results).extracting(CallbackResult::failed).containsOnly(results.get(0).failed());
  }

  @Test
  void two_servers_store_one_answer() {
    Claim claim = claimWithCallback();
    engine.report(waiting(claim, "await:payment", null));
    Poll poll = engine.poll(worker, 1);
    try (TestEngine other = TestEngine.start(database.config(), engine.queue().queue())) {
      List<CompletableFuture<CallbackResult>> sent = new ArrayList<>();
      for (int i = 0; i < 20; i++) {
        sent.add(answering(engine, claim.runId(), PAID));
        sent.add(answering(other, claim.runId(), DECLINED));
      }

      List<CallbackResult> results = sent.stream().map(TestEngine::await).toList();

      assertThat(results).filteredOn(result -> !result.repeated()).hasSize(1);
      boolean failed = results.get(0).failed();
      assertThat(results).extracting(CallbackResult::failed).containsOnly(failed);
      Result received = result(await(poll.tasks()).get(0), "await:payment");
      assertThat(CallbackAnswer.isFailure(((Result.Output) received).payload())).isEqualTo(failed);
    }
  }

  @Test
  void every_wait_receives_the_answer_and_a_lost_race_takes_nothing() {
    Claim claim = claimWithCallback();
    engine.report(waitingInBranch(claim, "race[a]/await:payment"));
    engine.report(waitingInBranch(claim, "race[b]/await:payment"));
    answer(claim.runId(), PAID);

    ReportResult both =
        engine.report(
            new Report.Awaited(
                claim,
                List.of("race[a]/await:payment", "race[b]/await:payment"),
                true,
                null,
                true));
    assertThat(((ReportResult.AwaitedSteps) both).steps())
        .extracting(RecordedStep::result)
        .containsExactly(OUTPUT, OUTPUT);

    engine.report(new Report.ReceivesStopped(claim, List.of("race[a]/"), null));
    assertThat(result(engine.report(waiting(claim, "await:payment", null)))).isEqualTo(OUTPUT);
    assertThat(result(engine.report(waiting(claim, "await:payment#2", null)))).isEqualTo(OUTPUT);
  }

  @Test
  void an_ended_run_and_an_unknown_one_accept_no_answer() {
    Claim claim = claimWithCallback();
    engine.report(done(claim, "1"));

    assertRefused(
        answering(engine, claim.runId(), PAID), Refusal.Code.RUN_ENDED, "status COMPLETED");
    assertRefused(answering(engine, RunId.next(), PAID), Refusal.Code.NOT_FOUND, "run not found");
    assertRefused(
        engine.engine().runs().answerCallback("elsewhere", claim.runId(), "payment", PAID),
        Refusal.Code.NOT_FOUND,
        "run not found");
  }

  @Test
  void an_answer_beside_a_cancel_is_stored_or_refused() {
    for (int i = 0; i < 20; i++) {
      Claim claim = claimWithCallback();
      engine.report(waiting(claim, "await:payment", null));

      CompletableFuture<?> cancel = engine.engine().runs().cancel(NAMESPACE, claim.runId());
      CompletableFuture<CallbackResult> answer = answering(engine, claim.runId(), PAID);
      await(cancel);

      boolean stored = answer.handle((result, refused) -> refused == null).join();
      assertThat(engine.run(claim.runId()).status()).isEqualTo(RunStatus.CANCELLED);
      assertThat(engine.engine().queries().callbackFailed(NAMESPACE, claim.runId(), "payment"))
          .as("stored: %s", stored)
          .isEqualTo(stored ? java.util.Optional.of(false) : java.util.Optional.empty());
    }
  }

  @Test
  void a_resumed_run_keeps_its_callback_and_the_answer() {
    Claim claim = claimWithCallback();
    answer(claim.runId(), PAID);
    engine.report(failed(claim, "no"));

    await(engine.engine().runs().resume(NAMESPACE, claim.runId(), null, false));
    Task task = engine.claimOne(worker);

    assertThat(result(task, "payment")).isEqualTo(new Result.Output(STORED));
    assertThat(result(engine.report(waiting(task.claim(), "await:payment", null))))
        .isEqualTo(OUTPUT);
  }

  @Test
  void answers_are_no_signals() {
    Claim claim = claimWithCallback();
    answer(claim.runId(), PAID);

    assertThat(engine.run(claim.runId()).setup().bufferedSignals()).isZero();
    for (boolean buffered : new boolean[] {true, false}) {
      assertThat(
              engine
                  .engine()
                  .queries()
                  .signals(NAMESPACE, claim.runId(), buffered, PageSpec.FIRST)
                  .items())
          .isEmpty();
    }
    for (SignalRequest signal :
        List.of(
            new SignalRequest("callback:payment", payload("1"), "s"),
            new SignalRequest("payment", payload("1"), "callback:payment"))) {
      assertThatThrownBy(() -> engine.engine().runs().signal(NAMESPACE, claim.runId(), signal))
          .isInstanceOf(Refusal.class)
          .hasMessageContaining("which is for callbacks");
    }
    assertThatThrownBy(
            () ->
                answer(
                    claim.runId(),
                    new CallbackAnswer.Completed(
                        new Payload(new byte[0], Map.of("kagzi.failure", "forged")))))
        .isInstanceOf(Refusal.class)
        .hasMessageContaining("payload.metadata");
  }

  @Test
  void a_full_buffer_of_signals_does_not_stop_an_answer() {
    EngineConfig config = EngineConfig.defaults().withLimits(limits());
    try (TestEngine limited = TestEngine.start(database.config(), "limited", config)) {
      WorkerId own = limited.register();
      RunId run = limited.start();
      Claim claim = limited.claimOne(own).claim();
      limited.report(made(claim));
      await(
          limited
              .engine()
              .runs()
              .signal(NAMESPACE, run, new SignalRequest("approval", payload("1"), "a")));

      assertThat(await(answering(limited, run, PAID))).isEqualTo(FIRST);
      assertRefused(
          limited
              .engine()
              .runs()
              .signal(NAMESPACE, run, new SignalRequest("approval", payload("1"), "b")),
          Refusal.Code.TOO_MANY_SIGNALS,
          "1 signals that it has not received (expected: at most 1;");
    }
  }

  private static Limits limits() {
    Limits all = Limits.DEFAULT;
    return new Limits(
        all.payloadBytesWarn(),
        all.payloadBytesMax(),
        all.nameLengthMax(),
        all.externalIdLengthMax(),
        all.stepKeyLengthMax(),
        all.stepsPerRunMax(),
        1,
        all.signalBytesPerRunMax(),
        all.labelsMax(),
        all.labelLengthMax(),
        all.textLengthMax());
  }

  @Test
  void a_parked_run_is_explained_with_its_callback() {
    Claim claim = claimWithCallback();
    engine.report(waiting(claim, "await:payment", 3_600_000L));

    List<WaitCause> causes = engine.engine().queries().explain(NAMESPACE, claim.runId()).causes();

    assertThat(causes).extracting(WaitCause::code).containsExactly(WaitCause.Code.CALLBACK);
    assertThat(causes.get(0).text())
        .startsWith("Step await:payment has waited for the answer of callback payment since")
        .contains("It stops waiting at 20")
        .contains("`kagzi workflow callback " + claim.runId() + " payment --input JSON`");
  }

  @Test
  void only_a_callback_of_the_run_is_one() {
    Claim claim = claimWithCallback();
    engine.report(TestEngine.stepDone(claim, "charge", "1"));

    engine.engine().queries().requireCallback(NAMESPACE, claim.runId(), "payment");
    for (String other : List.of("charge", "unknown")) {
      assertThatThrownBy(
              () -> engine.engine().queries().requireCallback(NAMESPACE, claim.runId(), other))
          .isInstanceOfSatisfying(
              Refusal.class,
              refusal -> assertThat(refusal.code()).isEqualTo(Refusal.Code.CALLBACK_NOT_FOUND));
    }
  }
}
