package dev.kagzi.bench;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The figures of one measurement.
 *
 * @param system the measured system
 * @param values by name, in the order in which they are printed; null if unknown
 * @param servers figures of each server; empty if they are not measured one by one
 */
record Figures(
    String system,
    Scenario scenario,
    int runs,
    int inFlight,
    Map<String, @Nullable Double> values,
    List<Map<String, @Nullable Double>> servers) {

  static final String RUNS_PER_S = "runs_per_s";
  static final String STEPS_PER_S = "steps_per_s";
  static final String P50_MS = "p50_ms";
  static final String P90_MS = "p90_ms";
  static final String P95_MS = "p95_ms";
  static final String P99_MS = "p99_ms";
  static final String COMMITS_PER_RUN = "commits_per_run";
  static final String STATEMENTS_PER_RUN = "statements_per_run";
  static final String RPCS_PER_RUN = "rpcs_per_run";
  static final String SPANS_PER_RUN = "spans_per_run";
  static final String SPANS_ARRIVED_RATIO = "spans_arrived_ratio";
  static final String CLIENT_CPU = "client_cpu";
  static final String SERVER_CPU = "server_cpu";
  static final String SERVER_JIT_CPU = "server_jit_cpu";
  static final String POSTGRES_CPU = "postgres_cpu";

  private static final double ROUNDING = 1_000;

  Figures(
      String system,
      Scenario scenario,
      int runs,
      int inFlight,
      Map<String, @Nullable Double> values) {
    this(system, scenario, runs, inFlight, values, List.of());
  }

  /** All figures, under the names of the JSON output. */
  Map<String, @Nullable Object> toMap() {
    Map<String, @Nullable Object> all = new LinkedHashMap<>();
    all.put("scenario", scenario.name());
    all.put("system", system);
    all.put("runs", runs);
    all.put("in_flight", inFlight);
    values.forEach((name, value) -> all.put(name, rounded(value)));
    if (!servers.isEmpty()) {
      all.put("servers", servers.stream().map(Figures::rounded).toList());
    }
    return all;
  }

  private static Map<String, @Nullable Double> rounded(Map<String, @Nullable Double> values) {
    Map<String, @Nullable Double> all = new LinkedHashMap<>();
    values.forEach((name, value) -> all.put(name, rounded(value)));
    return all;
  }

  static @Nullable Double rounded(@Nullable Double value) {
    return value == null ? null : Math.round(value * ROUNDING) / ROUNDING;
  }

  /** The median of each value; all repetitions have the same scenario and load. */
  static Figures median(List<Figures> repetitions) {
    Figures first = repetitions.getFirst();
    List<Map<String, @Nullable Double>> servers = new ArrayList<>();
    for (int i = 0; i < first.servers.size(); i++) {
      int server = i;
      servers.add(medians(repetitions.stream().map(each -> each.servers.get(server)).toList()));
    }
    return new Figures(
        first.system,
        first.scenario,
        first.runs,
        first.inFlight,
        medians(repetitions.stream().map(Figures::values).toList()),
        servers);
  }

  private static Map<String, @Nullable Double> medians(
      List<Map<String, @Nullable Double>> repetitions) {
    Map<String, @Nullable Double> medians = new LinkedHashMap<>();
    for (String name : repetitions.getFirst().keySet()) {
      double[] sorted =
          repetitions.stream()
              .map(values -> values.get(name))
              .filter(value -> value != null)
              .mapToDouble(Double::doubleValue)
              .sorted()
              .toArray();
      medians.put(name, sorted.length == 0 ? null : sorted[sorted.length / 2]);
    }
    return medians;
  }

  /** Processor time for each run, in milliseconds, from cores in use; null if it is unknown. */
  @Nullable Double cpuMsPerRun(String cores) {
    Double used = values.get(cores);
    Double runsPerSecond = values.get(RUNS_PER_S);
    return used == null || runsPerSecond == null ? null : used * 1_000 / runsPerSecond;
  }

  /**
   * Processor time of the servers for each run, in milliseconds, without their JIT compilers: three
   * servers compile the same code three times, but only once in their life.
   */
  @Nullable Double serverMsPerRun() {
    Double all = cpuMsPerRun(SERVER_CPU);
    Double compilers = cpuMsPerRun(SERVER_JIT_CPU);
    return all == null || compilers == null ? all : Double.valueOf(all - compilers);
  }

  /** This value divided by the other's; null if that is impossible. */
  @Nullable Double ratio(Figures other, String name) {
    Double value = values.get(name);
    Double otherValue = other.values.get(name);
    return value == null || otherValue == null || otherValue == 0 ? null : value / otherValue;
  }
}
