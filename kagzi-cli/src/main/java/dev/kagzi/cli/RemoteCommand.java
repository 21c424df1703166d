package dev.kagzi.cli;

import java.util.concurrent.Callable;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * A command that calls a server. A new command is a class that extends this and is listed in {@link
 * CommandTree}. It has its options as fields, makes its calls, prints its result, and returns an
 * {@link ExitCode}.
 */
abstract class RemoteCommand implements Callable<Integer> {

  @Spec private CommandSpec spec = CommandSpec.create();

  /** {@link ServerOptions#of} merges these with the options of parent commands. */
  @Mixin ServerOptions options = new ServerOptions();

  abstract int run(RemoteServer server, Output output);

  @Override
  public final Integer call() {
    ServerOptions all = ServerOptions.of(spec);
    try (RemoteServer server = all.connect()) {
      return run(
          server,
          new Output(all.isJson(), spec.commandLine().getOut(), spec.commandLine().getErr()));
    }
  }

  final boolean isJson() {
    return ServerOptions.of(spec).isJson();
  }

  /** Returns an error that ends the command with exit code 2. */
  final ParameterException usageError(String option, String found, String expected) {
    return new ParameterException(
        spec.commandLine(), "%s: %s (expected: %s)".formatted(option, found, expected));
  }

  /** Sets a request field only if the option was given. */
  static <T> void setIfGiven(@Nullable T value, Consumer<T> setter) {
    if (value != null) {
      setter.accept(value);
    }
  }
}
