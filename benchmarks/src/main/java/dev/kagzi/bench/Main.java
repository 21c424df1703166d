package dev.kagzi.bench;

import dev.kagzi.postgres.EmbeddedPostgresException;
import dev.kagzi.server.ServerStartException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The entry point: {@code ./kagzi bench}. */
@Command(
    name = "kagzi bench",
    description = {
      "Measures throughput and latency through the real path: client and worker in one JVM, the"
          + " server with its defaults in another (with --embedded in the same), a durable"
          + " PostgreSQL.",
      "Scenarios: W0 (no step), W5 (5 steps of about 100 bytes), W50 (50 such steps), SLEEP (a"
          + " durable sleep of 2 s); SCHEDULES (10,000 schedules that are due in the same second, and"
          + " what they cost before); SIGNAL (signals to parked runs, one at a time and as many as"
          + " possible); OUTBOX (starts through an outbox, and with a commit in the server's"
          + " database); TXSTEP (transactional steps); LATENCIES (start, poll, cached step, heartbeat, health check"
          + " and parallel overhead beside their targets); PAGES (pages of the dashboard with a"
          + " million runs, and what ten open browsers cost); GROWTH (what becomes slower with ten"
          + " million runs, more workers and queues, after a long load and under an old"
          + " transaction; takes hours, with --runs 1000000 about half an hour)."
    },
    mixinStandardHelpOptions = true,
    version = "kagzi bench (Java ${java.version})",
    sortOptions = false,
    usageHelpAutoWidth = true)
public final class Main implements Callable<Integer> {
  private static final List<Integer> CANDIDATES = List.of(64, 256, 1024);
  private static final int DBOS_IN_FLIGHT = 64;
  private static final int COMPARED_REPETITIONS = 3;

  // Even, so that each side is measured first as often as the other.
  private static final int TELEMETRY_REPETITIONS = 6;

  /** The systems that Kagzi can be compared with. */
  enum Peer {
    DBOS,
    /** Kagzi itself without metrics and traces. */
    TELEMETRY,
    /** Kagzi itself with one, two and three servers. */
    SERVERS
  }

  @Spec private CommandSpec spec = CommandSpec.create();

  @Option(
      names = "--scenario",
      split = ",",
      paramLabel = "NAME",
      description =
          "W0, W5, W50, SLEEP, SCHEDULES, SIGNAL, OUTBOX, TXSTEP, LATENCIES, PAGES or GROWTH; several with commas or"
              + " repeated. Without it: all but the last seven, and to compare those without a sleep.")
  private List<Scenario> scenarios = List.of();

  @Option(
      names = "--runs",
      paramLabel = "N",
      description =
          "Runs to measure, of SCHEDULES schedules, of SIGNAL signals, of OUTBOX starts, of TXSTEP steps, of LATENCIES calls of each kind, of PAGES and GROWTH ended"
              + " runs in the database. Without it: as many as take a few seconds.")
  private @Nullable Integer runs;

  @Option(
      names = "--in-flight",
      paramLabel = "N",
      description = "Runs under way at a time. Without it: the best of 64, 256 and 1024.")
  private @Nullable Integer inFlight;

  @Option(names = "--latency", description = "One run at a time.")
  private boolean latency;

  @Option(
      names = "--embedded",
      description =
          "The server is in the JVM of client and worker, as DBOS is, and is called in memory.")
  private boolean embedded;

  @Option(
      names = "--servers",
      paramLabel = "N",
      description =
          "With W0, W5 and W50: as many servers on one database, each with its share of the clients"
              + " and workers. Prints the counts of each server as well.")
  private @Nullable Integer servers;

  @Option(
      names = "--db-url",
      paramLabel = "URL",
      description =
          "PostgreSQL to measure on, jdbc:postgresql://… or postgres://…; a database is created"
              + " there and dropped. Without it: an embedded one.")
  private @Nullable String dbUrl;

  @Option(
      names = "--compare",
      paramLabel = "PEER",
      description =
          "dbos: measures DBOS Transact Java in turn, medians of three. With --latency, W0 and W5"
              + " have a target for the ratio of p50: at most 1.5 and 0.8, with --embedded 1.0."
              + " telemetry: measures Kagzi with metrics and traces on and off in turn. servers:"
              + " measures one, two and three servers in turn, at the same load; the costs of a run"
              + " have a target of 1.3 times those of one server.")
  private @Nullable Peer peer;

  @Option(
      names = "--sampled",
      paramLabel = "RATIO",
      description =
          "With --compare telemetry: the share of the runs that the sampler samples, from 0 to 1."
              + " Default: 1. The client begins at most its default of traces per second.")
  private @Nullable Double sampled;

  @Option(
      names = "--chart",
      paramLabel = "FILE",
      description = "With GROWTH: also draws the ratios, as SVG.")
  private @Nullable Path chart;

  @Option(
      names = "--fail-above",
      paramLabel = "FACTOR",
      description =
          "With GROWTH: exit code 1 if a line is above its target times FACTOR, which is at least 1."
              + " Without it: a missed target is only printed.")
  private @Nullable Double failAbove;

  @Option(names = "--json", description = "One JSON object per scenario, each on one line.")
  private boolean json;

  private Main() {}

  /** Runs the benchmark and ends the JVM with an exit code. */
  public static void main(String[] args) {
    System.exit(commandLine().execute(args));
  }

  static CommandLine commandLine() {
    return new CommandLine(new Main())
        .setCaseInsensitiveEnumValuesAllowed(true)
        .setExecutionExceptionHandler(Main::printFailure);
  }

  private static int printFailure(
      Exception failure, CommandLine command, CommandLine.ParseResult parsed) {
    if (failure instanceof BenchException
        || failure instanceof EmbeddedPostgresException
        || failure instanceof ServerStartException) {
      command.getErr().println("bench: " + failure.getMessage());
    } else {
      failure.printStackTrace(command.getErr());
    }
    command.getErr().flush();
    return CommandLine.ExitCode.SOFTWARE;
  }

  @Override
  public Integer call() {
    checkPositive("--runs", runs);
    checkPositive("--in-flight", inFlight);
    checkPositive("--servers", servers);
    if (latency && inFlight != null && inFlight != 1) {
      throw refused("--in-flight: " + inFlight + " (expected: none with --latency)");
    }
    if (embedded && peer == Peer.TELEMETRY) {
      throw refused("--compare: telemetry (expected: dbos with --embedded)");
    }
    if (sampled != null && (peer != Peer.TELEMETRY || !(sampled >= 0 && sampled <= 1))) {
      throw refused(
          "--sampled: " + sampled + " (expected: 0 to 1, together with --compare telemetry)");
    }
    for (Scenario scenario : scenarios) {
      if (Scenario.WITHOUT_RUNS.contains(scenario)) {
        if (peer != null && !(peer == Peer.DBOS && scenario == Scenario.TXSTEP)) {
          throw refused("--scenario: " + scenario + " (expected: one that can be compared)");
        }
        if (latency || embedded) {
          throw refused(
              "--scenario: %s (expected: one of runs with %s)"
                  .formatted(scenario, latency ? "--latency" : "--embedded"));
        }
      }
    }
    if (servers != null || peer == Peer.SERVERS) {
      return measureServers();
    }
    if (chart != null && !scenarios.contains(Scenario.GROWTH)) {
      throw refused("--chart: " + chart + " (expected: only with --scenario GROWTH)");
    }
    if (failAbove != null && (!scenarios.contains(Scenario.GROWTH) || !(failAbove >= 1))) {
      throw refused(
          "--fail-above: " + failAbove + " (expected: >= 1, together with --scenario GROWTH)");
    }
    if (scenarios.contains(Scenario.GROWTH)) {
      return measureGrowth();
    }
    PrintWriter out = spec.commandLine().getOut();
    Progress progress = new Progress(spec.commandLine().getErr());
    Report report = new Report(out, json);
    try (DatabaseServer server =
            dbUrl == null ? DatabaseServer.embedded() : DatabaseServer.at(dbUrl);
        BenchDatabase database = server.createDatabase();
        MeasuredServer measured = startServer(database);
        KagziContender kagzi = new KagziContender(database, progress, measured)) {
      if (peer == null) {
        measure(kagzi, report, progress);
      } else {
        compare(kagzi, report, progress);
      }
    }
    return CommandLine.ExitCode.OK;
  }

  private int measureServers() {
    if (servers != null && peer != null) {
      throw refused("--servers: " + servers + " (expected: none with --compare)");
    }
    if (latency || embedded) {
      throw refused(
          (latency ? "--latency" : "--embedded")
              + ": with several servers (expected: --in-flight)");
    }
    for (Scenario scenario : scenarios) {
      if (!Scenario.WITH_SERVERS.contains(scenario)) {
        throw refused("--scenario: " + scenario + " (expected: W0, W5 or W50 with servers)");
      }
    }
    Set<Scenario> measured =
        scenarios.isEmpty() ? Scenario.WITH_SERVERS : new LinkedHashSet<>(scenarios);
    ServersReport report = new ServersReport(spec.commandLine().getOut(), json);
    Progress progress = new Progress(spec.commandLine().getErr());
    try (DatabaseServer server =
        dbUrl == null ? DatabaseServer.embedded() : DatabaseServer.at(dbUrl)) {
      ServersBench bench = new ServersBench(server, progress, measured, candidates(), runs);
      if (servers == null) {
        bench.compare(report);
      } else {
        bench.measure(servers, report);
      }
    }
    return CommandLine.ExitCode.OK;
  }

  private int measureGrowth() {
    if (scenarios.size() > 1) {
      throw refused("--scenario: " + scenarios + " (expected: GROWTH alone)");
    }
    GrowthSizes sizes = new GrowthSizes(runs == null ? GrowthSizes.ENDED_DEFAULT : runs);
    GrowthReport report = new GrowthReport(spec.commandLine().getOut(), json, sizes);
    Progress progress = new Progress(spec.commandLine().getErr());
    try (DatabaseServer server =
        dbUrl == null ? DatabaseServer.embedded() : DatabaseServer.at(dbUrl)) {
      List<GrowthLine> lines = new GrowthBench(server, progress, sizes, report::print).measure();
      report.print(lines);
      if (chart != null) {
        report.draw(lines, chart);
      }
      if (failAbove != null
          && GrowthReport.printAbove(lines, failAbove, spec.commandLine().getErr())) {
        return CommandLine.ExitCode.SOFTWARE;
      }
      return CommandLine.ExitCode.OK;
    }
  }

  private MeasuredServer startServer(BenchDatabase database) {
    if (peer == Peer.TELEMETRY) {
      return ObservedServer.start(database, sampled == null ? 1 : sampled);
    }
    return embedded ? EmbeddedServer.start(database) : ServerProcess.start(database);
  }

  private void checkPositive(String name, @Nullable Integer value) {
    if (value != null && value < 1) {
      throw refused(name + ": " + value + " (expected: >= 1)");
    }
  }

  private ParameterException refused(String why) {
    return new ParameterException(spec.commandLine(), why);
  }

  private void measure(KagziContender kagzi, Report report, Progress progress) {
    for (Scenario scenario : scenarios()) {
      if (scenario == Scenario.SCHEDULES) {
        int count = runs == null ? ScheduleBench.SCHEDULES_DEFAULT : runs;
        report.print(new ScheduleBench(kagzi, progress, count).measure());
        continue;
      }
      if (scenario == Scenario.SIGNAL) {
        int count = runs == null ? SignalBench.SIGNALS_DEFAULT : runs;
        report.print(new SignalBench(kagzi, progress, count).measure());
        continue;
      }
      if (scenario == Scenario.OUTBOX) {
        int count = runs == null ? TransactionBench.STARTS_DEFAULT : runs;
        try (TransactionBench bench = new TransactionBench(kagzi, progress, count)) {
          report.print(bench.measureStarts());
        }
        continue;
      }
      if (scenario == Scenario.TXSTEP) {
        measureTransactionalSteps(kagzi, null, report, progress);
        continue;
      }
      if (scenario == Scenario.LATENCIES) {
        int calls = runs == null ? LatencyBench.CALLS_DEFAULT : runs;
        report.print(new LatencyBench(kagzi, progress, calls).measure());
        continue;
      }
      if (scenario == Scenario.PAGES) {
        int ended = runs == null ? PageBench.RUNS_DEFAULT : runs;
        report.print(new PageBench(kagzi, progress, ended).measure());
        continue;
      }
      Procedure procedure = new Procedure(kagzi, scenario, progress);
      procedure.prepare(candidates(), runs);
      report.print(procedure.measure());
    }
  }

  private void measureTransactionalSteps(
      KagziContender kagzi, @Nullable DbosContender dbos, Report report, Progress progress) {
    int count = runs == null ? TransactionBench.STEPS_DEFAULT : runs;
    try (TransactionBench bench = new TransactionBench(kagzi, progress, count)) {
      report.print(bench.measureSteps(dbos));
    }
  }

  /** The two take turns, so that changes of the machine's load affect both. */
  private void compare(KagziContender kagzi, Report report, Progress progress) {
    try (BenchDatabase database = kagzi.database().server().createDatabase();
        Contender other = startPeer(database, progress)) {
      for (Scenario scenario : scenarios()) {
        if (scenario == Scenario.TXSTEP && other instanceof DbosContender dbos) {
          measureTransactionalSteps(kagzi, dbos, report, progress);
          continue;
        }
        Procedure ours = new Procedure(kagzi, scenario, progress);
        ours.prepare(candidates(), runs);
        Procedure theirs = new Procedure(other, scenario, progress);
        theirs.prepare(theirCandidates(ours), runs);
        List<Figures> kagziFigures = new ArrayList<>();
        List<Figures> otherFigures = new ArrayList<>();
        int repetitions = peer == Peer.TELEMETRY ? TELEMETRY_REPETITIONS : COMPARED_REPETITIONS;
        for (int i = 0; i < repetitions; i++) {
          if (peer == Peer.TELEMETRY && i % 2 == 1) {
            otherFigures.add(theirs.measure());
            kagziFigures.add(ours.measure());
          } else {
            kagziFigures.add(ours.measure());
            otherFigures.add(theirs.measure());
          }
        }
        report.print(
            Figures.median(kagziFigures),
            Figures.median(otherFigures),
            latency && peer == Peer.DBOS
                ? scenario.latencyRatioMax(embedded)
                : OptionalDouble.empty());
      }
    }
  }

  private List<Integer> theirCandidates(Procedure ours) {
    if (peer == Peer.TELEMETRY) {
      return List.of(ours.inFlight());
    }
    return latency ? candidates() : List.of(DBOS_IN_FLIGHT);
  }

  private Contender startPeer(BenchDatabase database, Progress progress) {
    return peer == Peer.TELEMETRY
        ? KagziContender.withoutTelemetry(database, progress)
        : DbosContender.start(database, progress);
  }

  private Set<Scenario> scenarios() {
    if (!scenarios.isEmpty()) {
      return new LinkedHashSet<>(scenarios);
    }
    // With a sleep, runs per second depend only on the number in flight.
    EnumSet<Scenario> all = EnumSet.allOf(Scenario.class);
    all.removeAll(Scenario.WITHOUT_RUNS);
    if (peer != null) {
      all.remove(Scenario.SLEEP);
    }
    return all;
  }

  private List<Integer> candidates() {
    if (latency) {
      return List.of(1);
    }
    return inFlight == null ? CANDIDATES : List.of(inFlight);
  }
}
