package dev.kagzi.sdk.internal.log;

import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Limits a warning that is repeated for as long as its reason lasts, such as a server that is away:
 * the same reason passes once a minute. Thread-safe.
 */
public final class RepeatLimiter {
  private static final long AGAIN_NANOS = TimeUnit.MINUTES.toNanos(1);

  private @Nullable String last;
  private long lastNanos;

  /** Whether the reason is another than the last one, or was last passed a minute ago. */
  public synchronized boolean isNew(String reason) {
    long now = System.nanoTime();
    if (reason.equals(last) && now - lastNanos < AGAIN_NANOS) {
      return false;
    }
    last = reason;
    lastNanos = now;
    return true;
  }

  /** The reason is gone: the next one is new. */
  public synchronized void reset() {
    last = null;
  }
}
