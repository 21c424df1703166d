package dev.kagzi.torture;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class TortureTest {
  static final int CALLERS = 16;
  static final Duration PACE = Duration.ofMillis(50);

  private final StringWriter out = new StringWriter();
  private final Console console = new Console(new PrintWriter(out));

  @Test
  void nothing_is_lost_or_repeated_when_every_process_is_killed_once() {
    Plan plan =
        new Plan(
            List.of(
                fault(500, FaultKind.KILL_SERVER, 0, 300),
                fault(4_000, FaultKind.KILL_WORKER, 1, 300),
                fault(7_000, FaultKind.KILL_POSTGRES, 0, 300),
                fault(11_000, FaultKind.PAUSE_WORKER, 2, 4_000),
                fault(12_000, FaultKind.CUT_WORKER, 0, 0),
                fault(13_000, FaultKind.KILL_SERVER, 1, 300),
                fault(18_000, FaultKind.CUT_POSTGRES, 0, 0)));

    Verdict verdict = torture(plan);

    assertThat(verdict.problems()).as(out.toString()).isEmpty();
    assertThat(verdict.faults()).isEqualTo(7);
    assertThat(verdict.steps()).isGreaterThan(100);
    assertThat(verdict.lastLine()).startsWith("passed: 7 faults, ");
  }

  private Verdict torture(Plan plan) {
    Load.Settings load = new Load.Settings(Scenarios.ALL, 1, CALLERS, PACE);
    try (Torture torture = Torture.start(console, load, Torture.SERVERS, Torture.WORKERS)) {
      torture.inject(plan);
      return torture.finishAndCheck();
    }
  }

  static Fault fault(int atMs, FaultKind kind, int target, int lastsMs) {
    return new Fault(Duration.ofMillis(atMs), kind, target, Duration.ofMillis(lastsMs));
  }
}
