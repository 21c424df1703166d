package dev.kagzi.torture;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Plants each violation of the rules for signals once. */
class SignalRulesTest {
  private static final String ONE = SignalRules.value(EvidenceBuilder.INPUT, 1);
  private static final String TWO = SignalRules.value(EvidenceBuilder.INPUT, 2);

  private final EvidenceBuilder evidence = new EvidenceBuilder();

  private void assertFound(String rule) {
    assertThat(evidence.check()).extracting(Findings.Violation::rule).containsExactly(rule);
  }

  private void ends(String first, String second) {
    String output = EvidenceBuilder.INPUT + " " + first + "," + second;
    evidence.claim(1).received(first).received(second).end(output);
    evidence.run("signals", "COMPLETED", 1, output).result("COMPLETED", output);
  }

  @Test
  void signals_that_are_received_once_and_in_order_are_no_violation() {
    evidence.started().sent(ONE, "signal").acknowledged(ONE).sent(TWO, "signal#2");
    evidence.received("signal", 1, ONE).received("signal#2", 1, TWO);
    ends(ONE, TWO);

    assertThat(evidence.check()).isEmpty();
  }

  @Test
  void a_lost_signal_is_found() {
    evidence.started().sent(ONE, "signal").acknowledged(TWO);
    evidence.received("signal", 1, ONE);
    ends(ONE, "none");

    assertFound("a signal is stored once");
  }

  @Test
  void a_signal_that_two_steps_received_is_found() {
    evidence.started().sent(ONE, "signal");
    evidence.received("signal", 1, ONE).received("signal#2", 1, ONE);
    ends(ONE, ONE);

    assertFound("signals are received in order");
  }

  @Test
  void a_step_with_another_value_than_its_signal_is_found() {
    evidence.started().sent(ONE, "signal").sent(TWO, "signal#2");
    evidence.received("signal", 1, ONE).received("signal#2", 1, "other");
    ends(ONE, TWO);

    assertFound("a step receives one signal");
  }

  @Test
  void signals_in_another_order_are_found() {
    evidence.started().sent(ONE, "signal#2").sent(TWO, "signal");
    evidence.received("signal", 1, TWO).received("signal#2", 1, ONE);
    ends(TWO, ONE);

    assertFound("signals are received in order");
  }
}
