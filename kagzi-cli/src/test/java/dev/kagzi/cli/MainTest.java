package dev.kagzi.cli;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

class MainTest {

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();
  private final CommandLine kagzi =
      Main.commandLine().setOut(new PrintWriter(out)).setErr(new PrintWriter(err));

  @Test
  void version_goes_to_standard_output() {
    assertThat(kagzi.execute("--version")).isZero();

    assertThat(out.toString()).startsWith("kagzi ").contains("Java");
    assertThat(err.toString()).isEmpty();
  }

  @Test
  void version_is_a_command_too_and_needs_no_server() {
    assertThat(kagzi.execute("version")).isZero();
    assertThat(out.toString()).startsWith("kagzi ").contains("Java");

    out.getBuffer().setLength(0);
    assertThat(kagzi.execute("version", "-o", "json")).isZero();
    assertThat(out.toString()).contains("\"version\"", "\"java\"");
  }

  @Test
  void server_options_are_refused_before_a_command_that_calls_no_server() {
    assertThat(kagzi.execute("--address", "127.0.0.1:1", "migrate")).isEqualTo(2);

    assertThat(err.toString())
        .isEqualToIgnoringNewLines(
            "kagzi: --address: given before migrate (expected: only with commands that call a"
                + " server) (see kagzi migrate --help)");
  }

  /** Creating all commands takes longer than most commands run. */
  @Test
  void a_command_line_sets_up_only_the_commands_that_it_names() {
    CommandLine part = Main.commandLine(CommandTree.of("workflow", "--namespace", "n", "list"));

    assertThat(part.getSubcommands()).containsOnlyKeys("workflow");
    assertThat(requireNonNull(part.getSubcommands().get("workflow")).getSubcommands())
        .containsOnlyKeys("list");
    assertThat(Main.commandLine(CommandTree.of("workflow", "--help")).getSubcommands())
        .containsOnlyKeys(kagzi.getSubcommands().keySet());
  }

  @Test
  void an_unknown_command_is_compared_with_all_commands() {
    String[] words = {"wrkflow", "server"};

    CommandLine part = Main.commandLine(CommandTree.of(words)).setErr(new PrintWriter(err));
    assertThat(part.execute(words)).isEqualTo(2);

    assertThat(err.toString()).contains("wrkflow", "server", "workflow", "schedule");
  }

  @Test
  void foreign_text_cannot_control_the_terminal() {
    assertThat(PlainLine.of("a\u001b[31mb\nc\u202ed\ud800"))
        .isEqualTo("a\ufffd[31mb c\ufffdd\ufffd");
  }

  @Test
  void no_command_is_wrong_usage_and_shows_the_commands() {
    assertThat(kagzi.execute()).isEqualTo(2);

    assertThat(out.toString()).isEmpty();
    assertThat(err.toString()).contains("Usage: kagzi");
  }

  @Test
  void unknown_command_is_one_line_that_lists_the_commands() {
    assertThat(kagzi.execute("dve", "--port", "1")).isEqualTo(2);

    assertThat(out.toString()).isEmpty();
    assertThat(err.toString())
        .isEqualToIgnoringNewLines(
            "kagzi: command: dve (expected: dev, server, migrate, workflow, schedule, type,"
                + " namespace, worker, queue, stats, top, doctor, health, sql, version, completion; see kagzi"
                + " --help)");
  }

  @Test
  void wrong_option_is_one_line_that_refers_to_help() {
    assertThat(kagzi.execute("dev", "--prot", "1")).isEqualTo(2);

    assertThat(err.toString().lines())
        .singleElement()
        .asString()
        .isEqualTo("kagzi: --prot: no such option (expected: --port; see kagzi dev --help)");
    err.getBuffer().setLength(0);
    assertThat(kagzi.execute("dev", "--colour", "1")).isEqualTo(2);
    assertThat(err.toString())
        .isEqualToIgnoringNewLines("kagzi: --colour: no such option (see kagzi dev --help)");
  }

  @Test
  void help_also_names_the_programs_of_the_launcher() {
    assertThat(kagzi.execute("--help")).isZero();

    assertThat(out.toString()).contains("server", "migrate", "bench", "torture", "example");
  }

  @Test
  void help_of_the_commands_for_operators_has_an_example() {
    for (String command :
        List.of(
            "top",
            "doctor",
            "stats",
            "completion",
            "queue list",
            "worker list",
            "worker events",
            "worker force-offline",
            "schedule list",
            "workflow list",
            "workflow cancel",
            "workflow signal",
            "workflow published",
            "workflow callback",
            "workflow terminate",
            "workflow retry",
            "workflow resume")) {
      out.getBuffer().setLength(0);
      assertThat(kagzi.execute((command + " --help").split(" ", -1))).isZero();
      assertThat(out.toString()).contains("Example", "kagzi " + command + " ");
    }
  }

  @Test
  void help_of_a_server_shows_the_common_options_and_where_the_others_are() {
    assertThat(kagzi.execute("server", "--help")).isZero();

    assertThat(out.toString())
        .contains("--db-url", "--token-file", "docs/reference.md")
        .doesNotContain("--journal-lanes");
  }

  @Test
  void expected_failure_is_one_line() {
    kagzi
        .addSubcommand("break", new Breaking())
        .setExecutionExceptionHandler(kagzi.getExecutionExceptionHandler())
        .setErr(new PrintWriter(err));

    assertThat(kagzi.execute("break")).isEqualTo(1);

    assertThat(err.toString()).isEqualToIgnoringNewLines("kagzi: it is broken");
  }

  @CommandLine.Command
  static final class Breaking implements Runnable {
    @Override
    public void run() {
      throw new CliException("it is broken", new IllegalStateException("deep inside"));
    }
  }
}
