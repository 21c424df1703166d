package dev.kagzi.cli;

import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** A command with subcommands: {@code kagzi workflow list}. */
abstract class CommandGroup implements Runnable {

  @Spec private CommandSpec spec = CommandSpec.create();

  /** {@link ServerOptions#of} merges these with the options of parent command and subcommand. */
  @Mixin ServerOptions options = new ServerOptions();

  @Override
  public final void run() {
    throw new ParameterException(
        spec.commandLine(),
        "command: none (expected: %s)".formatted(String.join(", ", spec.subcommands().keySet())));
  }
}
