package dev.kagzi.engine.report;

import dev.kagzi.engine.retry.RetryPolicy;

/**
 * What the engine decides by.
 *
 * @param defaultPolicy where neither step nor run have one
 * @param shortWaitMs a wait below this is waited for in place
 * @param crashBackoffFirstMs the second take-over in a row waits this long, later ones twice as
 *     long each
 * @param crashBackoffMaxMs up to here
 */
public record Rules(
    RetryPolicy defaultPolicy, long shortWaitMs, long crashBackoffFirstMs, long crashBackoffMaxMs) {

  public static final Rules DEFAULT = new Rules(RetryPolicy.DEFAULT, 1_000, 1_000, 60_000);

  /** How long a run waits that was taken over so often before without making progress. */
  public long crashBackoffMs(int crashes) {
    if (crashes == 0) {
      return 0;
    }
    double delay = (double) crashBackoffFirstMs * Math.pow(2, Math.min(crashes - 1, 30));
    return (long) Math.min((double) crashBackoffMaxMs, delay);
  }
}
