package dev.kagzi.cli;

import dev.kagzi.postgres.EmbeddedPostgresException;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;

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
public final class Main implements Runnable {

  @Spec private CommandSpec spec = CommandSpec.create();

  private Main() {}

  /** Runs one command and ends the JVM with its exit code. */
  public static void main(String[] args) {
    System.exit(commandLine().execute(args));
  }

  static CommandLine commandLine() {
    return new CommandLine(new Main()).setExecutionExceptionHandler(Main::complain);
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

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "Which command? See below.");
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
