package dev.kagzi.torture;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.postgres.EmbeddedPostgres;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import org.junit.jupiter.api.Test;

class MainTest {

  @Test
  void wrong_arguments_are_told_of_before_anything_starts() {
    StringWriter err = new StringWriter();

    int exitCode = Main.commandLine().setErr(new PrintWriter(err)).execute("--minutes=0");

    assertThat(exitCode).isEqualTo(2);
    assertThat(err.toString()).contains("--minutes: 0.0 (expected: > 0)");
  }

  @Test
  void another_postgres_than_the_one_that_is_built_in_is_refused_before_anything_starts() {
    StringWriter err = new StringWriter();

    int exitCode = Main.commandLine().setErr(new PrintWriter(err)).execute("--postgres=13");

    assertThat(exitCode).isEqualTo(2);
    assertThat(err.toString()).contains("--postgres: 13 (expected: 14, or ");
  }

  /** {@code -Dkagzi.postgres=14} reaches the torture's databases, or its tests show nothing. */
  @Test
  void the_tests_run_on_the_postgres_that_was_asked_for() {
    String asked = System.getProperty("kagzi.postgres", "");

    assertThat(asked.isEmpty() || asked.equals("" + EmbeddedPostgres.majorVersion())).isTrue();
  }

  @Test
  void the_last_line_says_how_it_ended() {
    assertThat(new Verdict(3, 20, 70, 42, List.of()).lastLine())
        .isEqualTo("passed: 3 faults, 20 runs, 70 steps, seed 42");
    assertThat(new Verdict(3, 20, 70, 42, List.of("run r is stuck")).lastLine())
        .isEqualTo("FAILED: run r is stuck");
  }
}
