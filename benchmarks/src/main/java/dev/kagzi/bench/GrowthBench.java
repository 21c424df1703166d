package dev.kagzi.bench;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.ToDoubleBiFunction;
import java.util.function.ToDoubleFunction;

/**
 * Measures whether Kagzi stays fast while its tables grow. It measures most lines on empty tables
 * and on tables with many runs, in turn. Then it measures more workers, queues and namespaces, a
 * long load, an old transaction, and an idle server.
 */
final class GrowthBench {
  private static final Duration WARM_UP = Duration.ofSeconds(15);
  private static final double IDLE_STATEMENTS_MAX = 1;
  private static final double IDLE_CORES_MAX = 0.01;
  private static final double SLEEPS_ON_TIME_MS_MAX = 250;

  /** For each of 100,000 sleeps that end within one second: 5 s for all of them. */
  private static final double SLEEP_IN_ONE_SECOND_MS_MAX = 0.05;

  private static final double SLEEPS_IN_ONE_SECOND_MS_MIN = 1_000;

  private final DatabaseServer server;
  private final Progress progress;
  private final GrowthSizes sizes;
  private final Consumer<GrowthLine> onLine;
  private final List<GrowthLine> lines = new ArrayList<>();

  /**
   * Creates the measurement.
   *
   * @param onLine called with each line as soon as it is measured
   */
  GrowthBench(
      DatabaseServer server, Progress progress, GrowthSizes sizes, Consumer<GrowthLine> onLine) {
    this.server = server;
    this.progress = progress;
    this.sizes = sizes;
    this.onLine = onLine;
  }

  List<GrowthLine> measure() {
    try (BenchDatabase empty = server.createDatabase();
        BenchDatabase filled = server.createDatabase()) {
      compare(empty, filled);
      compareIdle(empty, filled);
      return List.copyOf(lines);
    }
  }

  private void compare(BenchDatabase empty, BenchDatabase filled) {
    try (MeasuredServer emptyServer = startServer(empty);
        MeasuredServer filledServer = startServer(filled);
        KagziContender emptyContender = new KagziContender(empty, progress, emptyServer);
        KagziContender filledContender = new KagziContender(filled, progress, filledServer)) {
      // More than a page, so that both lists have a next one.
      GrowthTables.addFailed(empty, 2 * GrowthLoads.PAGE);
      GrowthTables.fill(filled, sizes, progress);
      GrowthLoads before = new GrowthLoads(emptyContender, progress, sizes);
      GrowthLoads after = new GrowthLoads(filledContender, progress, sizes);
      warmUp(before);
      warmUp(after);
      compareTables(before, after);
      compareLoads(before);
      afterLoad(before, after);
      underOldTransaction(before, empty);
    }
  }

  /**
   * Starts a server that deletes expired runs every second instead of every ten minutes, so that
   * the time of a purge can be measured.
   */
  private static MeasuredServer startServer(BenchDatabase database) {
    return ServerProcess.start(database, Map.of("KAGZI_RETENTION_INTERVAL", "1s"));
  }

  private void warmUp(GrowthLoads loads) {
    print("warming up");
    Duration share = sizes.repetitions() == 1 ? Duration.ofMillis(500) : WARM_UP;
    loads.load(Scenario.W0, share);
    loads.load(Scenario.W5, share);
  }

  private void compareTables(GrowthLoads empty, GrowthLoads filled) {
    rate("W0", empty, filled, loads -> loads.runsPerSecond(Scenario.W0));
    rate("W5", empty, filled, loads -> loads.runsPerSecond(Scenario.W5));
    print("start and claim");
    List<Latency> emptyCalls = empty.startAndClaim();
    List<Latency> filledCalls = filled.startAndClaim();
    add(GrowthLine.time("start", emptyCalls.getFirst().p50(), filledCalls.getFirst().p50()));
    add(GrowthLine.time("claim", emptyCalls.getLast().p50(), filledCalls.getLast().p50()));
    time("list", empty, filled, GrowthLoads::listMs);
    time("list of failed runs", empty, filled, GrowthLoads::listFailedMs);
    time("stats", empty, filled, GrowthLoads::statsMs);
    time("retention", empty, filled, GrowthLoads::purgeMs);
    rate("P100", empty, filled, GrowthLoads::parallelSteps);
    rate("C100", empty, filled, GrowthLoads::children);
    rate("256 KiB payloads", empty, filled, GrowthLoads::largePayloads);
    time("resume of a long run", empty, filled, GrowthLoads::resumeMs);
    compareSleeps(empty, filled);
    rate("burst", empty, filled, GrowthLoads::burst);
  }

  private void compareSleeps(GrowthLoads empty, GrowthLoads filled) {
    double[] onTime = inTurn("sleeps on time", empty, filled, loads -> loads.sleepsOnTime().p99());
    add(GrowthLine.cost("sleeps on time, p99", "ms", onTime[0], onTime[1], SLEEPS_ON_TIME_MS_MAX));
    String name = "%,d sleeps due in one second".formatted(sizes.sleepsInOneSecond());
    List<GrowthLoads.Lateness> emptyLateness = new ArrayList<>();
    List<GrowthLoads.Lateness> filledLateness = new ArrayList<>();
    print(name);
    for (int i = 0; i < sizes.repetitions(); i++) {
      emptyLateness.add(empty.sleepsInOneSecond());
      filledLateness.add(filled.sleepsInOneSecond());
    }
    ToDoubleFunction<GrowthLoads.Lateness> p99 = GrowthLoads.Lateness::p99;
    add(GrowthLine.time(name + ", p99", median(emptyLateness, p99), median(filledLateness, p99)));
    ToDoubleFunction<GrowthLoads.Lateness> last = GrowthLoads.Lateness::last;
    add(
        GrowthLine.cost(
            name + ", last",
            "ms",
            median(emptyLateness, last),
            median(filledLateness, last),
            Math.max(
                SLEEPS_IN_ONE_SECOND_MS_MIN,
                sizes.sleepsInOneSecond() * SLEEP_IN_ONE_SECOND_MS_MAX)));
  }

  private static double median(
      List<GrowthLoads.Lateness> all, ToDoubleFunction<GrowthLoads.Lateness> figure) {
    return median(all.stream().mapToDouble(figure).toArray());
  }

  /** More workers, queues and namespaces, on the tables that were empty at first. */
  private void compareLoads(GrowthLoads loads) {
    int some = Math.max(2, sizes.workersMax() / 10);
    compareWith(loads, "workers", List.of(some, sizes.workersMax()), GrowthLoads::withWorkers);
    compareWith(loads, "queues", List.of(sizes.queues()), GrowthLoads::withQueues);
    compareWith(loads, "namespaces", List.of(sizes.namespaces()), GrowthLoads::withNamespaces);
  }

  /** One and many take turns, so that changes of the machine's load affect all. */
  private void compareWith(
      GrowthLoads loads,
      String what,
      List<Integer> counts,
      ToDoubleBiFunction<GrowthLoads, Integer> figure) {
    print(what);
    double[] one = new double[sizes.repetitions()];
    double[][] many = new double[counts.size()][sizes.repetitions()];
    for (int i = 0; i < one.length; i++) {
      one[i] = figure.applyAsDouble(loads, 1);
      for (int c = 0; c < many.length; c++) {
        many[c][i] = figure.applyAsDouble(loads, counts.get(c));
      }
    }
    for (int c = 0; c < many.length; c++) {
      String name = "W5, %,d %s".formatted(counts.get(c), what);
      add(GrowthLine.rate(name, median(one), median(many[c])));
    }
  }

  private void afterLoad(GrowthLoads empty, GrowthLoads filled) {
    print("load for " + sizes.load());
    filled.load(Scenario.W5, sizes.load());
    rate("W5 after a long load", empty, filled, loads -> loads.runsPerSecond(Scenario.W5));
  }

  private void underOldTransaction(GrowthLoads loads, BenchDatabase database) {
    double before = median(loads, "W5", each -> each.runsPerSecond(Scenario.W5));
    try (Connection transaction = GrowthTables.openTransaction(database)) {
      print("load for " + sizes.openTransaction() + " under a transaction");
      loads.load(Scenario.W5, sizes.openTransaction());
      double under = median(loads, "W5 under it", each -> each.runsPerSecond(Scenario.W5));
      add(GrowthLine.rate("W5 under an old transaction", before, under));
      transaction.rollback();
    } catch (SQLException e) {
      throw new BenchException("cannot end the transaction: " + e.getMessage(), e);
    }
  }

  /**
   * Compares idle servers with default settings. The servers of the other lines are never idle,
   * because they search for expired runs every second.
   */
  private void compareIdle(BenchDatabase empty, BenchDatabase filled) {
    GrowthTables.addSchedules(filled, sizes.schedules());
    GrowthLoads.IdleCost before = idle(empty);
    GrowthLoads.IdleCost after = idle(filled);
    add(
        GrowthLine.cost(
            "idle, statements",
            "per second",
            before.statementsPerSecond(),
            after.statementsPerSecond(),
            IDLE_STATEMENTS_MAX));
    add(GrowthLine.cost("idle, cores", "cores", before.cores(), after.cores(), IDLE_CORES_MAX));
  }

  private GrowthLoads.IdleCost idle(BenchDatabase database) {
    print("idle");
    try (MeasuredServer started = ServerProcess.start(database);
        KagziContender contender = new KagziContender(database, progress, started)) {
      return new GrowthLoads(contender, progress, sizes).idle();
    }
  }

  private void rate(
      String name, GrowthLoads empty, GrowthLoads filled, ToDoubleFunction<GrowthLoads> figure) {
    double[] medians = inTurn(name, empty, filled, figure);
    add(GrowthLine.rate(name, medians[0], medians[1]));
  }

  private void time(
      String name, GrowthLoads empty, GrowthLoads filled, ToDoubleFunction<GrowthLoads> figure) {
    double[] medians = inTurn(name, empty, filled, figure);
    add(GrowthLine.time(name, medians[0], medians[1]));
  }

  /** The two take turns, so that changes of the machine's load affect both. */
  private double[] inTurn(
      String name, GrowthLoads empty, GrowthLoads filled, ToDoubleFunction<GrowthLoads> figure) {
    print(name);
    double[] emptyFigures = new double[sizes.repetitions()];
    double[] filledFigures = new double[sizes.repetitions()];
    for (int i = 0; i < sizes.repetitions(); i++) {
      emptyFigures[i] = figure.applyAsDouble(empty);
      filledFigures[i] = figure.applyAsDouble(filled);
    }
    return new double[] {median(emptyFigures), median(filledFigures)};
  }

  private double median(GrowthLoads loads, String name, ToDoubleFunction<GrowthLoads> figure) {
    print(name);
    double[] figures = new double[sizes.repetitions()];
    for (int i = 0; i < figures.length; i++) {
      figures[i] = figure.applyAsDouble(loads);
    }
    return median(figures);
  }

  private static double median(double[] figures) {
    double[] sorted = figures.clone();
    Arrays.sort(sorted);
    return sorted[sorted.length / 2];
  }

  private void add(GrowthLine line) {
    lines.add(line);
    onLine.accept(line);
  }

  private void print(String text) {
    progress.print(Scenario.GROWTH + ": " + text);
  }
}
