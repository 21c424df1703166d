package dev.kagzi.torture;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Plants each violation of the rules for callbacks once. */
class CallbackRulesTest {
  private static final String FIRST = CallbackRules.MARK + "a";
  private static final String SECOND = CallbackRules.MARK + "b";

  private final EvidenceBuilder evidence = new EvidenceBuilder();

  private void assertFound(String rule) {
    assertThat(evidence.check()).extracting(Findings.Violation::rule).containsExactly(rule);
  }

  private void ends(String value) {
    String output = EvidenceBuilder.INPUT + " " + value;
    evidence.claim(1).calledBack("pay", value).end(output);
    evidence.run("callbacks", "COMPLETED", 1, output).result("COMPLETED", output);
  }

  @Test
  void an_answer_that_all_waits_receive_is_no_violation() {
    evidence.started().answered("pay", FIRST).acknowledgedAnswer("pay", FIRST);
    evidence.received("await:pay", 1, FIRST).received("await:pay#2", 1, FIRST);
    ends(FIRST);

    assertThat(evidence.check()).isEmpty();
  }

  @Test
  void a_lost_answer_is_found() {
    evidence.started().acknowledgedAnswer("pay", FIRST);
    evidence.received("await:pay", 1, FIRST);
    ends(FIRST);

    assertFound("a callback is answered once");
  }

  @Test
  void two_answers_of_one_callback_are_found() {
    evidence.started().answered("pay", FIRST).answered("pay", FIRST);
    evidence.received("await:pay", 1, FIRST);
    ends(FIRST);

    assertFound("a callback is answered once");
  }

  @Test
  void a_wait_that_received_another_answer_is_found() {
    evidence.started().answered("pay", FIRST).acknowledgedAnswer("pay", FIRST);
    evidence.received("await:pay", 1, FIRST).received("await:pay#2", 1, SECOND);
    ends(FIRST);

    assertFound("every wait receives the answer");
  }

  @Test
  void code_that_received_another_answer_is_found() {
    evidence.started().answered("pay", FIRST).acknowledgedAnswer("pay", FIRST);
    evidence.received("await:pay", 1, FIRST);
    ends(SECOND);

    assertFound("every wait receives the answer");
  }
}
