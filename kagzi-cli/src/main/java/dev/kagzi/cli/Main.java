package dev.kagzi.cli;

import dev.kagzi.postgres.EmbeddedPostgresException;
import dev.kagzi.server.ServerStartException;
import dev.kagzi.server.config.DidYouMean;
import dev.kagzi.server.config.ServerOption;
import dev.kagzi.server.config.SettingsException;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;
import picocli.CommandLine.UnmatchedArgumentException;

/** The entry point: runs a command and ends the JVM with its exit code. */
@Command(
    name = "kagzi",
    description = "Durable workflows for Java on PostgreSQL.",
    mixinStandardHelpOptions = true,
    scope = ScopeType.INHERIT,
    versionProvider = Main.Version.class,
    synopsisSubcommandLabel = "COMMAND",
    sortOptions = false,
    usageHelpAutoWidth = true,
    footer = {
      "",
      "From a checkout ./kagzi also starts:",
      "  bench     Measures throughput and latency.",
      "  torture   Kills and disconnects processes under load, and checks the results.",
      "  example   Runs one of the examples."
    })
public final class Main implements Callable<Integer> {

  @Spec private CommandSpec spec = CommandSpec.create();

  /** {@link ServerOptions#of} merges these with the options of subcommands. */
  @Mixin ServerOptions options = new ServerOptions();

  private Main() {}

  /** Runs one command and ends the JVM with its exit code. */
  public static void main(String[] args) {
    System.exit(commandLine(CommandTree.of(args)).setOut(standardOutput()).execute(args));
  }

  /**
   * Returns a writer for standard output. It does not wrap System.out, which hides write errors
   * from a wrapper: a closed pipe would not be noticed.
   */
  private static PrintWriter standardOutput() {
    return new PrintWriter(
        new OutputStreamWriter(new FileOutputStream(FileDescriptor.out), System.out.charset()),
        true);
  }

  static CommandLine commandLine() {
    return commandLine(CommandTree.all());
  }

  static CommandLine commandLine(CommandTree tree) {
    CommandLine kagzi = new CommandLine(new Main());
    tree.addTo(kagzi);
    // An argument @FILE is an option's value, not a file of arguments.
    kagzi.setExpandAtFiles(false);
    addFlags(kagzi, "dev", DevCommand.OPTIONS, DevCommand.DEFAULTS);
    addFlags(kagzi, "server", ServerCommand.OPTIONS, Map.of());
    addFlags(kagzi, "migrate", MigrateCommand.OPTIONS, Map.of());
    return kagzi
        // A namespace may have the name of a command.
        .setAllowSubcommandsAsOptionParameters(true)
        // Commands read --input @FILE themselves.
        .setExpandAtFiles(false)
        .setCaseInsensitiveEnumValuesAllowed(true)
        .setExecutionStrategy(Main::run)
        .setParameterExceptionHandler(
            (wrong, arguments) ->
                tree.isComplete() || !(wrong instanceof UnmatchedArgumentException)
                    ? reportUsageError(wrong)
                    : parseWithAllCommands(wrong.getCommandLine(), arguments))
        .setExecutionExceptionHandler(Main::reportFailure);
  }

  private static void addFlags(
      CommandLine kagzi,
      String command,
      Set<ServerOption> options,
      Map<ServerOption, String> defaults) {
    CommandLine found = kagzi.getSubcommands().get(command);
    if (found != null) {
      ServerFlags.add(found.getCommandSpec(), options, defaults);
    }
  }

  private static int run(CommandLine.ParseResult parsed) {
    ServerOptions.refuseUnused(parsed);
    return new CommandLine.RunLast().execute(parsed);
  }

  /** Parses again with all commands, so that suggestions consider every command. */
  private static int parseWithAllCommands(CommandLine part, String[] arguments) {
    return commandLine().setOut(part.getOut()).setErr(part.getErr()).execute(arguments);
  }

  /** Reports wrong usage in one line that refers to --help, instead of printing the whole help. */
  private static int reportUsageError(ParameterException wrong) {
    CommandLine command = wrong.getCommandLine();
    command.getErr().println("kagzi: " + PlainLine.brief(describe(wrong, command)));
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
    if (wrong instanceof UnmatchedArgumentException unmatched && unmatched.isUnknownOption()) {
      String unknown = unmatched.getUnmatched().getFirst();
      String name = unknown.contains("=") ? unknown.substring(0, unknown.indexOf('=')) : unknown;
      return DidYouMean.suggest(name, command.getCommandSpec().optionsMap().keySet())
          .map(near -> "%s: no such option (expected: %s; %s)".formatted(name, near, help))
          .orElse("%s: no such option (%s)".formatted(name, help));
    }
    return "%s (%s)".formatted(wrong.getMessage(), help);
  }

  /** Prints expected failures in one line, and others as bugs with a stack trace. */
  private static int reportFailure(
      Exception failure, CommandLine command, CommandLine.ParseResult parsed) {
    if (failure instanceof SettingsException) {
      command.getErr().println("kagzi: " + failure.getMessage());
      command.getErr().flush();
      return CommandLine.ExitCode.USAGE;
    }
    if (failure instanceof CliException expected) {
      command.getErr().println("kagzi: " + PlainLine.brief(String.valueOf(expected.getMessage())));
      command.getErr().flush();
      return expected.exitCode();
    }
    if (failure instanceof ServerStartException || failure instanceof EmbeddedPostgresException) {
      command.getErr().println("kagzi: " + failure.getMessage());
    } else {
      failure.printStackTrace(command.getErr());
    }
    command.getErr().flush();
    return CommandLine.ExitCode.SOFTWARE;
  }

  /** Runs if no command is given. */
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
