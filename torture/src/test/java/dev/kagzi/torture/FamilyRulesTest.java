package dev.kagzi.torture;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.torture.MadeEvidence.MadeRun;
import dev.kagzi.torture.StepRecord.Cause;
import org.junit.jupiter.api.Test;

/** Plants each violation of the rules for children, branches and versions once. */
class FamilyRulesTest {
  private static final String OUTPUT = MadeEvidence.INPUT + " C";
  private static final String CHILD = "run-2";

  private final MadeEvidence made = new MadeEvidence();

  private void assertFound(String rule) {
    assertThat(made.check()).extracting(Findings.Violation::rule).containsExactly(rule);
  }

  private MadeRun child(String status, String output) {
    MadeRun child = new MadeRun(CHILD, "child", status, 1, output);
    child.input = "input-2";
    child.parentRunId = MadeEvidence.RUN;
    child.parentStep = "c";
    return child;
  }

  /** A correct parent with one child. */
  private void good(MadeRun child) {
    made.started();
    made.claim(CHILD, 1, "execution-child").end(child.output);
    made.claim(1).seen("c", "C").end(OUTPUT);
    made.child("c", 1, CHILD, "C")
        .run("children", "COMPLETED", 1, OUTPUT)
        .result("COMPLETED", OUTPUT)
        .alsoRun(child);
  }

  private MadeRun goodChild() {
    return child("COMPLETED", "C");
  }

  @Test
  void a_correct_family_has_no_violation() {
    family();

    assertThat(made.check()).isEmpty();
  }

  private void family() {
    MadeRun child = goodChild();
    child.output = "input-2 ";
    made.started();
    made.claim(CHILD, 1, "execution-child").end("input-2 ");
    made.claim(1).seen("c", "input-2 ").end(MadeEvidence.INPUT + " input-2 ");
    made.child("c", 1, CHILD, "input-2 ")
        .run("children", "COMPLETED", 1, MadeEvidence.INPUT + " input-2 ")
        .result("COMPLETED", MadeEvidence.INPUT + " input-2 ")
        .alsoRun(child);
  }

  @Test
  void a_second_child_of_one_step_is_found() {
    family();
    MadeRun second = new MadeRun("run-3", "child", "COMPLETED", 1, "input-3 ");
    second.input = "input-3";
    second.parentRunId = MadeEvidence.RUN;
    second.parentStep = "c";
    made.claim("run-3", 1, "execution-3").end("input-3 ");
    made.alsoRun(second);

    assertFound("each child is a step");
  }

  @Test
  void a_step_without_its_child_is_found() {
    made.started();
    made.claim(1).seen("c", "C").end(OUTPUT);
    made.child("c", 1, "run-9", "C")
        .run("children", "COMPLETED", 1, OUTPUT)
        .result("COMPLETED", OUTPUT);

    assertFound("each child is a step");
  }

  @Test
  void a_recorded_result_that_the_child_did_not_return_is_found() {
    MadeRun child = child("COMPLETED", "input-2 ");
    good(child);

    assertFound("parents hear the truth");
  }

  @Test
  void a_child_that_ends_without_a_reason_is_found() {
    family();
    MadeRun other = child("CANCELLED", "");
    made.alsoRun(copy(other, "run-3"));
    made.child("d", 1, "run-3", "x");

    assertThat(made.check())
        .extracting(Findings.Violation::rule)
        .contains("children end with their parents");
  }

  private static MadeRun copy(MadeRun run, String id) {
    MadeRun copy = new MadeRun(id, run.type, run.status, run.epoch, run.output);
    copy.input = id;
    copy.parentRunId = run.parentRunId;
    copy.parentStep = "d";
    return copy;
  }

  @Test
  void a_loser_that_runs_again_is_found() {
    made.started();
    made.claim(1, "execution-1/race[b1]/").exec("race[b1]/run", 1, "W");
    made.completed("race[b1]/run", 1, "W").completed("race", 1, "b1");
    made.claim(1).won("race", "b1").exec("after", 1, "lost");
    made.claim(2, "execution-2/race[b0]/").exec("race[b0]/run", 1, "again");
    made.claim(2).won("race", "b1").does("after", "A").end(MadeEvidence.INPUT + " b1,A");
    made.completed("after", 2, "A")
        .run("race", "COMPLETED", 2, MadeEvidence.INPUT + " b1,A")
        .result("COMPLETED", MadeEvidence.INPUT + " b1,A");

    assertFound("losers stay out");
  }

  /** The winner is recorded, then the worker crashes, and the next claim completes the run. */
  private void raceAcrossClaims() {
    made.started();
    made.claim(1, "execution-1/race[b1]/").exec("race[b1]/run", 1, "W");
    made.completed("race[b1]/run", 1, "W").completed("race", 1, "b1");
    made.claim(2).won("race", "b1").does("after", "A").end(MadeEvidence.INPUT + " b1,A");
    made.completed("after", 2, "A");
  }

  private void raceEnds() {
    made.run("race", "COMPLETED", 2, MadeEvidence.INPUT + " b1,A")
        .result("COMPLETED", MadeEvidence.INPUT + " b1,A");
  }

  @Test
  void what_a_loser_left_open_is_closed_by_the_end() {
    raceAcrossClaims();
    made.failed("race[b0]/run", 1, 1, Cause.RUN_ENDED).timePasses(-1_000_000);
    raceEnds();

    assertThat(made.check()).isEmpty();
  }

  @Test
  void a_losers_step_that_a_lost_claim_closes_before_the_end_is_found() {
    raceAcrossClaims();
    made.failed("race[b0]/run", 1, 1, Cause.RUN_ENDED);
    raceEnds();

    assertThat(made.check())
        .extracting(Findings.Violation::rule)
        .contains("a lost claim writes nothing");
  }

  @Test
  void a_losers_result_that_a_lost_claim_writes_is_found() {
    raceAcrossClaims();
    made.completed("race[b0]/run", 1, "late");
    raceEnds();

    assertThat(made.check())
        .extracting(Findings.Violation::rule)
        .contains("a lost claim writes nothing");
  }

  @Test
  void a_losers_sleep_may_be_over_after_its_claim_was_lost() {
    raceAcrossClaims();
    made.slept("race[b0]/sleep", 1, 1_000_000);
    made.timePasses(1_000_000);
    raceEnds();

    assertThat(made.check()).isEmpty();
  }

  @Test
  void a_winner_that_is_not_the_recorded_one_is_found() {
    made.started();
    made.claim(1, "execution-1/race[b1]/").exec("race[b1]/run", 1, "W");
    made.claim(1).won("race", "b0").does("after", "A").end(MadeEvidence.INPUT + " b0,A");
    made.completed("race", 1, "b1")
        .completed("race[b1]/run", 1, "W")
        .completed("after", 1, "A")
        .run("race", "COMPLETED", 1, MadeEvidence.INPUT + " b0,A")
        .result("COMPLETED", MadeEvidence.INPUT + " b0,A");

    assertFound("durable before the next step");
  }

  @Test
  void a_run_that_changes_its_version_is_found() {
    made.started();
    made.claim(1).ofVersion("1").does("a", "A").end(MadeEvidence.INPUT + " A");
    made.completed("a", 1, "A")
        .run("versions", "COMPLETED", 1, MadeEvidence.INPUT + " A")
        .again(run -> run.version = "2")
        .result("COMPLETED", MadeEvidence.INPUT + " A");

    assertFound("a run keeps its version");
  }
}
