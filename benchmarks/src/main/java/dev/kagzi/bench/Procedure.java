package dev.kagzi.bench;

import dev.kagzi.bench.Contender.Counters;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Measures one system on one scenario: {@link #prepare} warms it up and chooses the load, {@link
 * #measure} measures and can be repeated.
 */
final class Procedure {
  private static final Duration WARM_UP_SLICE = Duration.ofSeconds(3);
  private static final int WARM_UP_SLICES_MIN = 4;
  private static final int WARM_UP_SLICES_MAX = 8;

  // Each of several servers compiles by itself, with a part of the load and of the cores.
  private static final int WARM_UP_SLICES_MAX_SERVERS = 60;

  // Sequential runs warm up a JVM too slowly: its compilers would run for minutes, on the cores
  // that the runs need. Many concurrent runs take other code paths than a single one.
  private static final int WARM_UP_CALLERS = 8;
  private static final double WARM_UP_GAIN_MIN = 1.05;

  // Whoever measures fewer runs tries the program out, and their figures mean nothing anyway.
  private static final int TRIAL_RUNS = 100;
  private static final Duration TRIAL = Duration.ofSeconds(2);
  private static final Duration MEASURED = Duration.ofSeconds(6);
  private static final Duration STATISTICS_DELAY = Duration.ofMillis(1_100);
  private static final int FLUSH_RUNS = 32;
  private static final double OTHERS_CORES_MAX = 0.3;

  private final Contender contender;
  private final Scenario scenario;
  private final Progress progress;
  private int inFlight;
  private int runs;
  private long flushCommits;

  Procedure(Contender contender, Scenario scenario, Progress progress) {
    this.contender = contender;
    this.scenario = scenario;
    this.progress = progress;
  }

  /**
   * Warms up and chooses the load.
   *
   * @param candidates numbers of runs in flight; the best one is chosen
   * @param fixedRuns how many runs to measure, or null for as many as take a few seconds
   */
  void prepare(List<Integer> candidates, @Nullable Integer fixedRuns) {
    int runsMax = fixedRuns == null ? Integer.MAX_VALUE : fixedRuns;
    int callers = candidates.get(candidates.size() / 2);
    if (callers < WARM_UP_CALLERS) {
      warmUp(WARM_UP_CALLERS, runsMax < TRIAL_RUNS ? runsMax : Integer.MAX_VALUE);
    }
    warmUp(callers, runsMax);
    contender.database().vacuum();
    inFlight = candidates.getFirst();
    runs = runsMax;
    if (candidates.size() > 1 || fixedRuns == null) {
      double rate = choose(candidates, runsMax);
      if (fixedRuns == null) {
        // Whole rounds, so that the callers end together.
        int rounds = (int) Math.ceil(rate * MEASURED.toSeconds() / inFlight);
        runs = Math.max(1, rounds) * inFlight;
      }
      contender.database().vacuum();
    }
    long before = commitsSoFar();
    flushCommits = commitsSoFar() - before;
  }

  /** Repeats until throughput no longer rises, so that no JIT compilation is measured. */
  private void warmUp(int callers, int runsMax) {
    print("warming up");
    int left = runsMax;
    double best = 0;
    int servers = contender.serverPids().size();
    int slicesMax = servers > 1 ? WARM_UP_SLICES_MAX_SERVERS : WARM_UP_SLICES_MAX;
    for (int slice = 0; slice < slicesMax && left > 0; slice++) {
      CpuWatch cpu = new CpuWatch(contender);
      Outcome outcome = contender.run(scenario, new Load(callers, left, WARM_UP_SLICE));
      left -= outcome.runs();
      if (slice + 1 >= WARM_UP_SLICES_MIN
          && outcome.runsPerSecond() < best * WARM_UP_GAIN_MIN
          && (servers < 2 || cpu.cores().isCompiled())) {
        return;
      }
      best = Math.max(best, outcome.runsPerSecond());
    }
  }

  private double choose(List<Integer> candidates, int runsMax) {
    double best = 0;
    for (int candidate : candidates) {
      Outcome trial = contender.run(scenario, new Load(candidate, runsMax, TRIAL));
      print("%,.0f runs/s with %d in flight".formatted(trial.runsPerSecond(), candidate));
      if (trial.runsPerSecond() > best) {
        best = trial.runsPerSecond();
        inFlight = candidate;
      }
    }
    if (candidates.size() > 1) {
      print("best with %d in flight".formatted(inFlight));
    }
    return best;
  }

  int inFlight() {
    return inFlight;
  }

  int runs() {
    return runs;
  }

  Figures measure() {
    print("measuring %,d runs, %d in flight".formatted(runs, inFlight));
    contender.database().server().checkpoint(progress);
    long commits = commitsSoFar();
    Counters before = contender.counters();
    CpuWatch cpu = new CpuWatch(contender);
    Outcome outcome = contender.run(scenario, Load.of(inFlight, runs));
    CpuWatch.Cores cores = cpu.cores();
    Counters after = contender.counters();
    commits = commitsSoFar() - commits - flushCommits;
    // Autovacuum would do it during the next measurement, perhaps that of the other system.
    contender.database().vacuum();
    print(
        "%,.0f runs/s, p50 %.2f ms, p95 %.2f ms, p99 %.2f ms"
            .formatted(outcome.runsPerSecond(), outcome.p50Ms(), outcome.p95Ms(), outcome.p99Ms()));
    if (cores.others().orElse(0) > OTHERS_CORES_MAX) {
      print(
          "other processes used %.2f cores meanwhile: on a quiet machine the figures are better"
              .formatted(cores.others().orElse(0)));
    }
    return figures(outcome, commits, before, after, cores);
  }

  private Figures figures(
      Outcome outcome, long commits, Counters before, Counters after, CpuWatch.Cores cores) {
    double count = outcome.runs();
    Map<String, @Nullable Double> values = new LinkedHashMap<>();
    values.put(Figures.RUNS_PER_S, outcome.runsPerSecond());
    values.put(Figures.STEPS_PER_S, outcome.runsPerSecond() * scenario.steps());
    values.put(Figures.P50_MS, outcome.p50Ms());
    values.put(Figures.P90_MS, outcome.p90Ms());
    values.put(Figures.P95_MS, outcome.p95Ms());
    values.put(Figures.P99_MS, outcome.p99Ms());
    values.put(Figures.COMMITS_PER_RUN, Math.max(0, commits) / count);
    values.put(
        Figures.STATEMENTS_PER_RUN,
        after.statements() < 0 ? null : (after.statements() - before.statements()) / count);
    values.put(
        Figures.RPCS_PER_RUN,
        after.requests() < 0 ? null : (after.requests() - before.requests()) / count);
    putSpans(values, count, before.spans(), after.spans());
    values.put(Figures.CLIENT_CPU, orNull(cores.client()));
    values.put(Figures.SERVER_CPU, orNull(cores.server()));
    values.put(Figures.SERVER_JIT_CPU, orNull(cores.compilers()));
    values.put(Figures.POSTGRES_CPU, orNull(cores.postgres()));
    List<Map<String, @Nullable Double>> servers = new ArrayList<>();
    for (int i = 0; i < after.servers().size(); i++) {
      servers.add(after.servers().get(i).perRun(before.servers().get(i), count));
    }
    return new Figures(contender.name(), scenario, outcome.runs(), inFlight, values, servers);
  }

  private static void putSpans(
      Map<String, @Nullable Double> values,
      double runs,
      @Nullable SpanCounts before,
      @Nullable SpanCounts after) {
    if (before != null && after != null) {
      double ended = after.ended() - before.ended();
      values.put(Figures.SPANS_PER_RUN, ended / runs);
      values.put(
          Figures.SPANS_ARRIVED_RATIO,
          ended == 0 ? null : (after.arrived() - before.arrived()) / ended);
    }
  }

  private static @Nullable Double orNull(OptionalDouble value) {
    return value.isPresent() ? value.getAsDouble() : null;
  }

  /**
   * PostgreSQL's commit count, with all commits so far. A session reports its transactions at most
   * once a second, and when it is idle only much later. So this executes a few more runs after a
   * second; {@link #prepare} measures their commits by doing it twice.
   */
  private long commitsSoFar() {
    LockSupport.parkNanos(STATISTICS_DELAY.toNanos());
    int flushRuns = scenario == Scenario.SLEEP ? Math.min(inFlight, FLUSH_RUNS) : FLUSH_RUNS;
    contender.run(scenario, Load.of(inFlight, flushRuns));
    return contender.database().commits();
  }

  private void print(String text) {
    progress.print(contender.name() + " " + scenario + ": " + text);
  }
}
