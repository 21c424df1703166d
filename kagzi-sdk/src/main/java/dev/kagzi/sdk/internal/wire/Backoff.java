package dev.kagzi.sdk.internal.wire;

import java.util.concurrent.ThreadLocalRandom;

/** Exponential back-off for one operation. Not thread-safe. */
public final class Backoff {
  private final long firstMs;
  private final long maxMs;
  private long nextMs;

  public Backoff(long firstMs, long maxMs) {
    this.firstMs = firstMs;
    this.maxMs = maxMs;
    this.nextMs = firstMs;
  }

  /** Returns the next delay, varied by up to 25 % so that many clients do not retry at once. */
  public long nextMs() {
    long delayMs = nextMs;
    nextMs = Math.min(maxMs, nextMs * 2);
    return Math.max(1, Math.round(delayMs * ThreadLocalRandom.current().nextDouble(0.75, 1.25)));
  }

  public void reset() {
    nextMs = firstMs;
  }
}
