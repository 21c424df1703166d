package dev.kagzi.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** Invalid values in every argument of every command that calls a server. */
class StrangeArgumentsTest extends ServedCommandTest {
  private static final List<String> VALUES =
      List.of(
          "",
          "x".repeat(100_000),
          "a\u0001b",
          "\ud800",
          "-1",
          "99999999999999999999",
          "00000000-0000-0000-0000-000000000000",
          "{\"a\":",
          "@/no/such/file");

  @Test
  void invalid_arguments_are_reported_in_one_line_with_an_exit_code() {
    List<CommandSpec> commands = new ArrayList<>();
    leaves(Main.commandLine(), commands);
    assertThat(commands).hasSizeGreaterThan(15);

    Set<String> tried = new HashSet<>(Set.of("--address"));
    for (CommandSpec command : commands) {
      for (OptionSpec option : command.options()) {
        // Options that all commands share are tried with one of them.
        if (option.arity().max() > 0 && tried.add(option.longestName())) {
          VALUES.forEach(value -> tryOut(command, option.longestName(), value, "thing"));
        }
      }
      VALUES.forEach(value -> tryOut(command, null, null, value));
    }
  }

  private static void leaves(CommandLine command, List<CommandSpec> found) {
    if (command.getCommand() instanceof RemoteCommand) {
      found.add(command.getCommandSpec());
    }
    command.getSubcommands().values().forEach(each -> leaves(each, found));
  }

  private void tryOut(
      CommandSpec command, @Nullable String option, @Nullable String value, String argument) {
    List<String> words = new ArrayList<>(List.of(command.qualifiedName().split(" ")));
    words.removeFirst();
    words.addAll(List.of("--address", address()));
    if (option != null && value != null) {
      words.addAll(List.of(option, value));
    }
    command.requiredArgs().stream()
        .filter(
            each -> each instanceof OptionSpec required && !required.longestName().equals(option))
        .forEach(each -> words.addAll(List.of(((OptionSpec) each).longestName(), "q")));
    if (command.name().equals("result") && !"--timeout".equals(option)) {
      words.addAll(List.of("--timeout", "1ms"));
    }
    if (command.name().equals("top") && !"--interval".equals(option)) {
      words.addAll(List.of("--interval", "100ms"));
    }
    command.positionalParameters().forEach(each -> words.add(argument));

    int code = execute(words.toArray(String[]::new));

    assertThat(code).as("%s", words).isBetween(0, 8);
    assertThat(err.toString())
        .as("%s", words)
        .doesNotContain("\tat ", "INTERNAL", "UNKNOWN")
        .hasLineCount(hasResult(code) ? (int) err.toString().lines().count() : 1)
        .hasSizeLessThan(2_000);
  }

  /** A diagnosis with findings and a command for several runs print their result, and no error. */
  private static boolean hasResult(int code) {
    return code == ExitCode.DONE || code >= ExitCode.WARNINGS;
  }
}
