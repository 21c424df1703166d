package dev.kagzi.torture;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.torture.BankFaults.Kind;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;

/** A short torture of the bank with chosen faults. */
final class BankTrial {
  static final int TELLERS = 4;
  private static final int TRIALS_MAX = 3;

  /** Few transfers, because a planted fault keeps each of them for a while. */
  private static final Duration PLANT_PACE = Duration.ofMillis(200);

  private final StringWriter out = new StringWriter();
  private final Console console = new Console(new PrintWriter(out));

  /**
   * @param lot how long it lasts, from 0 to 999
   */
  record Injected(Kind kind, int target, int lot) {}

  static Injected fault(Kind kind, int target) {
    return new Injected(kind, target, 100);
  }

  Verdict torture(BankTorture.Settings settings, Injected... faults) {
    try (BankTorture torture = BankTorture.start(console, settings)) {
      for (Injected fault : faults) {
        torture.faults().inject(fault.kind, fault.target, fault.lot);
        Pause.ofUnchecked(Duration.ofMillis(500));
      }
      return torture.finishAndCheck();
    }
  }

  /**
   * Asserts that a torture with a planted fault breaks this rule. Whether it does depends on where
   * the injected faults meet the work, so several are tried.
   */
  static void assertFound(String rule, BankPlant plant, Injected... faults) {
    StringBuilder printed = new StringBuilder();
    boolean found = false;
    for (int i = 0; i < TRIALS_MAX && !found; i++) {
      BankTrial trial = new BankTrial();
      Verdict verdict =
          trial.torture(new BankTorture.Settings(1, 2, TELLERS, PLANT_PACE, 1, plant), faults);
      found = verdict.problems().stream().anyMatch(problem -> problem.startsWith(rule));
      printed.append(trial.printed()).append(verdict.problems()).append('\n');
    }

    assertThat(found).as(printed.toString()).isTrue();
  }

  String printed() {
    return out.toString();
  }
}
