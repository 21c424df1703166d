package dev.kagzi.torture;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.torture.StepRecord.Cause;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Plants each violation of the rules for cancels with clean-up once. */
class CleanUpRulesTest {
  private static final String A = "saga[undo-a]/undo-a";
  private static final String B = "saga[undo-b]/undo-b";

  private final EvidenceBuilder evidence = new EvidenceBuilder();

  private void assertFound(String rule) {
    assertThat(evidence.check()).extracting(Findings.Violation::rule).containsExactly(rule);
  }

  private EvidenceBuilder.Execution twoSteps() {
    evidence.started();
    EvidenceBuilder.Execution code = evidence.claim(1);
    code.executes("a", "A").due(A, "a").executes("b", "B").due(B, "b");
    evidence.completed("a", 1, "A").completed("b", 1, "B");
    evidence.cancelAnswered("true");
    return code;
  }

  private void undo(EvidenceBuilder.Execution code, int epoch, List<String> undos) {
    for (String undo : undos) {
      code.executes(undo, "did " + undo);
      evidence.completed(undo, epoch, "did " + undo);
    }
  }

  private void ends(String status) {
    evidence.run("clean-up", status, 1, "").result(status, "");
  }

  @Test
  void a_cancelled_run_that_undoes_everything_has_no_violation() {
    EvidenceBuilder.Execution code = twoSteps().stopped();
    evidence.failed("c", 1, 1, Cause.CANCELLED);
    undo(code, 1, List.of(B, A));
    code.cleaned();
    ends("CANCELLED");

    assertThat(evidence.check()).isEmpty();
  }

  @Test
  void a_run_that_was_cancelled_before_its_first_claim_has_no_violation() {
    evidence.started().cancelAnswered("true");
    evidence.run("clean-up", "CANCELLED", 0, "").result("CANCELLED", "");

    assertThat(evidence.check()).isEmpty();
  }

  @Test
  void a_missing_clean_up_is_found() {
    twoSteps();
    ends("CANCELLED");

    assertFound("a cancelled run has cleaned up");
  }

  @Test
  void a_missing_undo_is_found() {
    EvidenceBuilder.Execution code = twoSteps().stopped();
    undo(code, 1, List.of(B));
    code.cleaned();
    ends("CANCELLED");

    assertFound("each due undo is recorded once");
  }

  @Test
  void undos_in_the_order_of_registration_are_found() {
    EvidenceBuilder.Execution code = twoSteps().stopped();
    undo(code, 1, List.of(A, B));
    code.cleaned();
    ends("CANCELLED");

    assertFound("undos are in reverse order");
  }

  @Test
  void a_step_after_the_cancel_is_found() {
    EvidenceBuilder.Execution code = twoSteps().stopped();
    code.executes("c", "C");
    evidence.completed("c", 1, "C");
    undo(code, 1, List.of(B, A));
    code.cleaned();
    ends("CANCELLED");

    assertFound("only undos run after a cancel");
  }

  @Test
  void a_step_of_a_later_claim_after_the_cancel_is_found() {
    twoSteps().stopped();
    EvidenceBuilder.Execution next = evidence.claim(2);
    next.seen("a", "A").due(A, "a").seen("b", "B").due(B, "b").executes("c", "C");
    evidence.completed("c", 2, "C");
    next.stopped();
    undo(next, 2, List.of(B, A));
    next.cleaned();
    evidence.run("clean-up", "CANCELLED", 2, "").result("CANCELLED", "");

    assertFound("only undos run after a cancel");
  }

  @Test
  void a_run_that_completes_although_it_was_cancelled_is_found() {
    EvidenceBuilder.Execution code = twoSteps();
    String output = EvidenceBuilder.INPUT + " A,B";
    code.end(output);
    evidence.run("clean-up", "COMPLETED", 1, output).result("COMPLETED", output);

    assertFound("cancelled is cancelled");
  }
}
