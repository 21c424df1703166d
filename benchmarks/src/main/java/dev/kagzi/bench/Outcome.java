package dev.kagzi.bench;

import java.util.Arrays;

/** The result of a load; latencies are from the call that starts a run to its result. */
record Outcome(int runs, double seconds, double p50Ms, double p90Ms, double p95Ms, double p99Ms) {

  private static final double NANOS_PER_MS = 1e6;

  static Outcome of(long elapsedNanos, long[] latencyNanos) {
    long[] sorted = latencyNanos.clone();
    Arrays.sort(sorted);
    return new Outcome(
        sorted.length,
        elapsedNanos / 1e9,
        percentile(sorted, 0.50),
        percentile(sorted, 0.90),
        percentile(sorted, 0.95),
        percentile(sorted, 0.99));
  }

  /** By nearest rank: the smallest value that at least this share does not exceed. */
  private static double percentile(long[] sorted, double part) {
    if (sorted.length == 0) {
      return Double.NaN;
    }
    return sorted[(int) Math.ceil(part * sorted.length) - 1] / NANOS_PER_MS;
  }

  double runsPerSecond() {
    return runs / seconds;
  }
}
