package dev.kagzi.bench;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Measures what a run costs with several servers on one database: with one number of servers, or
 * with one, two and three in turn at the same load.
 */
final class ServersBench {
  static final double HAND_OVER_TARGET_MS = 10;
  static final double COST_RATIO_MAX = 1.3;

  private static final int COMPARED_SERVERS = 3;
  private static final int COMPARED_REPETITIONS = 3;

  /** The number of clients is the same for one, two and three servers, and a multiple of each. */
  private static final int COMPARED_CLIENTS = 6;

  /**
   * A result of {@link #compare}: its figures, and the costs of a run divided by those with one
   * server.
   */
  record Compared(
      Figures figures, @Nullable Latency handOver, Map<String, @Nullable Double> ratios) {

    /**
     * Whether each known cost is at most {@code COST_RATIO_MAX} times that of one server, and the
     * hand-over meets its target.
     */
    boolean isMet() {
      return ratios.values().stream().allMatch(ratio -> ratio == null || ratio <= COST_RATIO_MAX)
          && (handOver == null || handOver.isMet());
    }
  }

  private final DatabaseServer server;
  private final Progress progress;
  private final Set<Scenario> scenarios;
  private final List<Integer> candidates;
  private final @Nullable Integer runs;

  /**
   * Creates the measurement.
   *
   * @param candidates numbers of runs in flight; the best one with the fewest servers is used
   * @param runs how many runs to measure, or null for as many as take a few seconds
   */
  ServersBench(
      DatabaseServer server,
      Progress progress,
      Set<Scenario> scenarios,
      List<Integer> candidates,
      @Nullable Integer runs) {
    this.server = server;
    this.progress = progress;
    this.scenarios = scenarios;
    this.candidates = candidates;
    this.runs = runs;
  }

  void measure(int servers, ServersReport report) {
    try (BenchDatabase database = server.createDatabase();
        ServersContender contender = ServersContender.start(servers, servers, database, progress)) {
      for (Scenario scenario : scenarios) {
        Procedure procedure = new Procedure(contender, scenario, progress);
        procedure.prepare(candidates, runs);
        Figures figures = procedure.measure();
        report.print(figures, contender.handOverBetweenServers(HAND_OVER_TARGET_MS));
      }
    }
  }

  void compare(ServersReport report) {
    Deque<Runnable> open = new ArrayDeque<>();
    try {
      List<ServersContender> contenders = new ArrayList<>();
      for (int servers = 1; servers <= COMPARED_SERVERS; servers++) {
        BenchDatabase database = server.createDatabase();
        open.push(database::close);
        ServersContender contender =
            ServersContender.start(servers, COMPARED_CLIENTS, database, progress);
        open.push(contender::close);
        contenders.add(contender);
      }
      for (Scenario scenario : scenarios) {
        report.print(compare(contenders, scenario));
      }
    } finally {
      open.forEach(Runnable::run);
    }
  }

  private List<Compared> compare(List<ServersContender> contenders, Scenario scenario) {
    List<Procedure> procedures = new ArrayList<>();
    for (ServersContender contender : contenders) {
      Procedure procedure = new Procedure(contender, scenario, progress);
      if (procedures.isEmpty()) {
        procedure.prepare(candidates, runs);
      } else {
        Procedure one = procedures.getFirst();
        procedure.prepare(List.of(one.inFlight()), one.runs());
      }
      procedures.add(procedure);
    }
    List<List<Figures>> figures = new ArrayList<>();
    procedures.forEach(procedure -> figures.add(new ArrayList<>()));
    for (int i = 0; i < COMPARED_REPETITIONS; i++) {
      for (int n = 0; n < procedures.size(); n++) {
        figures.get(n).add(procedures.get(n).measure());
      }
    }
    Figures one = Figures.median(figures.getFirst());
    List<Compared> compared = new ArrayList<>();
    for (int n = 0; n < contenders.size(); n++) {
      Figures median = Figures.median(figures.get(n));
      compared.add(
          new Compared(
              median,
              contenders.get(n).handOverBetweenServers(HAND_OVER_TARGET_MS),
              ratios(median, one)));
    }
    return compared;
  }

  /** The costs of a run, divided by those with one server. */
  static Map<String, @Nullable Double> ratios(Figures figures, Figures one) {
    Map<String, @Nullable Double> ratios = new LinkedHashMap<>();
    for (String name : List.of(Figures.STATEMENTS_PER_RUN, Figures.COMMITS_PER_RUN)) {
      ratios.put(name, figures.ratio(one, name));
    }
    ratios.put("server_cpu_per_run", ratio(figures.serverMsPerRun(), one.serverMsPerRun()));
    ratios.put(
        "postgres_cpu_per_run",
        ratio(figures.cpuMsPerRun(Figures.POSTGRES_CPU), one.cpuMsPerRun(Figures.POSTGRES_CPU)));
    return ratios;
  }

  private static @Nullable Double ratio(@Nullable Double value, @Nullable Double ofOne) {
    return value == null || ofOne == null || ofOne == 0 ? null : Double.valueOf(value / ofOne);
  }
}
