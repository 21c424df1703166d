package dev.kagzi.torture;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.torture.MadeEvidence.MadeRun;
import dev.kagzi.torture.StepRecord.Cause;
import org.junit.jupiter.api.Test;

/**
 * Like {@link CheckerTest}, for time-outs, handlers, further attempts of runs and ends from
 * outside.
 */
class FailureRulesTest {
  private static final String RUN = MadeEvidence.RUN;
  private static final String INPUT = MadeEvidence.INPUT;
  private static final String HANDLER = Scenarios.HANDLER.name();

  private final MadeEvidence made = new MadeEvidence();

  private void assertFine() {
    assertThat(made.check()).isEmpty();
  }

  private void assertFound(String rule) {
    assertThat(made.check()).extracting(Findings.Violation::rule).containsExactly(rule);
  }

  /** A step with this time-out times out after more than two seconds, and then succeeds. */
  private void stepTimesOut(long limitMillis) {
    String output = INPUT + " A";
    made.started();
    MadeEvidence.Execution slow = made.claim(1).limit("a", limitMillis).exec("a", 1, "slow");
    made.failed("a", 1, 1, Cause.TIMEOUT);
    slow.late("a", "slow").exec("a", 2, "A").seen("a", "A").end(output);
    made.completed("a", 2, 1, "A")
        .run("step-timeout", "COMPLETED", 1, output)
        .result("COMPLETED", output);
  }

  @Test
  void a_step_that_times_out_and_succeeds_later_is_fine() {
    stepTimesOut(2_000);

    assertFine();
  }

  @Test
  void a_step_that_times_out_early_is_found() {
    stepTimesOut(2_500);

    assertFound("no step times out early");
  }

  /** Times out three seconds after the code requested the step, and again a second later. */
  private void stepTimesOutTwice(long limitMillis) {
    made.started();
    made.claim(1).limit("a", limitMillis).exec("a", 1, "slow").exec("a", 2, "slow too");
    made.failed("a", 1, 1, Cause.TIMEOUT).failed("a", 2, 1, Cause.TIMEOUT);
    made.run("cancel", "CANCELLED", 1, "").cancelAnswered("true").result("CANCELLED", "");
  }

  @Test
  void a_step_that_times_out_twice_is_fine() {
    stepTimesOutTwice(2_000);

    assertFine();
  }

  @Test
  void a_second_time_out_soon_after_the_first_is_found() {
    stepTimesOutTwice(2_500);

    assertFound("no step times out early");
  }

  @Test
  void a_step_that_times_out_without_a_time_out_is_found() {
    made.started();
    made.claim(1).exec("a", 1, "slow");
    made.failed("a", 1, 1, Cause.TIMEOUT);
    made.run("cancel", "CANCELLED", 1, "").cancelAnswered("true").result("CANCELLED", "");

    assertFound("no step times out early");
  }

  @Test
  void a_time_out_of_an_attempt_that_nobody_made_is_found() {
    made.started();
    made.claim(1).limit("a", 1_000);
    made.failed("a", 1, 1, Cause.TIMEOUT);
    made.run("cancel", "CANCELLED", 1, "").cancelAnswered("true").result("CANCELLED", "");

    assertFound("what is recorded was executed");
  }

  @Test
  void a_result_that_came_after_its_time_and_is_recorded_is_found() {
    String output = INPUT + " A";
    made.started();
    made.claim(1).limit("a", 1_000).exec("a", 1, "A").late("a", "A").seen("a", "A").end(output);
    made.completed("a", 1, "A")
        .run("step-timeout", "COMPLETED", 1, output)
        .result("COMPLETED", output);

    assertFound("nothing late counts");
  }

  /**
   * A run with a time-out of two seconds that starts at second one; its last result is at second
   * ten.
   */
  private void timesOut() {
    made.started();
    made.timePasses(8_000_000).run("timeout", "TIMED_OUT", 1, "").result("TIMED_OUT", "late");
    made.again(
        run -> {
          run.endedEpoch = 0;
          run.error = "late";
          run.deadlineMicros = run.createdMicros + 2_000_000;
          run.finishedMicros = run.deadlineMicros;
        });
  }

  @Test
  void a_run_that_times_out_is_fine() {
    timesOut();

    assertFine();
  }

  @Test
  void a_run_that_times_out_before_its_deadline_is_found() {
    timesOut();
    made.again(run -> run.finishedMicros--);

    assertFound("no run times out early");
  }

  @Test
  void a_deadline_that_is_too_early_is_found() {
    timesOut();
    made.again(run -> run.deadlineMicros--);

    assertFound("no run times out early");
  }

  @Test
  void a_client_that_is_told_too_early_of_a_time_out_is_found() {
    timesOut();
    made.again(
        run -> {
          run.createdMicros += 30_000_000;
          run.deadlineMicros += 30_000_000;
          run.finishedMicros += 30_000_000;
        });

    assertFound("no run times out early");
  }

  @Test
  void a_run_that_completes_instead_of_timing_out_is_found() {
    made.started();
    made.claim(1).end(INPUT + " ");
    made.run("timeout", "COMPLETED", 1, INPUT + " ").result("COMPLETED", INPUT + " ");

    assertFound("the end fits the scenario");
  }

  @Test
  void a_run_that_times_out_although_it_had_time_is_found() {
    timesOut();
    made.again(run -> run.type = "ample-timeout");

    assertThat(made.check())
        .extracting(Findings.Violation::rule)
        .contains("the end fits the scenario");
  }

  @Test
  void a_step_that_is_recorded_after_the_time_out_is_found() {
    timesOut();
    made.claim(1).exec("a", 1, "A");
    made.completed("a", 1, "A");

    assertFound("ended is ended");
  }

  @Test
  void what_a_time_out_closed_needs_no_execution() {
    timesOut();
    made.claim(1).exec("a", 1, "interrupted");
    made.failed("a", 1, 1, Cause.RUN_ENDED);
    made.again(run -> run.finishedMicros = made.nowMicros());

    assertFine();
  }

  @Test
  void a_step_that_the_end_closed_without_an_end_is_found() {
    String output = INPUT + " ";
    made.started();
    made.claim(1).exec("a", 1, "A").end(output);
    made.failed("a", 1, 1, Cause.RUN_ENDED)
        .run("steps", "COMPLETED", 1, output)
        .result("COMPLETED", output);

    assertThat(made.check())
        .extracting(Findings.Violation::rule)
        .contains("what is recorded was executed");
  }

  /** A run that failed, before its handler is added. */
  private void fails(String type) {
    made.started();
    made.claim(1).exec("a", 1, "broke");
    made.failed("a", 1, 1, true, "broke").run(type, "FAILED", 1, "").result("FAILED", "broke");
    made.again(
        run -> {
          run.error = "broke";
          run.handler = HANDLER;
        });
  }

  private void handled(String id, int attempts, String told) {
    String output = RUN + "#" + attempts + " ";
    made.claim(id, 1, "execution-of-" + id).handles("handled-failure", attempts, told).end(output);
    handler(id, attempts, output);
  }

  private void handler(String id, int attempts, String output) {
    MadeRun handler = new MadeRun(id, HANDLER, "COMPLETED", 1, output);
    handler.input = RUN + "#" + attempts;
    handler.failedRunId = RUN;
    handler.isHandler = true;
    made.alsoRun(handler);
  }

  @Test
  void a_failure_that_is_handled_is_fine() {
    fails("handled-failure");
    handled("handler-1", 1, RUN + " FAILED broke");

    assertFine();
  }

  @Test
  void a_failure_that_nobody_handles_is_found() {
    fails("handled-failure");

    assertFound("each failure is handled once");
  }

  @Test
  void a_failure_that_is_handled_twice_is_found() {
    fails("handled-failure");
    handled("handler-1", 1, RUN + " FAILED broke");
    handled("handler-2", 1, RUN + " FAILED broke");

    assertThat(made.check())
        .extracting(Findings.Violation::rule)
        .containsExactlyInAnyOrder("each failure is handled once", Checker.ONE_RUN_PER_START);
  }

  @Test
  void a_run_that_has_forgotten_its_handler_is_found() {
    fails("handled-failure");
    made.again(run -> run.handler = "");
    handled("handler-1", 1, RUN + " FAILED broke");

    assertFound("each failure is handled once");
  }

  @Test
  void a_handler_that_nobody_asked_for_is_found() {
    fails("failure");
    made.again(run -> run.handler = "");
    handled("handler-1", 1, RUN + " FAILED broke");

    assertThat(made.check())
        .extracting(Findings.Violation::rule)
        .contains("each failure is handled once");
  }

  @Test
  void a_handler_that_does_not_lead_to_its_run_is_found() {
    fails("handled-failure");
    handled("handler-1", 1, RUN + " FAILED broke");
    made.again(handler -> handler.failedRunId = "");

    assertThat(made.check())
        .extracting(Findings.Violation::rule)
        .containsExactlyInAnyOrder("each failure is handled once", "a handler fits its failure");
  }

  @Test
  void a_handler_that_fails_is_found() {
    fails("handled-failure");
    handled("handler-1", 1, RUN + " FAILED broke");
    made.again(handler -> handler.status = "FAILED");

    assertFound("a handler fits its failure");
  }

  @Test
  void a_handler_that_is_told_another_error_is_found() {
    fails("handled-failure");
    handled("handler-1", 1, RUN + " FAILED other");

    assertFound("a handler fits its failure");
  }

  @Test
  void a_handler_that_is_told_another_status_is_found() {
    fails("handled-failure");
    handled("handler-1", 1, RUN + " TIMED_OUT broke");

    assertFound("a handler fits its failure");
  }

  @Test
  void a_handler_that_is_told_of_another_type_is_found() {
    fails("undone");
    handled("handler-1", 1, RUN + " FAILED broke");

    assertFound("a handler fits its failure");
  }

  @Test
  void a_run_that_is_handled_although_it_was_cancelled_is_found() {
    made.started();
    made.run("handled-cancel", "CANCELLED", 1, "").cancelAnswered("true").result("CANCELLED", "");
    made.again(run -> run.handler = HANDLER);
    handledInVain();

    assertFound("each failure is handled once");
  }

  @Test
  void a_run_that_is_handled_although_it_was_terminated_is_found() {
    terminated();
    handledInVain();

    assertFound("each failure is handled once");
  }

  @Test
  void a_run_that_is_handled_although_it_completed_is_found() {
    made.started();
    made.claim(1).end(INPUT + " ");
    made.run("terminate", "COMPLETED", 1, INPUT + " ").result("COMPLETED", INPUT + " ");
    made.again(run -> run.handler = HANDLER);
    handledInVain();

    assertFound("each failure is handled once");
  }

  /** Adds a handler that does not read the failure. */
  private void handledInVain() {
    made.claim("handler-1", 1, "in vain").end(RUN + "#1 ");
    handler("handler-1", 1, RUN + "#1 ");
  }

  private void terminated() {
    made.started();
    made.terminateAnswered("reason", "true")
        .run("terminate", "FAILED", 1, "")
        .result("FAILED", "terminated: reason");
    made.again(
        run -> {
          run.endedEpoch = 0;
          run.error = "terminated: reason";
          run.handler = HANDLER;
        });
  }

  @Test
  void a_run_that_was_terminated_is_fine() {
    terminated();

    assertFine();
  }

  @Test
  void an_acknowledged_termination_of_a_run_that_completes_is_found() {
    made.started();
    made.claim(1).end(INPUT + " ");
    made.run("terminate", "COMPLETED", 1, INPUT + " ").result("COMPLETED", INPUT + " ");
    made.again(run -> run.handler = HANDLER);
    made.terminateAnswered("reason", "true");

    assertFound("terminated is terminated");
  }

  @Test
  void a_step_that_is_recorded_after_the_termination_is_found() {
    terminated();
    made.claim(1).exec("a", 1, "A");
    made.completed("a", 1, "A");

    assertFound("ended is ended");
  }

  /**
   * A run that completes in its second attempt as a whole.
   *
   * @param toldBefore failures that the client received after its first resume
   */
  private void completesInSecondAttempt(String type, String... toldBefore) {
    String output = INPUT + " A,B";
    made.started();
    made.claim(1).does("a", "A").exec("b", 1, "broke");
    made.completed("a", 1, "A").failed("b", 1, 1, true, "broke");
    made.result("FAILED", "broke").resumeAnswered("true");
    for (String told : toldBefore) {
      made.result("FAILED", told).resumeAnswered("false");
    }
    made.claim(2).seen("a", "A").exec("b", 2, "B").seen("b", "B").end(output);
    made.completed("b", 2, 2, "B").inRunAttempt(2);
    made.run(type, "COMPLETED", 2, output).result("COMPLETED", output);
    made.again(run -> run.attempts = 2);
  }

  private void resumed(String... toldBefore) {
    completesInSecondAttempt("resume", toldBefore);
    made.again(run -> run.handler = HANDLER);
    made.claim("handler-1", 1, "handling")
        .handles("resume", 1, RUN + " FAILED broke")
        .end(RUN + "#1 ");
    handler("handler-1", 1, RUN + "#1 ");
  }

  @Test
  void a_run_that_fails_is_resumed_and_completes_is_fine() {
    resumed();

    assertFine();
  }

  @Test
  void a_failure_before_a_resume_that_nobody_handles_is_found() {
    completesInSecondAttempt("resume");
    made.again(run -> run.handler = HANDLER);

    assertFound("each failure is handled once");
  }

  @Test
  void a_handler_that_is_told_another_error_than_that_before_the_resume_is_found() {
    completesInSecondAttempt("resume");
    made.again(run -> run.handler = HANDLER);
    made.claim("handler-1", 1, "handling")
        .handles("resume", 1, RUN + " FAILED other")
        .end(RUN + "#1 ");
    handler("handler-1", 1, RUN + "#1 ");

    assertFound("a handler fits its failure");
  }

  @Test
  void a_completed_step_that_is_executed_again_after_the_resume_is_found() {
    resumed();
    made.claim(3).exec("b", 3, "again");

    assertThat(made.check())
        .extracting(Findings.Violation::rule)
        .contains("completed steps are kept");
  }

  @Test
  void a_run_that_stays_failed_although_it_is_resumed_is_found() {
    fails("resume");
    made.resumeAnswered("false").result("FAILED", "broke");
    made.claim("handler-1", 1, "handling")
        .handles("resume", 1, RUN + " FAILED broke")
        .end(RUN + "#1 ");
    handler("handler-1", 1, RUN + "#1 ");

    assertFound("the end fits the scenario");
  }

  /** Its sleep begins in the first claim and ends after the second has begun. */
  private void sleepsThroughTwoClaims(String type) {
    String output = INPUT + " ";
    made.started();
    made.claim(1).sleep("nap", 3_000);
    made.slept("nap", 1, 4_000_000);
    made.claim(2).sleep("nap", 3_000);
    made.timePasses(4_000_000);
    made.claim(3).woke("nap", 3_000).end(output);
    made.run(type, "COMPLETED", 3, output).result("COMPLETED", output);
  }

  @Test
  void a_resumed_run_may_sleep_on_from_an_earlier_claim() {
    made.terminateAnswered("reason", "true").result("FAILED", "terminated: reason");
    made.resumeAnswered("true");
    sleepsThroughTwoClaims("resume-terminated");
    made.again(run -> run.attempts = 2);

    assertFine();
  }

  @Test
  void a_sleep_that_a_lost_claim_has_ended_is_found() {
    sleepsThroughTwoClaims("long-sleep");

    assertFound("a lost claim writes nothing");
  }

  @Test
  void a_client_that_is_told_the_old_end_after_its_resume_is_found() {
    resumed("broke");

    assertFound("a resumed run goes on");
  }

  @Test
  void a_client_that_is_told_of_a_failure_that_never_was_is_found() {
    resumed("other");

    assertFound("the client was told the truth");
  }

  /** Like a resume, but without one. */
  private void retried(String type, boolean handles) {
    String output = INPUT + " A,B";
    made.started();
    made.claim(1).does("a", "A").exec("b", 1, "broke");
    made.completed("a", 1, "A").failed("b", 1, 1, true, "broke");
    made.claim(2).seen("a", "A").exec("b", 2, "B").seen("b", "B").end(output);
    made.completed("b", 2, 2, "B").inRunAttempt(2);
    made.run(type, "COMPLETED", 2, output).result("COMPLETED", output);
    made.again(
        run -> {
          run.attempts = 2;
          run.handler = handles ? HANDLER : "";
        });
  }

  @Test
  void a_run_that_is_tried_again_as_a_whole_is_fine() {
    retried("run-retry", true);

    assertFine();
  }

  @Test
  void a_run_that_is_tried_again_although_nobody_asked_for_it_is_found() {
    retried("steps", false);

    assertFound("a run is tried again for a reason");
  }

  @Test
  void a_run_that_is_tried_again_without_a_failure_is_found() {
    retried("run-retry", true);
    made.again(run -> run.attempts = 3);

    assertFound("a run is tried again for a reason");
  }

  @Test
  void an_attempt_after_a_final_failure_in_the_same_attempt_of_the_run_is_found() {
    retried("run-retry", true);
    made.claim(2, "late").exec("c", 1, "broke-c").exec("c", 2, "C");
    made.failed("c", 1, 2, true, "broke-c").inRunAttempt(2);
    made.completed("c", 2, 2, "C").inRunAttempt(2);

    assertThat(made.check()).extracting(Findings.Violation::rule).contains("one result per step");
  }

  @Test
  void a_failed_try_that_is_handled_although_the_run_completes_is_found() {
    retried("run-retry", true);
    handledInVain();

    assertFound("each failure is handled once");
  }

  /** A run that has compensated and fails finally. */
  private void undone() {
    made.started();
    made.claim(1)
        .exec("a", 1, "broke")
        .caught("a", "broke")
        .does("undo", "undone")
        .exec("b", 1, "broke too");
    made.failed("a", 1, 1, true, "broke")
        .completed("undo", 1, "undone")
        .failed("b", 1, 1, true, "broke too");
    made.run("undone", "FAILED", 1, "").result("FAILED", "broke too");
    made.again(
        run -> {
          run.error = "broke too";
          run.handler = HANDLER;
        });
    made.claim("handler-1", 1, "handling").end(RUN + "#1 ");
    handler("handler-1", 1, RUN + "#1 ");
  }

  @Test
  void a_run_that_undoes_its_work_and_fails_is_fine() {
    undone();

    assertFine();
  }

  @Test
  void a_run_that_is_tried_again_after_it_has_undone_its_work_is_found() {
    undone();
    made.again(0, run -> run.attempts = 2);

    assertFound("what was undone is over");
  }

  /** Two starts with one id. */
  private void startedTwice() {
    made.claim(1).end(INPUT + " ");
    made.run("start-twice", "COMPLETED", 1, INPUT + " ").result("COMPLETED", INPUT + " ");
  }

  @Test
  void a_start_that_finds_the_run_of_another_is_fine() {
    made.started().found();
    startedTwice();

    assertFine();
  }

  @Test
  void two_starts_that_were_told_to_have_made_the_same_run_are_found() {
    made.started().started();
    startedTwice();

    assertFound("one start makes a run");
  }

  @Test
  void a_run_that_was_found_and_is_not_in_the_tables_is_found() {
    made.found();

    assertFound("every start ends");
  }
}
