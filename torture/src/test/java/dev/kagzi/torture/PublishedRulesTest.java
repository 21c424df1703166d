package dev.kagzi.torture;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Plants each violation of the rules for published values once. */
class PublishedRulesTest {
  private static final String ONE = PublishedRules.value(1, "made-1");
  private static final String TWO = PublishedRules.value(2, "made-2");

  private final EvidenceBuilder evidence = new EvidenceBuilder();

  private void publishesAndEnds() {
    String output = EvidenceBuilder.INPUT + " made-1,made-2";
    evidence.started();
    evidence.completed("work-1", 1, "made-1").completed("work-2", 1, "made-2");
    evidence
        .claim(1)
        .executes("work-1", "made-1")
        .published(ONE)
        .executes("work-2", "made-2")
        .published(TWO)
        .end(output);
    evidence.run("publishing", "COMPLETED", 1, output).result("COMPLETED", output);
  }

  private void assertFound(String rule) {
    assertThat(evidence.check()).extracting(Findings.Violation::rule).containsExactly(rule);
  }

  @Test
  void a_stored_last_value_and_numbers_in_order_are_no_violation() {
    publishesAndEnds();
    evidence.stored(TWO).watched(ONE).watched(TWO);

    assertThat(evidence.check()).isEmpty();
  }

  @Test
  void a_lost_last_value_is_found() {
    publishesAndEnds();
    evidence.stored(ONE);

    assertFound("the last published value is stored");
  }

  @Test
  void a_value_of_a_step_that_was_repeated_with_another_result_is_found() {
    publishesAndEnds();
    evidence.stored(PublishedRules.value(2, "made-3"));

    assertFound("the last published value is stored");
  }

  @Test
  void a_value_that_goes_back_is_found() {
    publishesAndEnds();
    evidence.stored(TWO).watched(TWO).watched(ONE).watched(TWO);

    assertFound("a published value never goes back");
  }

  @Test
  void a_reader_who_does_not_see_the_last_value_is_found() {
    publishesAndEnds();
    evidence.stored(TWO).watched(ONE);

    assertFound("a published value never goes back");
  }
}
