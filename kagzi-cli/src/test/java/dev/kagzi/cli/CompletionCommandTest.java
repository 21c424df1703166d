package dev.kagzi.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CompletionCommandTest {
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private int execute(String... words) {
    return Main.commandLine(CommandTree.of(words))
        .setOut(new PrintWriter(out))
        .setErr(new PrintWriter(err))
        .execute(words);
  }

  @Test
  void bash_completes_commands_subcommands_and_options(@TempDir Path folder) throws Exception {
    assertThat(execute("completion", "bash")).isZero();
    Path script = Files.writeString(folder.resolve("kagzi.bash"), out.toString());

    assertThat(complete(script, "kagzi", "doc")).containsExactly("doctor");
    assertThat(complete(script, "kagzi", "workflow", "can")).containsExactly("cancel");
    assertThat(complete(script, "kagzi", "worker", "f")).containsExactly("force-offline");
    assertThat(complete(script, "kagzi", "queue", "list", "--wa")).containsExactly("--watch");
  }

  /** Returns what bash offers for the last word. */
  private static List<String> complete(Path script, String... words)
      throws IOException, InterruptedException {
    String call =
        """
        # Bash has it only while it completes.
        compopt() { :; }
        source '%s'
        COMP_WORDS=(%s)
        COMP_CWORD=%d
        _complete_kagzi
        printf '%%s\\n' "${COMPREPLY[@]}"
        """
            .formatted(script, String.join(" ", words), words.length - 1);
    Process bash = new ProcessBuilder("bash", "--norc", "-c", call).start();
    List<String> offered = bash.inputReader().lines().map(String::strip).toList();
    assertThat(bash.waitFor()).as("%s", offered).isZero();
    return offered;
  }

  @Test
  void zsh_gets_a_script_that_loads_what_it_needs() {
    assertThat(execute("completion", "zsh")).isZero();

    assertThat(out.toString()).contains("bashcompinit", "complete -F _complete_kagzi");
  }

  @Test
  void another_shell_is_refused() {
    assertThat(execute("completion", "fish")).isEqualTo(2);

    assertThat(err.toString()).contains("fish").hasLineCount(1);
    assertThat(out.toString()).isEmpty();
  }
}
