package dev.kagzi.engine.transition;

import static dev.kagzi.engine.TestEngine.NAMESPACE;
import static dev.kagzi.engine.TestEngine.TYPE;
import static dev.kagzi.engine.TestEngine.await;
import static dev.kagzi.engine.TestEngine.done;
import static dev.kagzi.engine.TestEngine.payload;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.engine.TestReports;
import dev.kagzi.engine.dispatch.PollRequest;
import dev.kagzi.engine.retry.RetryPolicy;
import dev.kagzi.engine.run.Report;
import dev.kagzi.engine.run.ReportResult;
import dev.kagzi.engine.run.ReportResult.Accepted;
import dev.kagzi.engine.run.ReportResult.ChildAccepted;
import dev.kagzi.engine.run.StartOptions;
import dev.kagzi.engine.run.StartRequest;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.ErrorCode;
import dev.kagzi.engine.value.Failure;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.StepKind;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** Which children are cancelled when a part of the code learns of a cancel. */
class CleanUpChildrenTest extends EngineFixture {
  private static final RetryPolicy ONCE = new RetryPolicy(1, 1, 1.0, 1, 0, List.of());
  private static final Accepted RECORDED = new Accepted(RunStatus.RUNNING);

  private Claim startAndClaim() {
    engine.start();
    PollRequest.Wanted cleansUp = new PollRequest.Wanted(TYPE, "", 0, 60_000);
    return await(
            engine
                .engine()
                .tasks()
                .poll(new PollRequest(engine.queue(), worker, List.of(cleansUp), 1, 10_000))
                .tasks())
        .getFirst()
        .claim();
  }

  /** On a queue without workers. */
  private RunId child(Claim parent, String step) {
    StartRequest start =
        new StartRequest(
            NAMESPACE, "", "unserved", TYPE, "", payload("1"), null, null, StartOptions.NONE);
    return ((ChildAccepted) engine.report(new Report.ChildStarted(parent, step, 1, start, false)))
        .child();
  }

  private void cancel(Claim claim) {
    assertThat(await(engine.engine().runs().cancel(NAMESPACE, claim.runId())).status())
        .isEqualTo(RunStatus.RUNNING);
  }

  private static Report seen(Claim claim, String step, String scope) {
    return new Report.CancelSeen(claim, step, StepKind.FUNCTION, scope);
  }

  private static Report groupCancelled(Claim claim, String step) {
    Failure why =
        new Failure(
            ErrorCode.PRECONDITION_FAILED,
            "a cancel of the run was requested",
            true,
            0,
            "",
            "",
            Map.of("cancel_requested", "true"));
    return TestReports.failed(claim, step, 1, null, why, ONCE, true, 1);
  }

  private void assertCancelled(RunId... runs) {
    for (RunId run : runs) {
      Awaitility.await()
          .atMost(Duration.ofSeconds(20))
          .untilAsserted(() -> assertThat(engine.run(run).status()).isEqualTo(RunStatus.CANCELLED));
    }
  }

  private void assertOpen(RunId... runs) {
    for (RunId run : runs) {
      assertThat(
              stored.count(
                  "SELECT count(*) AS value FROM kagzi.run_messages WHERE to_run = '" + run + "'"))
          .as("cancels that are not applied yet")
          .isZero();
      assertThat(engine.run(run).status()).isEqualTo(RunStatus.PENDING);
    }
  }

  @Test
  void a_branch_cancels_its_children_and_not_those_of_a_clean_up_of_another_branch() {
    Claim claim = startAndClaim();
    RunId ofMain = child(claim, "invoice");
    RunId ofFirst = child(claim, "pack[1]/label");
    RunId inFirst = child(claim, "pack[1]/part[a]/label");
    RunId ofSecond = child(claim, "pack[2]/label");
    RunId ofTenth = child(claim, "pack[10]/label");
    cancel(claim);

    assertThat(engine.report(seen(claim, "pack[1]/wrap", "pack[1]/"))).isEqualTo(RECORDED);
    RunId undo = child(claim, "pack[1]/saga[unpack]/unpack");
    assertThat(engine.report(seen(claim, "pack[2]/wrap", "pack[2]/"))).isEqualTo(RECORDED);

    assertCancelled(ofFirst, inFirst, ofSecond);
    assertOpen(ofMain, ofTenth, undo);
    assertThat(engine.report(seen(claim, "pack[1]/wrap", "pack[1]/")))
        .as("sent again")
        .isEqualTo(RECORDED);
    assertOpen(ofMain, ofTenth, undo);

    engine.report(done(claim, "1"));
    assertCancelled(ofMain, ofTenth, undo);
  }

  @Test
  void the_code_around_a_group_learns_it_by_the_end_of_the_group() {
    Claim claim = startAndClaim();
    RunId ofMain = child(claim, "invoice");
    RunId ofStopped = child(claim, "pack[2]/label");
    cancel(claim);
    engine.report(seen(claim, "pack[1]/wrap", "pack[1]/"));
    assertOpen(ofMain, ofStopped);

    ReportResult end = engine.report(groupCancelled(claim, "pack"));

    assertThat(end).isInstanceOf(ReportResult.FinalFailure.class);
    assertCancelled(ofMain, ofStopped);
    RunId undo = child(claim, "saga[refund]/refund");
    assertThat(engine.report(groupCancelled(claim, "pack"))).as("sent again").isEqualTo(end);
    assertOpen(undo);
  }

  @Test
  void a_group_inside_of_a_branch_ends_for_that_branch_only() {
    Claim claim = startAndClaim();
    RunId ofFirst = child(claim, "pack[1]/label");
    RunId ofSecond = child(claim, "pack[2]/label");
    cancel(claim);

    engine.report(groupCancelled(claim, "pack[1]/part"));

    assertCancelled(ofFirst);
    assertOpen(ofSecond);
  }

  @Test
  void a_branch_that_waits_for_a_child_of_other_code_cancels_it() {
    Claim claim = startAndClaim();
    RunId awaited = child(claim, "invoice");
    RunId other = child(claim, "other");
    cancel(claim);

    engine.report(seen(claim, "invoice", "race[paid]/"));

    assertCancelled(awaited);
    assertOpen(other);
  }

  @Test
  void the_main_code_and_a_worker_that_sends_no_scope_cancel_all_children() {
    Claim claim = startAndClaim();
    RunId ofMain = child(claim, "invoice");
    RunId ofBranch = child(claim, "pack[1]/label");
    cancel(claim);

    engine.report(seen(claim, "pack[2]/label", ""));

    assertCancelled(ofMain, ofBranch);
  }

  @Test
  void a_terminate_ends_the_children_of_all_branches_as_failed() {
    Claim claim = startAndClaim();
    RunId ofBranch = child(claim, "pack[1]/label");
    cancel(claim);

    engine.report(seen(claim, "pack[2]/wrap", "pack[2]/"));
    await(engine.engine().runs().terminate(NAMESPACE, claim.runId(), "now"));

    Awaitility.await()
        .atMost(Duration.ofSeconds(20))
        .untilAsserted(() -> assertThat(engine.run(ofBranch).status()).isEqualTo(RunStatus.FAILED));
  }
}
