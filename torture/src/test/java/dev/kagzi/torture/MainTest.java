package dev.kagzi.torture;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.postgres.EmbeddedPostgres;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MainTest {

  @Test
  void invalid_arguments_are_rejected_before_anything_starts() {
    StringWriter err = new StringWriter();

    int exitCode = Main.commandLine().setErr(new PrintWriter(err)).execute("--minutes=0");

    assertThat(exitCode).isEqualTo(2);
    assertThat(err.toString()).contains("--minutes: 0.0 (expected: > 0)");
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 11})
  void a_number_of_servers_out_of_range_is_rejected_before_anything_starts(int servers) {
    StringWriter err = new StringWriter();

    int exitCode = Main.commandLine().setErr(new PrintWriter(err)).execute("--servers=" + servers);

    assertThat(exitCode).isEqualTo(2);
    assertThat(err.toString()).contains("--servers: " + servers + " (expected: 1 to 10)");
  }

  @Test
  void a_postgres_version_that_is_not_bundled_is_rejected_before_anything_starts() {
    StringWriter err = new StringWriter();

    int exitCode = Main.commandLine().setErr(new PrintWriter(err)).execute("--postgres=13");

    assertThat(exitCode).isEqualTo(2);
    assertThat(err.toString()).contains("--postgres: 13 (expected: 14, or ");
  }

  /** Fails if {@code -Dkagzi.postgres=14} does not reach the databases of these tests. */
  @Test
  void the_tests_run_on_the_requested_postgres() {
    String requested = System.getProperty("kagzi.postgres", "");

    assertThat(requested.isEmpty() || requested.equals("" + EmbeddedPostgres.majorVersion()))
        .isTrue();
  }

  @Test
  void the_last_line_shows_the_result() {
    assertThat(new Verdict(3, 20, 70, 42, List.of()).lastLine())
        .isEqualTo("passed: 3 faults, 20 runs, 70 steps, seed 42");
    assertThat(new Verdict(3, 20, 70, 42, List.of("run r is stuck")).lastLine())
        .isEqualTo("FAILED: run r is stuck");
  }
}
