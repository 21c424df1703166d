package dev.kagzi.torture;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.torture.EvidenceBuilder.RunBuilder;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Plants each violation of the rules for chains once. */
class ChainRulesTest {
  private static final String ONE = SignalRules.value(EvidenceBuilder.INPUT, 1);
  private static final String TWO = SignalRules.value(EvidenceBuilder.INPUT, 2);
  private static final String NEXT = ChainInput.of(EvidenceBuilder.INPUT).next(List.of(ONE));
  private static final String SECOND = "run-2";
  private static final String OUTPUT = NEXT + " " + TWO;

  private final EvidenceBuilder evidence = new EvidenceBuilder();

  private void assertFound(String... rules) {
    assertThat(evidence.check())
        .extracting(Findings.Violation::rule)
        .containsExactlyInAnyOrder(rules);
  }

  private void chain(String reported) {
    evidence.claim(1).received(ONE).continues(reported);
    evidence.run("chain", "COMPLETED", 1, "").changeRun(run -> run.continuedTo = SECOND);
    evidence.claim(SECOND, 1, "second").received(TWO).end(OUTPUT);
    evidence.addRun(new RunBuilder(SECOND, "chain", "COMPLETED", 1, OUTPUT));
    evidence.changeRun(
        run -> {
          run.input = NEXT;
          run.continuedFrom = EvidenceBuilder.RUN;
          run.firstRun = EvidenceBuilder.RUN;
        });
  }

  private EvidenceBuilder signals() {
    evidence.started().acknowledged(ONE).acknowledged(TWO).acknowledged(TWO);
    evidence.stored(EvidenceBuilder.RUN, ONE, "signal").received("signal", 1, ONE);
    return evidence.stored(SECOND, TWO, "signal").received(SECOND, "signal", 1, TWO);
  }

  @Test
  void the_input_of_each_run_has_what_earlier_ones_received() {
    ChainInput second = ChainInput.of(NEXT);

    assertThat(second.start()).isEqualTo(EvidenceBuilder.INPUT);
    assertThat(second.link()).isEqualTo(2);
    assertThat(second.next(List.of("made-1", TWO)))
        .isEqualTo(EvidenceBuilder.INPUT + "~3," + ONE + "," + TWO);
  }

  @Test
  void a_whole_chain_is_no_violation() {
    signals();
    chain(NEXT);
    evidence.result("COMPLETED", OUTPUT);

    assertThat(evidence.check()).isEmpty();
  }

  @Test
  void a_lost_successor_is_found() {
    evidence.started().acknowledged(ONE).stored(EvidenceBuilder.RUN, ONE, "signal");
    evidence.received("signal", 1, ONE).claim(1).received(ONE).continues(NEXT);
    evidence.run("chain", "COMPLETED", 1, "").changeRun(run -> run.continuedTo = SECOND);

    assertThat(evidence.check())
        .extracting(Findings.Violation::rule)
        .contains("a chain has no gap and no fork", "every start ends");
  }

  @Test
  void a_second_successor_is_found() {
    signals();
    chain(NEXT);
    evidence.result("COMPLETED", OUTPUT);
    String other = NEXT + ",other";
    evidence.claim("run-3", 1, "third").end(other + " ");
    evidence.addRun(new RunBuilder("run-3", "chain", "COMPLETED", 1, other + " "));
    evidence.changeRun(
        run -> {
          run.input = other;
          run.continuedFrom = EvidenceBuilder.RUN;
          run.firstRun = EvidenceBuilder.RUN;
        });

    assertThat(evidence.check())
        .extracting(Findings.Violation::rule)
        .contains("a chain has no gap and no fork");
  }

  @Test
  void a_successor_of_another_chain_is_found() {
    signals();
    chain(NEXT);
    evidence.changeRun(run -> run.firstRun = "run-9").result("COMPLETED", OUTPUT);

    assertFound("a chain has no gap and no fork");
  }

  @Test
  void an_input_that_was_not_reported_is_found() {
    signals();
    chain("other");
    evidence.result("COMPLETED", OUTPUT);

    assertFound("a successor has the reported input");
  }

  @Test
  void a_signal_that_was_left_behind_is_found() {
    signals().stored(EvidenceBuilder.RUN, SignalRules.value(EvidenceBuilder.INPUT, 3), "");
    chain(NEXT);
    evidence.result("COMPLETED", OUTPUT);

    assertFound("signals move along", "signals are received in order");
  }

  @Test
  void a_signal_that_two_runs_of_the_chain_received_is_found() {
    signals().stored(SECOND, ONE, "signal#2").received(SECOND, "signal#2", 1, ONE);
    chain(NEXT);
    evidence.result("COMPLETED", OUTPUT);

    assertFound("a signal is stored once", "signals are received in order");
  }

  @Test
  void a_cancel_that_the_successor_has_lost_is_found() {
    signals().cancelAnswered("true");
    chain(NEXT);
    evidence.result("COMPLETED", OUTPUT);

    assertFound("cancelled is cancelled");
  }

  @Test
  void a_result_of_an_earlier_run_is_found() {
    signals();
    chain(NEXT);
    evidence.result("COMPLETED", "");

    assertFound("the client received the recorded result");
  }
}
