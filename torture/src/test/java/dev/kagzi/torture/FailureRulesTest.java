package dev.kagzi.torture;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.torture.EvidenceBuilder.RunBuilder;
import dev.kagzi.torture.StepRecord.Cause;
import org.junit.jupiter.api.Test;

/**
 * Like {@link CheckerTest}, for time-outs, handlers, further attempts of runs and ends from
 * outside.
 */
class FailureRulesTest {
  private static final String RUN = EvidenceBuilder.RUN;
  private static final String INPUT = EvidenceBuilder.INPUT;
  private static final String HANDLER = Scenarios.HANDLER.name();

  private final EvidenceBuilder evidence = new EvidenceBuilder();

  private void assertNoViolation() {
    assertThat(evidence.check()).isEmpty();
  }

  private void assertFound(String rule) {
    assertThat(evidence.check()).extracting(Findings.Violation::rule).containsExactly(rule);
  }

  /** A step with this time-out times out after more than two seconds, and then succeeds. */
  private void stepTimesOut(long limitMillis) {
    String output = INPUT + " A";
    evidence.started();
    EvidenceBuilder.Execution slow = evidence.claim(1).limit("a", limitMillis).exec("a", 1, "slow");
    evidence.failed("a", 1, 1, Cause.TIMEOUT);
    slow.late("a", "slow").exec("a", 2, "A").seen("a", "A").end(output);
    evidence
        .completed("a", 2, 1, "A")
        .run("step-timeout", "COMPLETED", 1, output)
        .result("COMPLETED", output);
  }

  @Test
  void a_step_that_times_out_and_succeeds_later_has_no_violation() {
    stepTimesOut(2_000);

    assertNoViolation();
  }

  @Test
  void a_step_that_times_out_early_is_found() {
    stepTimesOut(2_500);

    assertFound("no step times out early");
  }

  /** Times out three seconds after the code requested the step, and again a second later. */
  private void stepTimesOutTwice(long limitMillis) {
    evidence.started();
    evidence.claim(1).limit("a", limitMillis).exec("a", 1, "slow").exec("a", 2, "slow too");
    evidence.failed("a", 1, 1, Cause.TIMEOUT).failed("a", 2, 1, Cause.TIMEOUT);
    evidence.run("cancel", "CANCELLED", 1, "").cancelAnswered("true").result("CANCELLED", "");
  }

  @Test
  void a_step_that_times_out_twice_has_no_violation() {
    stepTimesOutTwice(2_000);

    assertNoViolation();
  }

  @Test
  void a_second_time_out_soon_after_the_first_is_found() {
    stepTimesOutTwice(2_500);

    assertFound("no step times out early");
  }

  @Test
  void a_step_that_times_out_without_a_time_out_is_found() {
    evidence.started();
    evidence.claim(1).exec("a", 1, "slow");
    evidence.failed("a", 1, 1, Cause.TIMEOUT);
    evidence.run("cancel", "CANCELLED", 1, "").cancelAnswered("true").result("CANCELLED", "");

    assertFound("no step times out early");
  }

  @Test
  void a_time_out_of_an_attempt_that_was_not_executed_is_found() {
    evidence.started();
    evidence.claim(1).limit("a", 1_000);
    evidence.failed("a", 1, 1, Cause.TIMEOUT);
    evidence.run("cancel", "CANCELLED", 1, "").cancelAnswered("true").result("CANCELLED", "");

    assertFound("recorded results were executed");
  }

  @Test
  void a_recorded_result_after_the_time_out_is_found() {
    String output = INPUT + " A";
    evidence.started();
    evidence.claim(1).limit("a", 1_000).exec("a", 1, "A").late("a", "A").seen("a", "A").end(output);
    evidence
        .completed("a", 1, "A")
        .run("step-timeout", "COMPLETED", 1, output)
        .result("COMPLETED", output);

    assertFound("late results do not count");
  }

  /**
   * A run with a time-out of two seconds that starts at second one; its last result is at second
   * ten.
   */
  private void timesOut() {
    evidence.started();
    evidence.timePasses(8_000_000).run("timeout", "TIMED_OUT", 1, "").result("TIMED_OUT", "late");
    evidence.changeRun(
        run -> {
          run.endedEpoch = 0;
          run.error = "late";
          run.deadlineMicros = run.createdMicros + 2_000_000;
          run.finishedMicros = run.deadlineMicros;
        });
  }

  @Test
  void a_run_that_times_out_has_no_violation() {
    timesOut();

    assertNoViolation();
  }

  @Test
  void a_run_that_times_out_before_its_deadline_is_found() {
    timesOut();
    evidence.changeRun(run -> run.finishedMicros--);

    assertFound("no run times out early");
  }

  @Test
  void a_deadline_that_is_too_early_is_found() {
    timesOut();
    evidence.changeRun(run -> run.deadlineMicros--);

    assertFound("no run times out early");
  }

  @Test
  void a_client_that_receives_a_time_out_too_early_is_found() {
    timesOut();
    evidence.changeRun(
        run -> {
          run.createdMicros += 30_000_000;
          run.deadlineMicros += 30_000_000;
          run.finishedMicros += 30_000_000;
        });

    assertFound("no run times out early");
  }

  @Test
  void a_run_that_completes_instead_of_timing_out_is_found() {
    evidence.started();
    evidence.claim(1).end(INPUT + " ");
    evidence.run("timeout", "COMPLETED", 1, INPUT + " ").result("COMPLETED", INPUT + " ");

    assertFound("the end matches the scenario");
  }

  @Test
  void a_run_that_times_out_although_it_had_time_is_found() {
    timesOut();
    evidence.changeRun(run -> run.type = "ample-timeout");

    assertThat(evidence.check())
        .extracting(Findings.Violation::rule)
        .contains("the end matches the scenario");
  }

  @Test
  void a_step_that_is_recorded_after_the_time_out_is_found() {
    timesOut();
    evidence.claim(1).exec("a", 1, "A");
    evidence.completed("a", 1, "A");

    assertFound("nothing is recorded after the end");
  }

  @Test
  void a_step_that_a_time_out_closed_needs_no_execution() {
    timesOut();
    evidence.claim(1).exec("a", 1, "interrupted");
    evidence.failed("a", 1, 1, Cause.RUN_ENDED);
    evidence.changeRun(run -> run.finishedMicros = evidence.nowMicros());

    assertNoViolation();
  }

  @Test
  void a_step_that_the_end_closed_without_an_end_is_found() {
    String output = INPUT + " ";
    evidence.started();
    evidence.claim(1).exec("a", 1, "A").end(output);
    evidence
        .failed("a", 1, 1, Cause.RUN_ENDED)
        .run("steps", "COMPLETED", 1, output)
        .result("COMPLETED", output);

    assertThat(evidence.check())
        .extracting(Findings.Violation::rule)
        .contains("recorded results were executed");
  }

  /** A run that failed, before its handler is added. */
  private void fails(String type) {
    evidence.started();
    evidence.claim(1).exec("a", 1, "broke");
    evidence.failed("a", 1, 1, true, "broke").run(type, "FAILED", 1, "").result("FAILED", "broke");
    evidence.changeRun(
        run -> {
          run.error = "broke";
          run.handler = HANDLER;
        });
  }

  private void handled(String id, int attempts, String received) {
    String output = RUN + "#" + attempts + " ";
    evidence
        .claim(id, 1, "execution-of-" + id)
        .handles("handled-failure", attempts, received)
        .end(output);
    handler(id, attempts, output);
  }

  private void handler(String id, int attempts, String output) {
    RunBuilder handler = new RunBuilder(id, HANDLER, "COMPLETED", 1, output);
    handler.input = RUN + "#" + attempts;
    handler.failedRunId = RUN;
    handler.isHandler = true;
    evidence.addRun(handler);
  }

  @Test
  void a_failure_that_is_handled_has_no_violation() {
    fails("handled-failure");
    handled("handler-1", 1, RUN + " FAILED broke");

    assertNoViolation();
  }

  @Test
  void a_failure_without_a_handler_is_found() {
    fails("handled-failure");

    assertFound("each failure is handled once");
  }

  @Test
  void a_failure_that_is_handled_twice_is_found() {
    fails("handled-failure");
    handled("handler-1", 1, RUN + " FAILED broke");
    handled("handler-2", 1, RUN + " FAILED broke");

    assertThat(evidence.check())
        .extracting(Findings.Violation::rule)
        .containsExactlyInAnyOrder("each failure is handled once", Checker.ONE_RUN_PER_START);
  }

  @Test
  void a_run_without_its_handler_is_found() {
    fails("handled-failure");
    evidence.changeRun(run -> run.handler = "");
    handled("handler-1", 1, RUN + " FAILED broke");

    assertFound("each failure is handled once");
  }

  @Test
  void an_unrequested_handler_is_found() {
    fails("failure");
    evidence.changeRun(run -> run.handler = "");
    handled("handler-1", 1, RUN + " FAILED broke");

    assertThat(evidence.check())
        .extracting(Findings.Violation::rule)
        .contains("each failure is handled once");
  }

  @Test
  void a_handler_that_does_not_refer_to_its_run_is_found() {
    fails("handled-failure");
    handled("handler-1", 1, RUN + " FAILED broke");
    evidence.changeRun(handler -> handler.failedRunId = "");

    assertThat(evidence.check())
        .extracting(Findings.Violation::rule)
        .containsExactlyInAnyOrder("each failure is handled once", "a handler matches its failure");
  }

  @Test
  void a_handler_that_fails_is_found() {
    fails("handled-failure");
    handled("handler-1", 1, RUN + " FAILED broke");
    evidence.changeRun(handler -> handler.status = "FAILED");

    assertFound("a handler matches its failure");
  }

  @Test
  void a_handler_that_receives_another_error_is_found() {
    fails("handled-failure");
    handled("handler-1", 1, RUN + " FAILED other");

    assertFound("a handler matches its failure");
  }

  @Test
  void a_handler_that_receives_another_status_is_found() {
    fails("handled-failure");
    handled("handler-1", 1, RUN + " TIMED_OUT broke");

    assertFound("a handler matches its failure");
  }

  @Test
  void a_handler_that_receives_another_type_is_found() {
    fails("undone");
    handled("handler-1", 1, RUN + " FAILED broke");

    assertFound("a handler matches its failure");
  }

  @Test
  void a_run_that_is_handled_although_it_was_cancelled_is_found() {
    evidence.started();
    evidence
        .run("handled-cancel", "CANCELLED", 1, "")
        .cancelAnswered("true")
        .result("CANCELLED", "");
    evidence.changeRun(run -> run.handler = HANDLER);
    handledWithoutReadingTheFailure();

    assertFound("each failure is handled once");
  }

  @Test
  void a_run_that_is_handled_although_it_was_terminated_is_found() {
    terminated();
    handledWithoutReadingTheFailure();

    assertFound("each failure is handled once");
  }

  @Test
  void a_run_that_is_handled_although_it_completed_is_found() {
    evidence.started();
    evidence.claim(1).end(INPUT + " ");
    evidence.run("terminate", "COMPLETED", 1, INPUT + " ").result("COMPLETED", INPUT + " ");
    evidence.changeRun(run -> run.handler = HANDLER);
    handledWithoutReadingTheFailure();

    assertFound("each failure is handled once");
  }

  /** Adds a handler that does not read the failure. */
  private void handledWithoutReadingTheFailure() {
    evidence.claim("handler-1", 1, "in vain").end(RUN + "#1 ");
    handler("handler-1", 1, RUN + "#1 ");
  }

  private void terminated() {
    evidence.started();
    evidence
        .terminateAnswered("reason", "true")
        .run("terminate", "FAILED", 1, "")
        .result("FAILED", "terminated: reason");
    evidence.changeRun(
        run -> {
          run.endedEpoch = 0;
          run.error = "terminated: reason";
          run.handler = HANDLER;
        });
  }

  @Test
  void a_run_that_was_terminated_has_no_violation() {
    terminated();

    assertNoViolation();
  }

  @Test
  void an_acknowledged_termination_of_a_run_that_completes_is_found() {
    evidence.started();
    evidence.claim(1).end(INPUT + " ");
    evidence.run("terminate", "COMPLETED", 1, INPUT + " ").result("COMPLETED", INPUT + " ");
    evidence.changeRun(run -> run.handler = HANDLER);
    evidence.terminateAnswered("reason", "true");

    assertFound("terminated is terminated");
  }

  @Test
  void a_step_that_is_recorded_after_the_termination_is_found() {
    terminated();
    evidence.claim(1).exec("a", 1, "A");
    evidence.completed("a", 1, "A");

    assertFound("nothing is recorded after the end");
  }

  /**
   * A run that completes in its second attempt as a whole.
   *
   * @param earlierResults failures that the client received after its first resume
   */
  private void completesInSecondAttempt(String type, String... earlierResults) {
    String output = INPUT + " A,B";
    evidence.started();
    evidence.claim(1).executes("a", "A").exec("b", 1, "broke");
    evidence.completed("a", 1, "A").failed("b", 1, 1, true, "broke");
    evidence.result("FAILED", "broke").resumeAnswered("true");
    for (String received : earlierResults) {
      evidence.result("FAILED", received).resumeAnswered("false");
    }
    evidence.claim(2).seen("a", "A").exec("b", 2, "B").seen("b", "B").end(output);
    evidence.completed("b", 2, 2, "B").inRunAttempt(2);
    evidence.run(type, "COMPLETED", 2, output).result("COMPLETED", output);
    evidence.changeRun(run -> run.attempts = 2);
  }

  private void resumed(String... earlierResults) {
    completesInSecondAttempt("resume", earlierResults);
    evidence.changeRun(run -> run.handler = HANDLER);
    evidence
        .claim("handler-1", 1, "handling")
        .handles("resume", 1, RUN + " FAILED broke")
        .end(RUN + "#1 ");
    handler("handler-1", 1, RUN + "#1 ");
  }

  @Test
  void a_run_that_fails_is_resumed_and_completes_has_no_violation() {
    resumed();

    assertNoViolation();
  }

  @Test
  void an_unhandled_failure_before_a_resume_is_found() {
    completesInSecondAttempt("resume");
    evidence.changeRun(run -> run.handler = HANDLER);

    assertFound("each failure is handled once");
  }

  @Test
  void a_handler_that_receives_another_error_than_before_the_resume_is_found() {
    completesInSecondAttempt("resume");
    evidence.changeRun(run -> run.handler = HANDLER);
    evidence
        .claim("handler-1", 1, "handling")
        .handles("resume", 1, RUN + " FAILED other")
        .end(RUN + "#1 ");
    handler("handler-1", 1, RUN + "#1 ");

    assertFound("a handler matches its failure");
  }

  @Test
  void a_completed_step_that_is_executed_again_after_the_resume_is_found() {
    resumed();
    evidence.claim(3).exec("b", 3, "again");

    assertThat(evidence.check())
        .extracting(Findings.Violation::rule)
        .contains("completed steps are kept");
  }

  @Test
  void a_run_that_stays_failed_although_it_is_resumed_is_found() {
    fails("resume");
    evidence.resumeAnswered("false").result("FAILED", "broke");
    evidence
        .claim("handler-1", 1, "handling")
        .handles("resume", 1, RUN + " FAILED broke")
        .end(RUN + "#1 ");
    handler("handler-1", 1, RUN + "#1 ");

    assertFound("the end matches the scenario");
  }

  /** Its sleep begins in the first claim and ends after the second has begun. */
  private void sleepsThroughTwoClaims(String type) {
    String output = INPUT + " ";
    evidence.started();
    evidence.claim(1).sleep("nap", 3_000);
    evidence.slept("nap", 1, 4_000_000);
    evidence.claim(2).sleep("nap", 3_000);
    evidence.timePasses(4_000_000);
    evidence.claim(3).woke("nap", 3_000).end(output);
    evidence.run(type, "COMPLETED", 3, output).result("COMPLETED", output);
  }

  @Test
  void a_resumed_run_may_sleep_on_from_an_earlier_claim() {
    evidence.terminateAnswered("reason", "true").result("FAILED", "terminated: reason");
    evidence.resumeAnswered("true");
    sleepsThroughTwoClaims("resume-terminated");
    evidence.changeRun(run -> run.attempts = 2);

    assertNoViolation();
  }

  @Test
  void a_sleep_that_a_lost_claim_has_ended_is_found() {
    sleepsThroughTwoClaims("long-sleep");

    assertFound("a lost claim writes nothing");
  }

  @Test
  void a_client_that_receives_the_old_end_after_its_resume_is_found() {
    resumed("broke");

    assertFound("a resumed run continues");
  }

  @Test
  void a_client_that_receives_a_failure_that_is_not_recorded_is_found() {
    resumed("other");

    assertFound("the client received the recorded result");
  }

  /** Like a resume, but without one. */
  private void retried(String type, boolean handles) {
    String output = INPUT + " A,B";
    evidence.started();
    evidence.claim(1).executes("a", "A").exec("b", 1, "broke");
    evidence.completed("a", 1, "A").failed("b", 1, 1, true, "broke");
    evidence.claim(2).seen("a", "A").exec("b", 2, "B").seen("b", "B").end(output);
    evidence.completed("b", 2, 2, "B").inRunAttempt(2);
    evidence.run(type, "COMPLETED", 2, output).result("COMPLETED", output);
    evidence.changeRun(
        run -> {
          run.attempts = 2;
          run.handler = handles ? HANDLER : "";
        });
  }

  @Test
  void a_run_that_is_retried_as_a_whole_has_no_violation() {
    retried("run-retry", true);

    assertNoViolation();
  }

  @Test
  void a_run_that_is_retried_without_a_policy_or_resume_is_found() {
    retried("steps", false);

    assertFound("a run is retried for a reason");
  }

  @Test
  void a_run_that_is_retried_without_a_failure_is_found() {
    retried("run-retry", true);
    evidence.changeRun(run -> run.attempts = 3);

    assertFound("a run is retried for a reason");
  }

  @Test
  void an_attempt_after_a_final_failure_in_the_same_attempt_of_the_run_is_found() {
    retried("run-retry", true);
    evidence.claim(2, "late").exec("c", 1, "broke-c").exec("c", 2, "C");
    evidence.failed("c", 1, 2, true, "broke-c").inRunAttempt(2);
    evidence.completed("c", 2, 2, "C").inRunAttempt(2);

    assertThat(evidence.check())
        .extracting(Findings.Violation::rule)
        .contains("one result per step");
  }

  @Test
  void a_failed_attempt_that_is_handled_although_the_run_completes_is_found() {
    retried("run-retry", true);
    handledWithoutReadingTheFailure();

    assertFound("each failure is handled once");
  }

  /** A run that has compensated and fails finally. */
  private void undone() {
    evidence.started();
    evidence
        .claim(1)
        .exec("a", 1, "broke")
        .caught("a", "broke")
        .executes("undo", "undone")
        .exec("b", 1, "broke too");
    evidence
        .failed("a", 1, 1, true, "broke")
        .completed("undo", 1, "undone")
        .failed("b", 1, 1, true, "broke too");
    evidence.run("undone", "FAILED", 1, "").result("FAILED", "broke too");
    evidence.changeRun(
        run -> {
          run.error = "broke too";
          run.handler = HANDLER;
        });
    evidence.claim("handler-1", 1, "handling").end(RUN + "#1 ");
    handler("handler-1", 1, RUN + "#1 ");
  }

  @Test
  void a_run_that_compensates_and_fails_has_no_violation() {
    undone();

    assertNoViolation();
  }

  @Test
  void a_run_that_is_retried_after_its_compensation_is_found() {
    undone();
    evidence.changeRun(0, run -> run.attempts = 2);

    assertFound("a compensated run is not retried");
  }

  /** Two starts with one id. */
  private void startedTwice() {
    evidence.claim(1).end(INPUT + " ");
    evidence.run("start-twice", "COMPLETED", 1, INPUT + " ").result("COMPLETED", INPUT + " ");
  }

  @Test
  void a_start_that_finds_the_run_of_another_has_no_violation() {
    evidence.started().found();
    startedTwice();

    assertNoViolation();
  }

  @Test
  void two_starts_that_both_created_the_same_run_are_found() {
    evidence.started().started();
    startedTwice();

    assertFound("one start creates a run");
  }

  @Test
  void a_run_that_was_found_and_is_not_in_the_tables_is_found() {
    evidence.found();

    assertFound("every start ends");
  }
}
