package dev.kagzi.torture;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Plants each violation of the rules for sagas once. */
class SagaRulesTest {
  private static final String A = "saga[undo-a]/undo-a";
  private static final String B = "saga[undo-b]/undo-b";
  private static final String C = "saga[undo-c]/undo-c";

  private final EvidenceBuilder evidence = new EvidenceBuilder();

  private void assertFound(String rule) {
    assertThat(evidence.check()).extracting(Findings.Violation::rule).containsExactly(rule);
  }

  /** Two steps with undos, and a third that fails; the undos are recorded in this order. */
  private void saga(List<String> undos) {
    evidence.started();
    EvidenceBuilder.Execution code = evidence.claim(1);
    code.executes("a", "A").due(A, "a").executes("b", "B").due(B, "b");
    evidence.completed("a", 1, "A").completed("b", 1, "B");
    code.exec("c", 1, "broke");
    evidence.failed("c", 1, 1, true, "broke");
    code.caught("c", "broke").undoes();
    StringBuilder values = new StringBuilder("A,B,broke");
    for (String undo : undos) {
      String value = "did " + undo;
      code.executes(undo, value);
      evidence.completed(undo, 1, value);
      values.append(',').append(value);
    }
    end(code, EvidenceBuilder.INPUT + " " + values);
  }

  private void end(EvidenceBuilder.Execution code, String output) {
    code.end(output);
    evidence.run("saga", "COMPLETED", 1, output).result("COMPLETED", output);
  }

  @Test
  void a_saga_that_undoes_everything_in_reverse_order_has_no_violation() {
    saga(List.of(B, A));

    assertThat(evidence.check()).isEmpty();
  }

  @Test
  void an_undo_that_is_missing_is_found() {
    saga(List.of(B));

    assertFound("each due undo is recorded once");
  }

  @Test
  void undos_in_the_order_of_registration_are_found() {
    saga(List.of(A, B));

    assertFound("undos are in reverse order");
  }

  @Test
  void an_undo_that_the_code_did_not_register_is_found() {
    saga(List.of(C, B, A));

    assertFound("only registered undos run");
  }

  /** The second branch fails; the first, which was stopped, registers its undo in a replay. */
  private void branches(List<String> undos, boolean isReplayed) {
    evidence.started();
    EvidenceBuilder.Execution live = evidence.claim(1);
    evidence.claim(1, "execution-1/fan[0]/").executes("fan[0]/a", "A").due(A, "fan[0]/a");
    evidence.claim(1, "execution-1/fan[1]/").due(B, "fan[1]/b").exec("fan[1]/b", 1, "broke");
    evidence.completed("fan[0]/a", 1, "A");
    evidence.failed("fan[1]/b", 1, 1, true, "broke").failed("fan", 1, 1, true, "broke");
    live.caught("fan", "broke").undoes();
    EvidenceBuilder.Execution code = evidence.claim(2);
    if (isReplayed) {
      evidence.claim(2, "execution-2/fan[0]/").seen("fan[0]/a", "A").due(A, "fan[0]/a");
    }
    evidence.claim(2, "execution-2/fan[1]/").due(B, "fan[1]/b");
    code.caught("fan", "broke").undoes();
    StringBuilder values = new StringBuilder("broke");
    for (String undo : undos) {
      String value = "did " + undo;
      code.executes(undo, value);
      evidence.completed(undo, 2, value);
      values.append(',').append(value);
    }
    String output = EvidenceBuilder.INPUT + " " + values;
    code.end(output);
    evidence.run("saga", "COMPLETED", 2, output).result("COMPLETED", output);
  }

  @Test
  void undos_of_branches_in_reverse_order_of_their_positions_have_no_violation() {
    branches(List.of(B, A), true);

    assertThat(evidence.check()).isEmpty();
  }

  @Test
  void undos_of_branches_in_the_order_of_their_positions_are_found() {
    branches(List.of(A, B), true);

    assertFound("undos are in reverse order");
  }

  @Test
  void a_missing_undo_of_a_stopped_branch_is_found() {
    branches(List.of(B), false);

    assertFound("each due undo is recorded once");
  }
}
