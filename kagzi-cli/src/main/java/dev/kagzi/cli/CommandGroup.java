package dev.kagzi.cli;

import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** A word that stands before others: {@code kagzi workflow list}. */
abstract class CommandGroup implements Runnable {

  @Spec private CommandSpec spec = CommandSpec.create();

  /** Read by {@link ServerOptions#of}, with those of the words before. */
  @Mixin ServerOptions options = new ServerOptions();

  @Override
  public final void run() {
    throw new ParameterException(
        spec.commandLine(),
        "command: none (expected: %s)".formatted(String.join(", ", spec.subcommands().keySet())));
  }
}
