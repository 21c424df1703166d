package dev.kagzi.cli;

import dev.kagzi.postgres.EmbeddedPostgresException;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;
import picocli.CommandLine.UnmatchedArgumentException;

/** The entry point: picks a command and turns its end into an exit code. */
@Command(
    name = "kagzi",
    description = "Durable workflows for Java on PostgreSQL.",
    mixinStandardHelpOptions = true,
    scope = ScopeType.INHERIT,
    versionProvider = Main.Version.class,
    synopsisSubcommandLabel = "COMMAND",
    sortOptions = false,
    usageHelpAutoWidth = true,
    subcommands = {DevCommand.class, WorkflowCommand.class})
public final class Main implements Callable<Integer> {

  @Spec private CommandSpec spec = CommandSpec.create();

  private Main() {}

  /** Runs one command and ends the JVM with its exit code. */
  public static void main(String[] args) {
    System.exit(commandLine().execute(args));
  }

  static CommandLine commandLine() {
    return new CommandLine(new Main())
        .setParameterExceptionHandler(Main::refuse)
        .setExecutionExceptionHandler(Main::complain);
  }

  /** Wrong usage is one line that says where to read on: a page of help would bury it. */
  private static int refuse(ParameterException wrong, String[] arguments) {
    CommandLine command = wrong.getCommandLine();
    command.getErr().println("kagzi: " + describe(wrong, command));
    command.getErr().flush();
    return CommandLine.ExitCode.USAGE;
  }

  private static String describe(ParameterException wrong, CommandLine command) {
    String help = "see " + command.getCommandSpec().qualifiedName() + " --help";
    if (wrong instanceof UnmatchedArgumentException unmatched
        && !command.getSubcommands().isEmpty()
        && !unmatched.isUnknownOption()) {
      return "command: %s (expected: %s; %s)"
          .formatted(
              unmatched.getUnmatched().getFirst(),
              String.join(", ", command.getSubcommands().keySet()),
              help);
    }
    return "%s (%s)".formatted(wrong.getMessage(), help);
  }

  /** What we expect to go wrong is one line; anything else is a bug and shows where it is. */
  private static int complain(
      Exception failure, CommandLine command, CommandLine.ParseResult parsed) {
    if (failure instanceof CliException || failure instanceof EmbeddedPostgresException) {
      command.getErr().println("kagzi: " + failure.getMessage());
    } else {
      failure.printStackTrace(command.getErr());
    }
    command.getErr().flush();
    return CommandLine.ExitCode.SOFTWARE;
  }

  /** Without a command. */
  @Override
  public Integer call() {
    spec.commandLine().usage(spec.commandLine().getErr());
    return CommandLine.ExitCode.USAGE;
  }

  /** Reads the version that the build wrote into the jar. */
  static final class Version implements IVersionProvider {

    static String current() {
      String version = Main.class.getPackage().getImplementationVersion();
      return version == null ? "unpackaged" : version;
    }

    @Override
    public String[] getVersion() {
      return new String[] {"kagzi " + current() + " (Java " + Runtime.version().feature() + ")"};
    }
  }
}
