package dev.kagzi.bench;

import java.time.Duration;
import java.util.Arrays;

/**
 * One latency and its target.
 *
 * @param unit of the values and of the target: ms, or %
 * @param target the median must be below it
 */
record Latency(String name, String unit, double p50, double p99, double target) {
  private static final double NANOS_PER_MS = 1e6;
  private static final double OVERHEAD_TARGET_PERCENT = 10;

  static Latency of(String name, long[] nanos, double targetMs) {
    Outcome outcome = Outcome.of(Arrays.stream(nanos).sum(), nanos);
    return new Latency(name, "ms", outcome.p50Ms(), outcome.p99Ms(), targetMs);
  }

  /** The overhead of a run with parallel steps, compared to the duration of one step. */
  static Latency overhead(int branches, long[] nanos, Duration step) {
    Outcome outcome = Outcome.of(Arrays.stream(nanos).sum(), nanos);
    return new Latency(
        "parallel overhead, " + branches,
        "%",
        percent(outcome.p50Ms(), step),
        percent(outcome.p99Ms(), step),
        OVERHEAD_TARGET_PERCENT);
  }

  private static double percent(double ms, Duration step) {
    double stepMs = step.toNanos() / NANOS_PER_MS;
    return (ms - stepMs) / stepMs * 100;
  }

  boolean isMet() {
    return p50 < target;
  }
}
