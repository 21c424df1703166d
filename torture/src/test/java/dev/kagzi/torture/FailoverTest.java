package dev.kagzi.torture;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class FailoverTest {
  private static final Duration SOON = Duration.ofSeconds(60);

  private final StringWriter out = new StringWriter();
  private final Console console = new Console(new PrintWriter(out));

  @Test
  void nothing_acknowledged_is_lost_when_a_synchronous_standby_is_promoted() {
    Load.Settings load = new Load.Settings(Scenarios.ALL, 3, TortureTest.CALLERS, TortureTest.PACE);
    Verdict verdict;

    try (Torture torture =
        Torture.startWithStandby(console, load, Torture.SERVERS, Torture.WORKERS)) {
      assertThat(torture.awaitMoreResults(50, SOON)).as(out.toString()).isTrue();
      torture.failOver();
      assertThat(torture.awaitMoreResults(100, SOON)).as(out.toString()).isTrue();
      verdict = torture.finishAndCheck();
    }

    assertThat(verdict.problems()).as(out.toString()).isEmpty();
    assertThat(verdict.runs()).isGreaterThan(150);
  }
}
