package dev.kagzi.torture;

import dev.kagzi.postgres.EmbeddedPostgres;
import dev.kagzi.postgres.EmbeddedPostgresException;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The entry point: {@code ./kagzi torture}. */
@Command(
    name = "kagzi torture",
    description = {
      "Runs workflows on real processes (PostgreSQL, servers, 3 workers, 1 client), kills, pauses"
          + " and cuts them off at random moments, and checks that nothing was lost, nothing was"
          + " done twice without need, and everything ended.",
      "The last line says \"passed\" or \"FAILED\"; what explains a failure is left in a folder."
    },
    mixinStandardHelpOptions = true,
    version = "kagzi torture (Java ${java.version})",
    sortOptions = false,
    usageHelpAutoWidth = true)
public final class Main implements Callable<Integer> {
  private static final int CALLERS = 24;
  private static final int SERVERS_MAX = 10;
  private static final Duration PACE = Duration.ofMillis(100);
  private static final double MILLIS_PER_MINUTE = 60_000;

  @Spec private CommandSpec spec = CommandSpec.create();

  @Option(
      names = "--minutes",
      paramLabel = "N",
      defaultValue = "1",
      description =
          "How long faults are injected; may be a fraction. Without it: ${DEFAULT-VALUE}.")
  private double minutes;

  @Option(
      names = "--seed",
      paramLabel = "S",
      description = "Which faults come when, and which workflows run. Without it: any.")
  private @Nullable Long seed;

  @Option(
      names = "--servers",
      paramLabel = "N",
      defaultValue = "" + Torture.SERVERS,
      description =
          "How many servers, also for --recovery and --failover. Without it: ${DEFAULT-VALUE}. The"
              + " faults of a seed depend on it.")
  private int servers;

  @Option(
      names = "--recovery",
      description =
          "Instead: one fault of each kind every 30 s under even load, and how long throughput"
              + " takes to be back.")
  private boolean recovery;

  @Option(
      names = "--failover",
      description =
          "Instead: PostgreSQL with a synchronous standby, which is promoted after kill -9 of the"
              + " primary under even load, and how long throughput takes to be back.")
  private boolean failover;

  @Option(
      names = "--schedules",
      description =
          "Instead: 10,000 schedules over ten days that pass in minutes, while three servers are"
              + " killed, paused and cut off, and PostgreSQL is killed; then each slot must be one"
              + " run, or be missed as its schedule says.")
  private boolean schedules;

  @Option(
      names = "--bank",
      description =
          "Instead: transfers of a bank with a PostgreSQL of its own, as transactional steps that"
              + " are started in the bank's transactions, while servers, workers and both PostgreSQL"
              + " are killed; then each transfer must be executed once.")
  private boolean bank;

  @Option(
      names = "--count",
      paramLabel = "N",
      defaultValue = "10000",
      description = "How many schedules. Without it: ${DEFAULT-VALUE}.")
  private int count;

  @Option(
      names = "--postgres",
      paramLabel = "VERSION",
      description =
          "On which PostgreSQL: 14, the oldest that is supported, or the newest. Without it: the"
              + " newest.")
  private @Nullable Integer postgres;

  private Main() {}

  /** Runs the torture test and ends the JVM with an exit code. */
  public static void main(String[] args) {
    System.exit(commandLine().execute(args));
  }

  static CommandLine commandLine() {
    return new CommandLine(new Main()).setExecutionExceptionHandler(Main::printFailure);
  }

  private static int printFailure(
      Exception failure, CommandLine command, CommandLine.ParseResult parsed) {
    if (!(failure instanceof TortureException || failure instanceof EmbeddedPostgresException)) {
      failure.printStackTrace(command.getErr());
      command.getErr().flush();
    }
    command.getOut().println("FAILED: " + failure.getMessage());
    command.getOut().flush();
    return CommandLine.ExitCode.SOFTWARE;
  }

  @Override
  public Integer call() {
    if (!(minutes > 0)) {
      throw new ParameterException(
          spec.commandLine(), "--minutes: " + minutes + " (expected: > 0)");
    }
    if (servers < 1 || servers > SERVERS_MAX) {
      throw new ParameterException(
          spec.commandLine(), "--servers: %d (expected: 1 to %d)".formatted(servers, SERVERS_MAX));
    }
    if (count < 1) {
      throw new ParameterException(spec.commandLine(), "--count: " + count + " (expected: >= 1)");
    }
    int bundled = EmbeddedPostgres.majorVersion();
    if (postgres != null && postgres != bundled) {
      throw new ParameterException(
          spec.commandLine(),
          "--postgres: %d (expected: 14, or %d without it; ./kagzi torture --postgres 14 builds it)"
              .formatted(postgres, bundled));
    }
    long chosen = seed == null ? ThreadLocalRandom.current().nextInt(1, 1_000_000) : seed;
    Console console = new Console(spec.commandLine().getOut());
    console.printTimed("seed " + chosen + ", PostgreSQL " + bundled);
    if (schedules) {
      ScheduleTorture.Result result =
          ScheduleTorture.run(
              console, new ScheduleTorture.Settings(count, Duration.ofHours(1), chosen));
      console.print(result.lastLine());
      return result.passed() ? CommandLine.ExitCode.OK : CommandLine.ExitCode.SOFTWARE;
    }
    Verdict verdict;
    if (bank) {
      verdict = bank(console, chosen);
    } else {
      verdict = verdict(console, chosen);
    }
    console.print(verdict.lastLine());
    return verdict.passed() ? CommandLine.ExitCode.OK : CommandLine.ExitCode.SOFTWARE;
  }

  private Verdict verdict(Console console, long seed) {
    if (failover) {
      return Recovery.measureFailover(console, seed, servers);
    }
    return recovery ? Recovery.measure(console, seed, servers) : torture(console, seed);
  }

  private Duration length() {
    return Duration.ofMillis(Math.round(minutes * MILLIS_PER_MINUTE));
  }

  private Verdict bank(Console console, long seed) {
    try (BankTorture torture = BankTorture.start(console, BankTorture.Settings.of(seed))) {
      torture.injectFor(length());
      return torture.finishAndCheck();
    }
  }

  private Verdict torture(Console console, long seed) {
    Plan plan = Plan.random(seed, length(), servers, Torture.WORKERS);
    Load.Settings load = new Load.Settings(Scenarios.ALL, seed, CALLERS, PACE);
    try (Torture torture = Torture.start(console, load, servers, Torture.WORKERS)) {
      torture.inject(plan);
      return torture.finishAndCheck();
    }
  }
}
