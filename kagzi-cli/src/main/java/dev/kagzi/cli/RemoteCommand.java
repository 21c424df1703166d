package dev.kagzi.cli;

import java.util.concurrent.Callable;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * A command that asks a server. A new one is a class that extends this and stands among the
 * subcommands of its {@link CommandGroup}: it has its own options as fields, makes its calls, gives
 * its answer, and returns an {@link ExitCode}.
 */
abstract class RemoteCommand implements Callable<Integer> {

  @Spec private CommandSpec spec = CommandSpec.create();

  /** Read by {@link ServerOptions#of}, with those of the words before. */
  @Mixin ServerOptions options = new ServerOptions();

  /** Returns the exit code. */
  abstract int run(RemoteServer server, Output answer);

  @Override
  public final Integer call() {
    ServerOptions all = ServerOptions.of(spec);
    try (RemoteServer server = all.connect()) {
      return run(
          server,
          new Output(all.isJson(), spec.commandLine().getOut(), spec.commandLine().getErr()));
    }
  }

  /** Ends the command with exit code 2. */
  final ParameterException wrong(String option, String found, String expected) {
    return new ParameterException(
        spec.commandLine(), "%s: %s (expected: %s)".formatted(option, found, expected));
  }

  /** What was not said is left to the server. */
  static <T> void ifSaid(@Nullable T value, Consumer<T> setter) {
    if (value != null) {
      setter.accept(value);
    }
  }
}
