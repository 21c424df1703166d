package dev.kagzi.torture;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class TortureTest {
  private static final int CALLERS = 16;
  private static final Duration PACE = Duration.ofMillis(50);
  private static final Duration SOON = Duration.ofSeconds(60);

  private final StringWriter out = new StringWriter();
  private final Console console = new Console(new PrintWriter(out));

  @Test
  void nothing_is_lost_and_nothing_done_again_when_every_process_is_killed_once() {
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

    Verdict verdict = torture(new Load.Settings(Scenarios.ALL, 1, CALLERS, PACE), plan);

    assertThat(verdict.problems()).as(out.toString()).isEmpty();
    assertThat(verdict.faults()).isEqualTo(7);
    assertThat(verdict.steps()).isGreaterThan(100);
    assertThat(verdict.lastLine()).startsWith("passed: 7 faults, ");
  }

  @Test
  void either_of_two_servers_may_be_killed_and_nothing_acknowledged_is_lost() {
    Load.Settings load = new Load.Settings(List.of(Scenarios.STEADY), 2, CALLERS, PACE);
    Verdict verdict;

    try (Torture torture = Torture.start(console, load, Torture.SERVERS, Torture.WORKERS)) {
      for (int server : List.of(0, 1, 0, 1)) {
        torture.suffer(fault(0, FaultKind.KILL_SERVER, server, 200));
        assertThat(torture.awaitMoreResults(50, SOON)).as(out.toString()).isTrue();
      }
      verdict = torture.judge();
    }

    assertThat(verdict.problems()).as(out.toString()).isEmpty();
    assertThat(verdict.faults()).isEqualTo(4);
    assertThat(verdict.runs()).isGreaterThan(200);
  }

  private Verdict torture(Load.Settings load, Plan plan) {
    try (Torture torture = Torture.start(console, load, Torture.SERVERS, Torture.WORKERS)) {
      torture.suffer(plan);
      return torture.judge();
    }
  }

  private static Fault fault(int atMs, FaultKind kind, int target, int lastsMs) {
    return new Fault(Duration.ofMillis(atMs), kind, target, Duration.ofMillis(lastsMs));
  }
}
