package dev.kagzi.torture;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.torture.BankFaults.Kind;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class BankTortureTest {
  /** Few transfers, because a planted fault keeps each of them for a while. */
  private static final Duration PLANTED_PACE = Duration.ofMillis(200);

  private static final Duration PACE = Duration.ofMillis(100);
  private static final int TELLERS = 4;

  private final StringWriter out = new StringWriter();
  private final Console console = new Console(new PrintWriter(out));

  /**
   * @param lot how long it lasts, from 0 to 999
   */
  private record Injected(Kind kind, int target, int lot) {}

  private static Injected fault(Kind kind, int target) {
    return new Injected(kind, target, 100);
  }

  private Verdict torture(BankTorture.Settings settings, List<Injected> faults) {
    try (BankTorture torture = BankTorture.start(console, settings)) {
      for (Injected fault : faults) {
        torture.faults().inject(fault.kind, fault.target, fault.lot);
        Pause.ofUnchecked(Duration.ofMillis(500));
      }
      return torture.finishAndCheck();
    }
  }

  private Verdict torture(BankPlant plant, Injected... faults) {
    return torture(
        new BankTorture.Settings(1, 2, TELLERS, PLANTED_PACE, 1, plant), List.of(faults));
  }

  @Test
  void each_transfer_is_executed_once_when_both_databases_and_all_programs_are_killed() {
    Verdict verdict =
        torture(
            new BankTorture.Settings(2, 2, TELLERS, PACE, 1, BankPlant.NONE),
            List.of(
                fault(Kind.KILL_BANK_DATABASE, 0),
                fault(Kind.KILL_WORKER, 0),
                fault(Kind.CUT_WORKER_FROM_BANK, 1),
                fault(Kind.KILL_KAGZI_DATABASE, 0),
                fault(Kind.PAUSE_WORKER, 1),
                fault(Kind.CUT_TELLERS, 0),
                fault(Kind.KILL_SERVER, 0)));

    assertThat(verdict.problems()).as(out.toString()).isEmpty();
    assertThat(verdict.faults()).isEqualTo(7);
    assertThat(verdict.runs()).isGreaterThan(50);
    assertThat(verdict.steps()).isEqualTo(2 * verdict.runs());
  }

  @Test
  void a_result_that_is_stored_outside_of_the_transaction_is_found() {
    Verdict verdict = torture(BankPlant.RESULT_OUTSIDE, fault(Kind.KILL_WORKER, 0));

    assertThat(verdict.problems())
        .as(out.toString())
        .anyMatch(problem -> problem.startsWith(BankRules.ONCE));
  }

  @Test
  void a_stale_worker_that_commits_without_a_fence_is_found() {
    Verdict verdict = torture(BankPlant.NO_FENCE, new Injected(Kind.PAUSE_WORKER, 0, 900));

    assertThat(verdict.problems())
        .as(out.toString())
        .anyMatch(problem -> problem.startsWith(BankRules.ONCE));
  }

  @Test
  void an_outbox_row_that_is_deleted_before_it_is_sent_is_found() {
    Verdict verdict =
        torture(BankPlant.SENT_EARLY, fault(Kind.KILL_WORKER, 0), fault(Kind.KILL_WORKER, 1));

    assertThat(verdict.problems())
        .as(out.toString())
        .anyMatch(problem -> problem.startsWith(BankRules.ROW_WITHOUT_START));
  }
}
