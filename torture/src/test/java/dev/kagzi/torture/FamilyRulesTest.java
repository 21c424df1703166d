package dev.kagzi.torture;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.torture.EvidenceBuilder.RunBuilder;
import dev.kagzi.torture.StepRecord.Cause;
import org.junit.jupiter.api.Test;

/** Plants each violation of the rules for children, branches and versions once. */
class FamilyRulesTest {
  private static final String OUTPUT = EvidenceBuilder.INPUT + " C";
  private static final String CHILD = "run-2";

  private final EvidenceBuilder evidence = new EvidenceBuilder();

  private void assertFound(String rule) {
    assertThat(evidence.check()).extracting(Findings.Violation::rule).containsExactly(rule);
  }

  private RunBuilder child(String status, String output) {
    RunBuilder child = new RunBuilder(CHILD, "child", status, 1, output);
    child.input = "input-2";
    child.parentRunId = EvidenceBuilder.RUN;
    child.parentStep = "c";
    return child;
  }

  /** A correct parent with one child. */
  private void good(RunBuilder child) {
    evidence.started();
    evidence.claim(CHILD, 1, "execution-child").end(child.output);
    evidence.claim(1).seen("c", "C").end(OUTPUT);
    evidence
        .child("c", 1, CHILD, "C")
        .run("children", "COMPLETED", 1, OUTPUT)
        .result("COMPLETED", OUTPUT)
        .addRun(child);
  }

  private RunBuilder goodChild() {
    return child("COMPLETED", "C");
  }

  @Test
  void a_correct_family_has_no_violation() {
    family();

    assertThat(evidence.check()).isEmpty();
  }

  private void family() {
    RunBuilder child = goodChild();
    child.output = "input-2 ";
    evidence.started();
    evidence.claim(CHILD, 1, "execution-child").end("input-2 ");
    evidence.claim(1).seen("c", "input-2 ").end(EvidenceBuilder.INPUT + " input-2 ");
    evidence
        .child("c", 1, CHILD, "input-2 ")
        .run("children", "COMPLETED", 1, EvidenceBuilder.INPUT + " input-2 ")
        .result("COMPLETED", EvidenceBuilder.INPUT + " input-2 ")
        .addRun(child);
  }

  @Test
  void a_second_child_of_one_step_is_found() {
    family();
    RunBuilder second = new RunBuilder("run-3", "child", "COMPLETED", 1, "input-3 ");
    second.input = "input-3";
    second.parentRunId = EvidenceBuilder.RUN;
    second.parentStep = "c";
    evidence.claim("run-3", 1, "execution-3").end("input-3 ");
    evidence.addRun(second);

    assertFound("each child is a step");
  }

  @Test
  void a_step_without_its_child_is_found() {
    evidence.started();
    evidence.claim(1).seen("c", "C").end(OUTPUT);
    evidence
        .child("c", 1, "run-9", "C")
        .run("children", "COMPLETED", 1, OUTPUT)
        .result("COMPLETED", OUTPUT);

    assertFound("each child is a step");
  }

  @Test
  void a_recorded_result_that_the_child_did_not_return_is_found() {
    RunBuilder child = child("COMPLETED", "input-2 ");
    good(child);

    assertFound("parents record the result of the child");
  }

  @Test
  void a_child_that_ends_without_a_reason_is_found() {
    family();
    RunBuilder other = child("CANCELLED", "");
    evidence.addRun(copy(other, "run-3"));
    evidence.child("d", 1, "run-3", "x");

    assertThat(evidence.check())
        .extracting(Findings.Violation::rule)
        .contains("children end with their parents");
  }

  /** The child has continued as run-3, which ends as given. */
  private void childChain(String status, String output, String recorded) {
    evidence.started();
    evidence.claim(CHILD, 1, "execution-2").continues("input-2~2");
    RunBuilder first = child("COMPLETED", "");
    first.continuedTo = "run-3";
    evidence.addRun(first);
    evidence.claim("run-3", 1, "execution-3").end(output);
    RunBuilder last = new RunBuilder("run-3", "child", status, 1, output);
    last.input = "input-2~2";
    last.parentRunId = EvidenceBuilder.RUN;
    last.parentStep = "c";
    last.continuedFrom = CHILD;
    last.firstRun = CHILD;
    evidence.claim(1).seen("c", recorded).end(EvidenceBuilder.INPUT + " " + recorded);
    evidence
        .child("c", 1, CHILD, recorded)
        .run("children", "COMPLETED", 1, EvidenceBuilder.INPUT + " " + recorded)
        .result("COMPLETED", EvidenceBuilder.INPUT + " " + recorded)
        .addRun(last);
  }

  @Test
  void a_child_that_continued_has_the_result_of_its_chain() {
    childChain("COMPLETED", "input-2~2 ", "input-2~2 ");

    assertThat(evidence.check()).isEmpty();
  }

  @Test
  void a_recorded_result_of_another_run_of_the_chain_is_found() {
    childChain("COMPLETED", "input-2~2 ", "input-2 ");

    assertFound("parents record the result of the child");
  }

  /** The cancel of the parent was lost when the child continued as new. */
  @Test
  void a_successor_of_a_child_that_outlives_its_cancelled_parent_is_found() {
    evidence.started().cancelAnswered("true");
    evidence.claim(CHILD, 1, "execution-2").continues("input-2~2");
    evidence.claim(1).exec("other", 1, "lost");
    evidence.child("c", 1, CHILD, "").run("cancel-family", "CANCELLED", 1, "");
    evidence.result("CANCELLED", "");
    RunBuilder first = child("COMPLETED", "");
    first.continuedTo = "run-3";
    evidence.addRun(first).timePasses(60_000_000);
    RunBuilder last = new RunBuilder("run-3", "child", "COMPLETED", 1, "input-2~2 ");
    last.input = "input-2~2";
    last.parentRunId = EvidenceBuilder.RUN;
    last.parentStep = "c";
    last.continuedFrom = CHILD;
    last.firstRun = CHILD;
    evidence.claim("run-3", 1, "execution-3").end("input-2~2 ");
    last.finishedMicros = evidence.nowMicros();
    evidence.addRun(last);

    assertThat(evidence.check())
        .extracting(Findings.Violation::rule)
        .contains("children end with their parents");
  }

  private static RunBuilder copy(RunBuilder run, String id) {
    RunBuilder copy = new RunBuilder(id, run.type, run.status, run.epoch, run.output);
    copy.input = id;
    copy.parentRunId = run.parentRunId;
    copy.parentStep = "d";
    return copy;
  }

  @Test
  void a_loser_that_runs_again_is_found() {
    evidence.started();
    evidence.claim(1, "execution-1/race[b1]/").exec("race[b1]/run", 1, "W");
    evidence.completed("race[b1]/run", 1, "W").completed("race", 1, "b1");
    evidence.claim(1).won("race", "b1").exec("after", 1, "lost");
    evidence.claim(2, "execution-2/race[b0]/").exec("race[b0]/run", 1, "again");
    evidence.claim(2).won("race", "b1").executes("after", "A").end(EvidenceBuilder.INPUT + " b1,A");
    evidence
        .completed("after", 2, "A")
        .run("race", "COMPLETED", 2, EvidenceBuilder.INPUT + " b1,A")
        .result("COMPLETED", EvidenceBuilder.INPUT + " b1,A");

    assertFound("losers of a race do not run again");
  }

  /** The winner is recorded, then the worker crashes, and the next claim completes the run. */
  private void raceAcrossClaims() {
    evidence.started();
    evidence.claim(1, "execution-1/race[b1]/").exec("race[b1]/run", 1, "W");
    evidence.completed("race[b1]/run", 1, "W").completed("race", 1, "b1");
    evidence.claim(2).won("race", "b1").executes("after", "A").end(EvidenceBuilder.INPUT + " b1,A");
    evidence.completed("after", 2, "A");
  }

  private void raceEnds() {
    evidence
        .run("race", "COMPLETED", 2, EvidenceBuilder.INPUT + " b1,A")
        .result("COMPLETED", EvidenceBuilder.INPUT + " b1,A");
  }

  @Test
  void the_end_closes_open_steps_of_losers() {
    raceAcrossClaims();
    evidence.failed("race[b0]/run", 1, 1, Cause.RUN_ENDED).timePasses(-1_000_000);
    raceEnds();

    assertThat(evidence.check()).isEmpty();
  }

  @Test
  void a_losers_step_that_a_lost_claim_closes_before_the_end_is_found() {
    raceAcrossClaims();
    evidence.failed("race[b0]/run", 1, 1, Cause.RUN_ENDED);
    raceEnds();

    assertThat(evidence.check())
        .extracting(Findings.Violation::rule)
        .contains("a lost claim writes nothing");
  }

  @Test
  void a_losers_result_that_a_lost_claim_writes_is_found() {
    raceAcrossClaims();
    evidence.completed("race[b0]/run", 1, "late");
    raceEnds();

    assertThat(evidence.check())
        .extracting(Findings.Violation::rule)
        .contains("a lost claim writes nothing");
  }

  @Test
  void a_losers_sleep_may_be_over_after_its_claim_was_lost() {
    raceAcrossClaims();
    evidence.slept("race[b0]/sleep", 1, 1_000_000);
    evidence.timePasses(1_000_000);
    raceEnds();

    assertThat(evidence.check()).isEmpty();
  }

  @Test
  void a_winner_that_is_not_the_recorded_one_is_found() {
    evidence.started();
    evidence.claim(1, "execution-1/race[b1]/").exec("race[b1]/run", 1, "W");
    evidence.claim(1).won("race", "b0").executes("after", "A").end(EvidenceBuilder.INPUT + " b0,A");
    evidence
        .completed("race", 1, "b1")
        .completed("race[b1]/run", 1, "W")
        .completed("after", 1, "A")
        .run("race", "COMPLETED", 1, EvidenceBuilder.INPUT + " b0,A")
        .result("COMPLETED", EvidenceBuilder.INPUT + " b0,A");

    assertFound("durable before the next step");
  }

  @Test
  void a_run_that_changes_its_version_is_found() {
    evidence.started();
    evidence.claim(1).ofVersion("1").executes("a", "A").end(EvidenceBuilder.INPUT + " A");
    evidence
        .completed("a", 1, "A")
        .run("versions", "COMPLETED", 1, EvidenceBuilder.INPUT + " A")
        .changeRun(run -> run.version = "2")
        .result("COMPLETED", EvidenceBuilder.INPUT + " A");

    assertFound("a run keeps its version");
  }
}
