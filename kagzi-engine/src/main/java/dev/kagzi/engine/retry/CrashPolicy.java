package dev.kagzi.engine.retry;

import java.util.random.RandomGenerator;

/**
 * Back-off and limit for runs whose workers crash or become stale. Each claim that is taken from a
 * crashed or stale worker counts as a crash. A recorded step, a suspension (sleep, wait for
 * children or signals, delay of a step's retry), a retry and a resume of the run reset the count.
 * After the first crash another worker may take the run over at once. Later take-overs are delayed,
 * so that a run cannot crash all workers at once. A run with more crashes than the limit fails.
 *
 * @param delayFirstMs delay before the second take-over in a row; doubled for each later one
 * @param delayMaxMs upper bound of the delay
 * @param limit number of take-overs in a row that are allowed
 */
public record CrashPolicy(long delayFirstMs, long delayMaxMs, int limit) {
  public static final CrashPolicy DEFAULT = new CrashPolicy(1_000, 60_000, 10);

  private static final double JITTER = 0.25;
  private static final int DOUBLINGS_MAX = 30;

  public CrashPolicy {
    check(delayFirstMs >= 0, "delayFirstMs", delayFirstMs, ">= 0");
    check(delayMaxMs >= delayFirstMs, "delayMaxMs", delayMaxMs, ">= " + delayFirstMs);
    check(limit >= 0, "limit", limit, ">= 0");
  }

  public boolean isOver(int crashes) {
    return crashes > limit;
  }

  /** The delay before the next claim of a run that had this many crashes before the current one. */
  public long delayMs(int crashesBefore, RandomGenerator random) {
    if (crashesBefore == 0) {
      return 0;
    }
    double exact =
        Math.min(
            (double) delayMaxMs,
            (double) delayFirstMs * Math.pow(2, Math.min(crashesBefore - 1, DOUBLINGS_MAX)));
    double spread = exact * (1 + JITTER * (2 * random.nextDouble() - 1));
    return Math.min(delayMaxMs, Math.round(spread));
  }

  private static void check(boolean holds, String what, long found, String expected) {
    if (!holds) {
      throw new IllegalArgumentException(what + ": " + found + " (expected: " + expected + ")");
    }
  }
}
