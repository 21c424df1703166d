package dev.kagzi.engine.transition;

import static dev.kagzi.engine.TestEngine.NAMESPACE;
import static dev.kagzi.engine.TestEngine.TYPE;
import static dev.kagzi.engine.TestEngine.await;
import static dev.kagzi.engine.TestEngine.payload;
import static dev.kagzi.engine.TestEngine.sleep;
import static dev.kagzi.engine.TestEngine.stepDone;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.engine.dispatch.PollRequest;
import dev.kagzi.engine.dispatch.Task;
import dev.kagzi.engine.run.Report;
import dev.kagzi.engine.run.ReportResult;
import dev.kagzi.engine.run.ReportResult.Accepted;
import dev.kagzi.engine.run.SignalRequest;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.RecordedStep.Result;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.StepKind;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * A forced resume of a run that was terminated while it cleaned up. The steps at which its code
 * learnt of the cancel have one attempt, so they must be open, or not recorded.
 */
class ResumeAfterCancelTest extends EngineFixture {
  private static final long HOUR_MS = 3_600_000;

  private Task claim() {
    return await(
            engine
                .engine()
                .tasks()
                .poll(
                    new PollRequest(
                        engine.queue(),
                        worker,
                        List.of(new PollRequest.Wanted(TYPE, "", 0, 60_000)),
                        1,
                        10_000))
                .tasks())
        .getFirst();
  }

  private static Report receive(Claim claim, String step, @Nullable Long timeoutMs) {
    return new Report.Receive(claim, step, "approval", timeoutMs, true);
  }

  /** The code learns of a cancel at this step; then the run is terminated and resumed by force. */
  private Task resume(Claim claim, String step, StepKind kind) {
    RunId run = claim.runId();
    await(engine.engine().runs().cancel(NAMESPACE, run));
    Claim cleaning = engine.run(run).status() == RunStatus.RUNNING ? claim : claim().claim();
    assertThat(engine.report(new Report.CancelSeen(cleaning, step, kind, "")))
        .isEqualTo(new Accepted(RunStatus.RUNNING));
    await(engine.engine().runs().terminate(NAMESPACE, run, "now"));
    await(engine.engine().runs().resume(NAMESPACE, run, null, true));
    Task resumed = claim();
    assertThat(resumed.claim().runId()).isEqualTo(run);
    assertThat(resumed.attempt()).isEqualTo(2);
    return resumed;
  }

  private Claim startAndClaim() {
    engine.start();
    return claim().claim();
  }

  private void send(RunId run) {
    await(
        engine
            .engine()
            .runs()
            .signal(NAMESPACE, run, new SignalRequest("approval", payload("1"), "a")));
  }

  @Test
  void a_sleep_continues_until_its_wake_time() {
    Claim claim = startAndClaim();
    engine.report(sleep(claim, "nap", HOUR_MS));

    Task resumed = resume(claim, "nap", StepKind.SLEEP);

    assertThat(result(resumed, "nap"))
        .isInstanceOfSatisfying(
            Result.Sleeping.class,
            left -> assertThat(left.remainingMs()).isBetween(HOUR_MS - 60_000, HOUR_MS));
    assertThat(engine.report(sleep(resumed.claim(), "nap", HOUR_MS)))
        .isInstanceOf(ReportResult.Sleeping.class);
    assertThat(engine.run(claim.runId()).status()).isEqualTo(RunStatus.SLEEPING);
  }

  @Test
  void a_receive_continues_and_receives() {
    Claim claim = startAndClaim();
    engine.report(receive(claim, "approval", HOUR_MS));

    Task resumed = resume(claim, "approval", StepKind.SIGNAL);
    send(claim.runId());

    assertThat(result(resumed, "approval")).isInstanceOf(Result.Sleeping.class);
    assertThat(result(engine.report(receive(resumed.claim(), "approval", HOUR_MS))))
        .isEqualTo(new Result.Output(payload("1")));
  }

  @Test
  void waits_that_had_not_begun_begin_with_their_own_times() {
    Task sleeping = resume(startAndClaim(), "nap", StepKind.SLEEP);
    assertThat(sleeping.steps()).isEmpty();
    assertThat(engine.report(sleep(sleeping.claim(), "nap", HOUR_MS)))
        .isInstanceOf(ReportResult.Sleeping.class);

    Task receiving = resume(startAndClaim(), "approval", StepKind.SIGNAL);
    assertThat(receiving.steps()).isEmpty();
    assertThat(engine.report(receive(receiving.claim(), "approval", HOUR_MS)))
        .isInstanceOfSatisfying(
            ReportResult.Receiving.class,
            waiting -> assertThat(waiting.remainingMs()).isBetween(HOUR_MS - 60_000, HOUR_MS));
  }

  @Test
  void a_callback_is_made() {
    Task resumed = resume(startAndClaim(), "paid", StepKind.CALLBACK);

    assertThat(resumed.steps()).isEmpty();
    assertThat(
            engine.report(
                new Report.StepDone(
                    resumed.claim(), "paid", 1, StepKind.CALLBACK, null, payload("1"), 0, "")))
        .isInstanceOf(ReportResult.AlreadyRecorded.class);
  }

  @Test
  void a_wait_after_which_the_clean_up_has_begun_stays_ended() {
    Claim claim = startAndClaim();
    engine.report(sleep(claim, "nap", HOUR_MS));
    await(engine.engine().runs().cancel(NAMESPACE, claim.runId()));
    Claim cleaning = claim().claim();
    engine.report(new Report.CancelSeen(cleaning, "nap", StepKind.SLEEP, ""));
    engine.report(stepDone(cleaning, "saga[refund]/refund", "1"));
    await(engine.engine().runs().terminate(NAMESPACE, claim.runId(), "now"));

    await(engine.engine().runs().resume(NAMESPACE, claim.runId(), null, true));

    assertThat(result(claim(), "nap")).isInstanceOf(Result.FinalFailure.class);
  }
}
