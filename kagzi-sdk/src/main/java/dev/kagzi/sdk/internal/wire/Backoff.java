package dev.kagzi.sdk.internal.wire;

import java.util.concurrent.ThreadLocalRandom;

/** Growing pauses between tries of one thing. Not thread-safe: each thing has its own. */
public final class Backoff {
  private final long firstMs;
  private final long maxMs;
  private long nextMs;

  public Backoff(long firstMs, long maxMs) {
    this.firstMs = firstMs;
    this.maxMs = maxMs;
    this.nextMs = firstMs;
  }

  /** The pause before the next try, varied by a quarter so that many do not come at once. */
  public long nextMs() {
    long exact = nextMs;
    nextMs = Math.min(maxMs, nextMs * 2);
    return Math.max(1, Math.round(exact * ThreadLocalRandom.current().nextDouble(0.75, 1.25)));
  }

  /** It worked: the next failure begins anew. */
  public void reset() {
    nextMs = firstMs;
  }
}
