package dev.kagzi.torture;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.torture.MadeEvidence.MadeRun;
import dev.kagzi.torture.StepRecord.Cause;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Plants each kind of violation once, to prove that the checker finds it. */
class CheckerTest {
  private static final String OUTPUT = MadeEvidence.INPUT + " A,B";

  private final MadeEvidence made = new MadeEvidence();

  /** Two steps, one claim, no fault. */
  private MadeEvidence good() {
    made.started();
    made.claim(1).does("a", "A").does("b", "B").end(OUTPUT);
    return made.completed("a", 1, "A")
        .completed("b", 1, "B")
        .run("steps", "COMPLETED", 1, OUTPUT)
        .result("COMPLETED", OUTPUT);
  }

  private void assertFound(String rule) {
    assertThat(made.check()).extracting(Findings.Violation::rule).containsExactly(rule);
  }

  @Test
  void a_run_without_faults_is_fine() {
    good();

    assertThat(made.check()).isEmpty();
  }

  @Test
  void a_crash_after_a_step_that_is_not_recorded_lets_it_be_executed_again() {
    made.started();
    made.claim(1).does("a", "lost");
    made.claim(2).does("a", "A").does("b", "B").end(OUTPUT);
    made.completed("a", 2, "A")
        .completed("b", 2, "B")
        .run("steps", "COMPLETED", 2, OUTPUT)
        .result("COMPLETED", OUTPUT);

    assertThat(made.check()).isEmpty();
  }

  @Test
  void a_worker_that_has_lost_its_claim_may_execute_what_a_later_one_has_recorded() {
    made.started();
    MadeEvidence.Execution paused = made.claim(1);
    made.claim(2).does("a", "A").does("b", "B").end(OUTPUT);
    paused.does("a", "late");
    made.completed("a", 2, "A")
        .completed("b", 2, "B")
        .run("steps", "COMPLETED", 2, OUTPUT)
        .result("COMPLETED", OUTPUT);

    assertThat(made.check()).isEmpty();
  }

  @Test
  void an_acknowledged_start_that_is_not_in_the_tables_is_found() {
    made.started();

    assertFound("every start ends");
  }

  @Test
  void a_run_that_never_ends_is_found() {
    made.started();
    made.run("steps", "SLEEPING", 0, "");

    assertFound("every start ends");
  }

  @Test
  void an_unacknowledged_run_that_never_ends_is_found() {
    made.run("steps", "PENDING", 0, "");

    assertFound("every start ends");
  }

  @Test
  void a_start_that_made_two_runs_is_found() {
    good();
    made.claim(1, "second-run");
    made.alsoRun(new MadeRun("run-2", "steps", "CANCELLED", 0, ""));

    assertThat(made.check())
        .extracting(Findings.Violation::rule)
        .contains(Checker.ONE_RUN_PER_START);
  }

  @Test
  void an_end_that_the_scenario_does_not_have_is_found() {
    made.started();
    made.run("steps", "FAILED", 1, "").result("FAILED", "");

    assertFound("the end fits the scenario");
  }

  @Test
  void an_output_that_no_code_returned_is_found() {
    good();
    made.again(run -> run.output = "other");
    made.result("COMPLETED", "other");

    assertThat(made.check())
        .extracting(Findings.Violation::rule)
        .contains("the output is what the code returned");
  }

  @Test
  void code_without_effects_leaves_no_trace_but_its_output() {
    String output = MadeEvidence.INPUT + " ";
    made.started();
    made.run("no-effect", "COMPLETED", 1, output).result("COMPLETED", output);

    assertThat(made.check()).isEmpty();
    made.again(run -> run.output = "other");
    assertThat(made.check())
        .extracting(Findings.Violation::rule)
        .contains("the output is what the code returned");
  }

  @Test
  void an_output_of_a_claim_that_was_lost_is_found() {
    good();
    made.again(
        run -> {
          run.epoch = 2;
          run.endedEpoch = 2;
        });

    assertFound("the output is what the code returned");
  }

  @Test
  void two_results_of_one_step_are_found() {
    good();
    made.claim(1, "again").exec("b", 2, "B2");
    made.completed("b", 2, 1, "B2");

    assertThat(made.check()).extracting(Findings.Violation::rule).contains("one result per step");
  }

  @Test
  void an_attempt_that_is_missing_is_found() {
    made.started();
    made.claim(1).exec("a", 3, "A").seen("a", "A").end(MadeEvidence.INPUT + " A");
    made.completed("a", 3, 1, "A")
        .run("steps", "COMPLETED", 1, MadeEvidence.INPUT + " A")
        .result("COMPLETED", MadeEvidence.INPUT + " A");

    assertFound("one result per step");
  }

  @Test
  void a_recorded_step_that_nobody_executed_is_found() {
    good();
    made.completed("c", 1, "C");

    assertFound("what is recorded was executed");
  }

  @Test
  void a_result_that_another_claim_executed_is_found() {
    made.started();
    made.claim(1).exec("a", 1, "stale");
    made.claim(2).exec("a", 1, "A");
    made.completed("a", 2, "stale").run("cancel", "CANCELLED", 2, "").cancelAnswered("true");
    made.result("CANCELLED", "");

    assertFound("what is recorded was executed");
  }

  @Test
  void a_result_that_a_lost_claim_wrote_after_the_next_had_begun_is_found() {
    made.started();
    made.claim(1).exec("a", 1, "late");
    made.claim(2);
    made.completed("a", 1, "late").run("cancel", "CANCELLED", 2, "").cancelAnswered("true");
    made.result("CANCELLED", "");

    assertFound("a lost claim writes nothing");
  }

  @Test
  void a_sleep_outside_any_branch_that_a_lost_claim_ends_is_found() {
    made.started();
    made.claim(1).sleep("s", 1_000);
    made.claim(2);
    made.slept("s", 1, 3_000_000)
        .timePasses(3_000_000)
        .run("cancel", "CANCELLED", 2, "")
        .cancelAnswered("true");
    made.result("CANCELLED", "");

    assertFound("a lost claim writes nothing");
  }

  @Test
  void an_end_by_a_claim_that_was_not_the_last_is_found() {
    good();
    made.again(run -> run.epoch = 2);

    assertFound("the end fits the scenario");
  }

  @Test
  void a_claim_that_is_executed_twice_is_found() {
    good();
    made.claim(1, "second");

    assertFound("one execution per claim");
  }

  @Test
  void a_claim_after_the_last_one_is_found() {
    good();
    made.claim(2);

    assertFound("one execution per claim");
  }

  @Test
  void a_step_that_a_later_claim_executes_again_is_found() {
    made.started();
    made.claim(1).does("a", "A").exec("b", 1, "lost");
    made.claim(2).does("a", "again").does("b", "B").end(OUTPUT);
    made.completed("a", 1, "A")
        .completed("b", 2, "B")
        .run("steps", "COMPLETED", 2, OUTPUT)
        .result("COMPLETED", OUTPUT);

    assertThat(made.check())
        .extracting(Findings.Violation::rule)
        .contains("no step again after its result");
  }

  @Test
  void an_attempt_that_a_later_claim_makes_again_is_found() {
    made.started();
    made.claim(1).exec("a", 1, "broke").exec("a", 2, "lost");
    made.claim(2).exec("a", 1, "A").seen("a", "A").end(MadeEvidence.INPUT + " A");
    made.failed("a", 1, 1, false, "broke");
    made.completed("a", 2, 2, "A")
        .run("steps", "COMPLETED", 2, MadeEvidence.INPUT + " A")
        .result("COMPLETED", MadeEvidence.INPUT + " A");

    assertThat(made.check())
        .extracting(Findings.Violation::rule)
        .contains("no step again after its result");
  }

  @Test
  void a_step_that_is_executed_after_its_own_result_was_seen_is_found() {
    good();
    made.claim(0, "unsure").does("a", "A2").exec("a", 0, "A3");

    assertThat(made.check())
        .extracting(Findings.Violation::rule)
        .contains("no step again after its result");
  }

  @Test
  void a_step_that_began_before_the_last_result_was_recorded_is_found() {
    made.started();
    made.claim(1).does("a", "unrecorded").exec("b", 1, "lost");
    made.run("cancel", "CANCELLED", 1, "").cancelAnswered("true").result("CANCELLED", "");

    assertFound("durable before the next step");
  }

  @Test
  void a_sleep_that_was_over_without_a_record_is_found() {
    made.started();
    made.claim(1).sleep("nap", 10).woke("nap", 10).exec("b", 1, "lost");
    made.run("cancel", "CANCELLED", 1, "").cancelAnswered("true").result("CANCELLED", "");

    assertFound("durable before the next step");
  }

  @Test
  void a_replay_that_sees_another_value_than_the_recorded_one_is_found() {
    good();
    made.claim(0, "replay").seen("a", "other");

    assertFound("replays see what is recorded");
  }

  @Test
  void a_caught_failure_that_is_not_the_recorded_one_is_found() {
    made.started();
    made.claim(1).exec("a", 1, "broke").caught("a", "other");
    made.failed("a", 1, 1, true, "broke")
        .run("cancel", "CANCELLED", 1, "")
        .cancelAnswered("true")
        .result("CANCELLED", "");

    assertFound("a caught failure is recorded");
  }

  @Test
  void compensation_that_is_recorded_is_fine() {
    String output = MadeEvidence.INPUT + " broke,undone";
    made.started();
    made.claim(1).exec("a", 1, "broke").caught("a", "broke").does("undo", "undone").end(output);
    made.failed("a", 1, 1, true, "broke")
        .completed("undo", 1, "undone")
        .run("compensation", "COMPLETED", 1, output)
        .result("COMPLETED", output);

    assertThat(made.check()).isEmpty();
  }

  @Test
  void a_failure_without_compensation_is_found() {
    String output = MadeEvidence.INPUT + " broke";
    made.started();
    made.claim(1).exec("a", 1, "broke").caught("a", "broke").end(output);
    made.failed("a", 1, 1, true, "broke")
        .run("compensation", "COMPLETED", 1, output)
        .result("COMPLETED", output);

    assertFound("compensation follows its failure");
  }

  @Test
  void compensation_that_is_recorded_before_its_failure_is_found() {
    String output = MadeEvidence.INPUT + " broke,undone";
    made.started();
    made.claim(1).exec("a", 1, "broke").caught("a", "broke").does("undo", "undone").end(output);
    made.completed("undo", 1, "undone")
        .failed("a", 1, 1, true, "broke")
        .run("compensation", "COMPLETED", 1, output)
        .result("COMPLETED", output);

    assertFound("compensation follows its failure");
  }

  @Test
  void a_sleep_that_is_long_enough_is_fine() {
    sleeps(2_000, 2_000_000);

    assertThat(made.check()).isEmpty();
  }

  @Test
  void a_sleep_that_is_short_by_the_databases_clock_is_found() {
    sleeps(2_000, 1_900_000);

    assertFound("no sleep is short");
  }

  @Test
  void a_sleep_that_is_short_by_the_ledgers_clock_is_found() {
    sleeps(4_000, 4_000_000);

    assertThat(made.check()).extracting(Findings.Violation::rule).containsOnly("no sleep is short");
  }

  /** In the ledger, two seconds pass between the request and the wake-up. */
  private void sleeps(long askedMillis, long tableMicros) {
    String output = MadeEvidence.INPUT + " ";
    made.started();
    MadeEvidence.Execution sleeper = made.claim(1).sleep("nap", askedMillis);
    made.slept("nap", 1, tableMicros).timePasses(1_000_000);
    sleeper.woke("nap", askedMillis).end(output);
    made.run("short-sleep", "COMPLETED", 1, output).result("COMPLETED", output);
  }

  @Test
  void a_result_that_is_not_in_the_tables_is_found() {
    good();
    made.result("COMPLETED", "other");

    assertFound("the client was told the truth");
  }

  @Test
  void an_end_that_nobody_was_told_of_is_found() {
    made.started();
    made.claim(1).does("a", "A").does("b", "B").end(OUTPUT);
    made.completed("a", 1, "A").completed("b", 1, "B").run("steps", "COMPLETED", 1, OUTPUT);

    assertFound("the client was told the truth");
  }

  @Test
  void an_acknowledged_cancel_of_a_run_that_completes_is_found() {
    good();
    made.cancelAnswered("true");

    assertFound("cancelled is cancelled");
  }

  @Test
  void a_step_that_is_recorded_after_the_cancel_is_found() {
    made.started();
    made.claim(1).exec("a", 1, "A");
    made.run("cancel", "CANCELLED", 1, "")
        .timePasses(4_000_000)
        .completed("a", 1, "A")
        .cancelAnswered("true")
        .result("CANCELLED", "");

    assertFound("ended is ended");
  }

  /**
   * The step has the time when its transaction began, and the cancel may have waited for its lock.
   */
  @Test
  void a_step_whose_transaction_began_while_the_cancel_waited_is_no_problem() {
    made.started();
    made.claim(1).exec("a", 1, "A");
    made.run("cancel", "CANCELLED", 1, "")
        .timePasses(1_000_000)
        .completed("a", 1, "A")
        .cancelAnswered("true")
        .result("CANCELLED", "");

    assertThat(made.check()).isEmpty();
  }

  @Test
  void what_a_cancel_closed_needs_no_execution() {
    made.started();
    made.claim(1).exec("a", 1, "interrupted");
    made.failed("a", 1, 1, Cause.RUN_ENDED).timePasses(-1_000_000);
    made.run("cancel", "CANCELLED", 1, "").cancelAnswered("true").result("CANCELLED", "");

    assertThat(made.check()).isEmpty();
  }

  @Test
  void lines_of_a_ledger_survive_being_written_and_read() {
    good();
    List<LedgerEntry> entries = made.entries();

    assertThat(entries.stream().map(LedgerEntry::line).map(LedgerEntry::parse)).isEqualTo(entries);
  }
}
