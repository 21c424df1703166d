package dev.kagzi.torture;

import static dev.kagzi.torture.BankTrial.fault;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.torture.BankFaults.Kind;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class BankTortureTest {
  private static final Duration PACE = Duration.ofMillis(100);

  @Test
  void each_transfer_is_executed_once_when_both_databases_and_all_programs_are_killed() {
    BankTrial trial = new BankTrial();

    Verdict verdict =
        trial.torture(
            new BankTorture.Settings(2, 2, BankTrial.TELLERS, PACE, 1, BankPlant.NONE),
            fault(Kind.KILL_BANK_DATABASE, 0),
            fault(Kind.KILL_WORKER, 0),
            fault(Kind.CUT_WORKER_FROM_BANK, 1),
            fault(Kind.KILL_KAGZI_DATABASE, 0),
            fault(Kind.PAUSE_WORKER, 1),
            fault(Kind.CUT_TELLERS, 0),
            fault(Kind.KILL_SERVER, 0));

    assertThat(verdict.problems()).as(trial.printed()).isEmpty();
    assertThat(verdict.faults()).isEqualTo(7);
    assertThat(verdict.runs()).isGreaterThan(50);
    assertThat(verdict.steps()).isEqualTo(2 * verdict.runs());
  }
}
