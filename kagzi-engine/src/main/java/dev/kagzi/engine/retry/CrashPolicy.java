package dev.kagzi.engine.retry;

import java.util.random.RandomGenerator;

/**
 * What becomes of a run whose workers end or go silent, again and again. A take-over counts as a
 * crash until the run records a step. The first is immediate; later ones wait, so that a run that
 * kills its workers does not kill them all at once; over the limit the run fails.
 *
 * @param delayFirstMs what the second take-over in a row waits; each later one twice as long
 * @param delayMaxMs up to here
 * @param limit so many take-overs in a row are borne
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

  /** True when a run that was taken over so often shall not be tried again. */
  public boolean isOver(int crashes) {
    return crashes > limit;
  }

  /** How long a run waits that had been taken over so often before this time. */
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
