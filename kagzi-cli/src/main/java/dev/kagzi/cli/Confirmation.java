package dev.kagzi.cli;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.nio.charset.Charset;
import java.util.Locale;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Spec.Target;

/** Asks before a command does what cannot be undone. */
final class Confirmation {

  @Spec(Target.MIXEE)
  private CommandSpec command = CommandSpec.create();

  @Option(
      names = {"-y", "--yes"},
      description = "Does not ask for confirmation.")
  private boolean yes;

  /**
   * Returns whether the user agrees.
   *
   * @throws ParameterException if there is no terminal to ask on, and no --yes
   */
  boolean isGiven(Output output, String question) {
    if (yes) {
      return true;
    }
    if (!Terminal.has(Terminal.Stream.IN, Terminal.Stream.ERR)) {
      throw new ParameterException(
          command.commandLine(),
          "%s No terminal to ask on (expected: --yes)".formatted(PlainLine.brief(question)));
    }
    BufferedReader answers =
        new BufferedReader(new InputStreamReader(System.in, Charset.defaultCharset()));
    return ask(answers, output.err(), question);
  }

  /** Returns true only for the answers y and yes; false also at the end of the input. */
  static boolean ask(BufferedReader answers, PrintWriter err, String question) {
    err.print(PlainLine.brief(question) + " [y/N] ");
    err.flush();
    try {
      String answer = answers.readLine();
      return answer != null && answer.strip().toLowerCase(Locale.ROOT).matches("y|yes");
    } catch (IOException e) {
      return false;
    }
  }
}
