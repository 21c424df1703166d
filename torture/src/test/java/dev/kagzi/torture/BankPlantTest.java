package dev.kagzi.torture;

import static dev.kagzi.torture.BankTrial.fault;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.torture.BankFaults.Kind;
import dev.kagzi.torture.BankTrial.Injected;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** The checker finds planted faults. Separate from {@link BankTortureTest}, to run in parallel. */
class BankPlantTest {
  /** Few transfers, because a planted fault keeps each of them for a while. */
  private static final Duration PACE = Duration.ofMillis(200);

  private static void assertFound(String rule, BankPlant plant, Injected... faults) {
    BankTrial trial = new BankTrial();

    Verdict verdict =
        trial.torture(new BankTorture.Settings(1, 2, BankTrial.TELLERS, PACE, 1, plant), faults);

    assertThat(verdict.problems())
        .as(trial.printed())
        .anyMatch(problem -> problem.startsWith(rule));
  }

  @Test
  void a_result_that_is_stored_outside_of_the_transaction_is_found() {
    assertFound(BankRules.ONCE, BankPlant.RESULT_OUTSIDE, fault(Kind.KILL_WORKER, 0));
  }

  @Test
  void a_stale_worker_that_commits_without_a_fence_is_found() {
    assertFound(BankRules.ONCE, BankPlant.NO_FENCE, new Injected(Kind.PAUSE_WORKER, 0, 900));
  }

  @Test
  void an_outbox_row_that_is_deleted_before_it_is_sent_is_found() {
    assertFound(
        BankRules.ROW_WITHOUT_START,
        BankPlant.SENT_EARLY,
        fault(Kind.KILL_WORKER, 0),
        fault(Kind.KILL_WORKER, 1));
  }
}
