package dev.kagzi.torture;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Separate from {@link TortureTest}, so that both can run in parallel. */
class KilledServersTest {
  private static final Duration SOON = Duration.ofSeconds(60);

  private final StringWriter out = new StringWriter();
  private final Console console = new Console(new PrintWriter(out));

  @Test
  void each_of_three_servers_may_be_killed_and_nothing_acknowledged_is_lost() {
    Load.Settings load =
        new Load.Settings(List.of(Scenarios.STEADY), 2, TortureTest.CALLERS, TortureTest.PACE);
    Verdict verdict;

    try (Torture torture = Torture.start(console, load, 3, Torture.WORKERS)) {
      for (int server : List.of(0, 1, 2)) {
        torture.inject(TortureTest.fault(0, FaultKind.KILL_SERVER, server, 200));
        assertThat(torture.awaitMoreResults(50, SOON)).as(out.toString()).isTrue();
      }
      verdict = torture.finishAndCheck();
    }

    assertThat(verdict.problems()).as(out.toString()).isEmpty();
    assertThat(verdict.faults()).isEqualTo(3);
    assertThat(verdict.runs()).isGreaterThan(150);
  }
}
