package dev.kagzi.sdk.internal.log;

import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Limits a repeated warning: the same reason is logged once a minute. Thread-safe. */
public final class RepeatLimiter {
  private static final long AGAIN_NANOS = TimeUnit.MINUTES.toNanos(1);

  private @Nullable String last;
  private long lastNanos;

  /** Returns whether to log: the reason is new, or was last logged a minute ago. */
  public synchronized boolean isNew(String reason) {
    long now = System.nanoTime();
    if (reason.equals(last) && now - lastNanos < AGAIN_NANOS) {
      return false;
    }
    last = reason;
    lastNanos = now;
    return true;
  }

  public synchronized void reset() {
    last = null;
  }
}
