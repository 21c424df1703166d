package dev.kagzi.torture;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.torture.EvidenceBuilder.RunBuilder;
import dev.kagzi.torture.StepRecord.Cause;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Plants each kind of violation once, to prove that the checker finds it. */
class CheckerTest {
  private static final String OUTPUT = EvidenceBuilder.INPUT + " A,B";

  private final EvidenceBuilder evidence = new EvidenceBuilder();

  /** Two steps, one claim, no fault. */
  private EvidenceBuilder good() {
    evidence.started();
    evidence.claim(1).executes("a", "A").executes("b", "B").end(OUTPUT);
    return evidence
        .completed("a", 1, "A")
        .completed("b", 1, "B")
        .run("steps", "COMPLETED", 1, OUTPUT)
        .result("COMPLETED", OUTPUT);
  }

  private void assertFound(String rule) {
    assertThat(evidence.check()).extracting(Findings.Violation::rule).containsExactly(rule);
  }

  @Test
  void a_run_without_faults_has_no_violation() {
    good();

    assertThat(evidence.check()).isEmpty();
  }

  @Test
  void an_unrecorded_step_may_be_executed_again_after_a_crash() {
    evidence.started();
    evidence.claim(1).executes("a", "lost");
    evidence.claim(2).executes("a", "A").executes("b", "B").end(OUTPUT);
    evidence
        .completed("a", 2, "A")
        .completed("b", 2, "B")
        .run("steps", "COMPLETED", 2, OUTPUT)
        .result("COMPLETED", OUTPUT);

    assertThat(evidence.check()).isEmpty();
  }

  @Test
  void a_lost_claim_may_execute_a_step_that_a_later_claim_has_recorded() {
    evidence.started();
    EvidenceBuilder.Execution paused = evidence.claim(1);
    evidence.claim(2).executes("a", "A").executes("b", "B").end(OUTPUT);
    paused.executes("a", "late");
    evidence
        .completed("a", 2, "A")
        .completed("b", 2, "B")
        .run("steps", "COMPLETED", 2, OUTPUT)
        .result("COMPLETED", OUTPUT);

    assertThat(evidence.check()).isEmpty();
  }

  @Test
  void an_acknowledged_start_that_is_not_in_the_tables_is_found() {
    evidence.started();

    assertFound("every start ends");
  }

  @Test
  void a_run_that_never_ends_is_found() {
    evidence.started();
    evidence.run("steps", "SLEEPING", 0, "");

    assertFound("every start ends");
  }

  @Test
  void an_unacknowledged_run_that_never_ends_is_found() {
    evidence.run("steps", "PENDING", 0, "");

    assertFound("every start ends");
  }

  @Test
  void a_start_that_created_two_runs_is_found() {
    good();
    evidence.claim(1, "second-run");
    evidence.addRun(new RunBuilder("run-2", "steps", "CANCELLED", 0, ""));

    assertThat(evidence.check())
        .extracting(Findings.Violation::rule)
        .contains(Checker.ONE_RUN_PER_START);
  }

  @Test
  void an_end_that_does_not_match_the_scenario_is_found() {
    evidence.started();
    evidence.run("steps", "FAILED", 1, "").result("FAILED", "");

    assertFound("the end matches the scenario");
  }

  @Test
  void an_output_that_no_code_returned_is_found() {
    good();
    evidence.changeRun(run -> run.output = "other");
    evidence.result("COMPLETED", "other");

    assertThat(evidence.check())
        .extracting(Findings.Violation::rule)
        .contains("the output is what the code returned");
  }

  @Test
  void code_without_steps_is_checked_by_its_output() {
    String output = EvidenceBuilder.INPUT + " ";
    evidence.started();
    evidence.run("no-effect", "COMPLETED", 1, output).result("COMPLETED", output);

    assertThat(evidence.check()).isEmpty();
    evidence.changeRun(run -> run.output = "other");
    assertThat(evidence.check())
        .extracting(Findings.Violation::rule)
        .contains("the output is what the code returned");
  }

  @Test
  void an_output_of_a_claim_that_was_lost_is_found() {
    good();
    evidence.changeRun(
        run -> {
          run.epoch = 2;
          run.endedEpoch = 2;
        });

    assertFound("the output is what the code returned");
  }

  @Test
  void two_results_of_one_step_are_found() {
    good();
    evidence.claim(1, "again").exec("b", 2, "B2");
    evidence.completed("b", 2, 1, "B2");

    assertThat(evidence.check())
        .extracting(Findings.Violation::rule)
        .contains("one result per step");
  }

  @Test
  void an_attempt_that_is_missing_is_found() {
    evidence.started();
    evidence.claim(1).exec("a", 3, "A").seen("a", "A").end(EvidenceBuilder.INPUT + " A");
    evidence
        .completed("a", 3, 1, "A")
        .run("steps", "COMPLETED", 1, EvidenceBuilder.INPUT + " A")
        .result("COMPLETED", EvidenceBuilder.INPUT + " A");

    assertFound("one result per step");
  }

  @Test
  void a_recorded_step_without_an_execution_is_found() {
    good();
    evidence.completed("c", 1, "C");

    assertFound("recorded results were executed");
  }

  @Test
  void a_result_that_another_claim_executed_is_found() {
    evidence.started();
    evidence.claim(1).exec("a", 1, "stale");
    evidence.claim(2).exec("a", 1, "A");
    evidence.completed("a", 2, "stale").run("cancel", "CANCELLED", 2, "").cancelAnswered("true");
    evidence.result("CANCELLED", "");

    assertFound("recorded results were executed");
  }

  @Test
  void a_result_that_a_lost_claim_wrote_after_the_next_had_begun_is_found() {
    evidence.started();
    evidence.claim(1).exec("a", 1, "late");
    evidence.claim(2);
    evidence.completed("a", 1, "late").run("cancel", "CANCELLED", 2, "").cancelAnswered("true");
    evidence.result("CANCELLED", "");

    assertFound("a lost claim writes nothing");
  }

  @Test
  void a_sleep_outside_any_branch_that_a_lost_claim_ends_is_found() {
    evidence.started();
    evidence.claim(1).sleep("s", 1_000);
    evidence.claim(2);
    evidence
        .slept("s", 1, 3_000_000)
        .timePasses(3_000_000)
        .run("cancel", "CANCELLED", 2, "")
        .cancelAnswered("true");
    evidence.result("CANCELLED", "");

    assertFound("a lost claim writes nothing");
  }

  @Test
  void a_sleep_outside_any_branch_may_end_by_time_after_its_claim_was_lost() {
    evidence.started();
    evidence.claim(1).sleep("s", 1_000);
    evidence.sleptByTime("s", 1, 3_000_000);
    evidence.claim(2);
    evidence.timePasses(3_000_000).run("cancel", "CANCELLED", 2, "").cancelAnswered("true");
    evidence.result("CANCELLED", "");

    assertThat(evidence.check())
        .extracting(Findings.Violation::rule)
        .doesNotContain("a lost claim writes nothing");
  }

  @Test
  void a_sleep_that_a_lost_claim_begins_after_the_next_had_begun_is_found() {
    evidence.started();
    evidence.claim(1).sleep("s", 1_000);
    evidence.claim(2);
    evidence
        .timePasses(3_000_000)
        .sleptByTime("s", 1, 1_000_000)
        .run("cancel", "CANCELLED", 2, "")
        .cancelAnswered("true");
    evidence.result("CANCELLED", "");

    assertFound("a lost claim writes nothing");
  }

  @Test
  void an_end_by_a_claim_that_was_not_the_last_is_found() {
    good();
    evidence.changeRun(run -> run.epoch = 2);

    assertFound("the end matches the scenario");
  }

  @Test
  void a_claim_that_is_executed_twice_is_found() {
    good();
    evidence.claim(1, "second");

    assertFound("one execution per claim");
  }

  @Test
  void a_claim_after_the_last_one_is_found() {
    good();
    evidence.claim(2);

    assertFound("one execution per claim");
  }

  @Test
  void a_step_that_a_later_claim_executes_again_is_found() {
    evidence.started();
    evidence.claim(1).executes("a", "A").exec("b", 1, "lost");
    evidence.claim(2).executes("a", "again").executes("b", "B").end(OUTPUT);
    evidence
        .completed("a", 1, "A")
        .completed("b", 2, "B")
        .run("steps", "COMPLETED", 2, OUTPUT)
        .result("COMPLETED", OUTPUT);

    assertThat(evidence.check())
        .extracting(Findings.Violation::rule)
        .contains("no step is repeated after its result");
  }

  @Test
  void an_attempt_that_a_later_claim_makes_again_is_found() {
    evidence.started();
    evidence.claim(1).exec("a", 1, "broke").exec("a", 2, "lost");
    evidence.claim(2).exec("a", 1, "A").seen("a", "A").end(EvidenceBuilder.INPUT + " A");
    evidence.failed("a", 1, 1, false, "broke");
    evidence
        .completed("a", 2, 2, "A")
        .run("steps", "COMPLETED", 2, EvidenceBuilder.INPUT + " A")
        .result("COMPLETED", EvidenceBuilder.INPUT + " A");

    assertThat(evidence.check())
        .extracting(Findings.Violation::rule)
        .contains("no step is repeated after its result");
  }

  @Test
  void a_step_that_is_executed_after_its_own_result_was_seen_is_found() {
    good();
    evidence.claim(0, "unsure").executes("a", "A2").exec("a", 0, "A3");

    assertThat(evidence.check())
        .extracting(Findings.Violation::rule)
        .contains("no step is repeated after its result");
  }

  @Test
  void a_step_that_began_before_the_last_result_was_recorded_is_found() {
    evidence.started();
    evidence.claim(1).executes("a", "unrecorded").exec("b", 1, "lost");
    evidence.run("cancel", "CANCELLED", 1, "").cancelAnswered("true").result("CANCELLED", "");

    assertFound("durable before the next step");
  }

  @Test
  void a_sleep_that_was_over_without_a_record_is_found() {
    evidence.started();
    evidence.claim(1).sleep("nap", 10).woke("nap", 10).exec("b", 1, "lost");
    evidence.run("cancel", "CANCELLED", 1, "").cancelAnswered("true").result("CANCELLED", "");

    assertFound("durable before the next step");
  }

  @Test
  void a_replay_that_sees_another_value_than_the_recorded_one_is_found() {
    good();
    evidence.claim(0, "replay").seen("a", "other");

    assertFound("replays see what is recorded");
  }

  @Test
  void a_caught_failure_that_is_not_the_recorded_one_is_found() {
    evidence.started();
    evidence.claim(1).exec("a", 1, "broke").caught("a", "other");
    evidence
        .failed("a", 1, 1, true, "broke")
        .run("cancel", "CANCELLED", 1, "")
        .cancelAnswered("true")
        .result("CANCELLED", "");

    assertFound("a caught failure is recorded");
  }

  @Test
  void compensation_that_is_recorded_has_no_violation() {
    String output = EvidenceBuilder.INPUT + " broke,undone";
    evidence.started();
    evidence
        .claim(1)
        .exec("a", 1, "broke")
        .caught("a", "broke")
        .executes("undo", "undone")
        .end(output);
    evidence
        .failed("a", 1, 1, true, "broke")
        .completed("undo", 1, "undone")
        .run("compensation", "COMPLETED", 1, output)
        .result("COMPLETED", output);

    assertThat(evidence.check()).isEmpty();
  }

  @Test
  void a_failure_without_compensation_is_found() {
    String output = EvidenceBuilder.INPUT + " broke";
    evidence.started();
    evidence.claim(1).exec("a", 1, "broke").caught("a", "broke").end(output);
    evidence
        .failed("a", 1, 1, true, "broke")
        .run("compensation", "COMPLETED", 1, output)
        .result("COMPLETED", output);

    assertFound("compensation follows its failure");
  }

  @Test
  void compensation_that_is_recorded_before_its_failure_is_found() {
    String output = EvidenceBuilder.INPUT + " broke,undone";
    evidence.started();
    evidence
        .claim(1)
        .exec("a", 1, "broke")
        .caught("a", "broke")
        .executes("undo", "undone")
        .end(output);
    evidence
        .completed("undo", 1, "undone")
        .failed("a", 1, 1, true, "broke")
        .run("compensation", "COMPLETED", 1, output)
        .result("COMPLETED", output);

    assertFound("compensation follows its failure");
  }

  @Test
  void a_sleep_that_is_long_enough_has_no_violation() {
    sleeps(2_000, 2_000_000);

    assertThat(evidence.check()).isEmpty();
  }

  @Test
  void a_sleep_that_is_short_by_the_databases_clock_is_found() {
    sleeps(2_000, 1_900_000);

    assertFound("no sleep is short");
  }

  @Test
  void a_sleep_that_is_short_by_the_ledgers_clock_is_found() {
    sleeps(4_000, 4_000_000);

    assertThat(evidence.check())
        .extracting(Findings.Violation::rule)
        .containsOnly("no sleep is short");
  }

  /** In the ledger, two seconds pass between the request and the wake-up. */
  private void sleeps(long askedMillis, long tableMicros) {
    String output = EvidenceBuilder.INPUT + " ";
    evidence.started();
    EvidenceBuilder.Execution sleeper = evidence.claim(1).sleep("nap", askedMillis);
    evidence.slept("nap", 1, tableMicros).timePasses(1_000_000);
    sleeper.woke("nap", askedMillis).end(output);
    evidence.run("short-sleep", "COMPLETED", 1, output).result("COMPLETED", output);
  }

  @Test
  void a_result_that_is_not_in_the_tables_is_found() {
    good();
    evidence.result("COMPLETED", "other");

    assertFound("the client received the recorded result");
  }

  @Test
  void an_end_that_the_client_did_not_receive_is_found() {
    evidence.started();
    evidence.claim(1).executes("a", "A").executes("b", "B").end(OUTPUT);
    evidence.completed("a", 1, "A").completed("b", 1, "B").run("steps", "COMPLETED", 1, OUTPUT);

    assertFound("the client received the recorded result");
  }

  @Test
  void an_acknowledged_cancel_of_a_run_that_completes_is_found() {
    good();
    evidence.cancelAnswered("true");

    assertFound("cancelled is cancelled");
  }

  @Test
  void a_step_that_is_recorded_after_the_cancel_is_found() {
    evidence.started();
    evidence.claim(1).exec("a", 1, "A");
    evidence
        .run("cancel", "CANCELLED", 1, "")
        .timePasses(4_000_000)
        .completed("a", 1, "A")
        .cancelAnswered("true")
        .result("CANCELLED", "");

    assertFound("nothing is recorded after the end");
  }

  /**
   * The step has the time when its transaction began, and the cancel may have waited for its lock.
   */
  @Test
  void a_step_whose_transaction_began_while_the_cancel_waited_has_no_violation() {
    evidence.started();
    evidence.claim(1).exec("a", 1, "A");
    evidence
        .run("cancel", "CANCELLED", 1, "")
        .timePasses(1_000_000)
        .completed("a", 1, "A")
        .cancelAnswered("true")
        .result("CANCELLED", "");

    assertThat(evidence.check()).isEmpty();
  }

  @Test
  void a_step_that_a_cancel_closed_needs_no_execution() {
    evidence.started();
    evidence.claim(1).exec("a", 1, "interrupted");
    evidence.failed("a", 1, 1, Cause.RUN_ENDED).timePasses(-1_000_000);
    evidence.run("cancel", "CANCELLED", 1, "").cancelAnswered("true").result("CANCELLED", "");

    assertThat(evidence.check()).isEmpty();
  }

  @Test
  void ledger_lines_are_read_as_they_were_written() {
    good();
    List<LedgerEntry> entries = evidence.entries();

    assertThat(entries.stream().map(LedgerEntry::line).map(LedgerEntry::parse)).isEqualTo(entries);
  }
}
