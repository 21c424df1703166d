package dev.kagzi.sdk.internal.jdbc;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The rows that the server did not accept at their last try, and when each is tried again. The
 * delay grows with each try. In memory only, so another relay may try them sooner. Thread-safe.
 */
final class OutboxRetries {
  private static final long FIRST_MS = 200;
  private static final long MS_MAX = 10_000;

  /** A row that was not found in the outbox for this long was sent by another relay, or deleted. */
  private static final long UNSEEN_NANOS_MAX = TimeUnit.SECONDS.toNanos(15);

  private final LongSupplier nanoClock;
  private final Map<Long, Retry> waiting = new HashMap<>();
  private String lastReason = "";

  private record Retry(int tries, long dueNanos, long seenNanos) {}

  OutboxRetries(LongSupplier nanoClock) {
    this.nanoClock = nanoClock;
  }

  /** Whether the row, which this relay has found in the outbox, is to be sent now. */
  synchronized boolean isDue(long id) {
    Retry retry = waiting.get(id);
    if (retry == null) {
      return true;
    }
    long now = nanoClock.getAsLong();
    waiting.put(id, new Retry(retry.tries, retry.dueNanos, now));
    return now - retry.dueNanos >= 0;
  }

  synchronized void failed(long id, Throwable failure) {
    Retry before = waiting.get(id);
    int tries = before == null ? 0 : before.tries;
    long pauseMs = Math.min(MS_MAX, FIRST_MS << Math.min(tries, 10));
    long now = nanoClock.getAsLong();
    waiting.put(id, new Retry(tries + 1, now + TimeUnit.MILLISECONDS.toNanos(pauseMs), now));
    lastReason = "id %d: %s".formatted(id, message(failure));
  }

  /** The row was sent or refused. */
  synchronized void ended(long id) {
    waiting.remove(id);
  }

  /** Returns how many rows wait for their next try. */
  synchronized int count() {
    long now = nanoClock.getAsLong();
    waiting.values().removeIf(retry -> now - retry.seenNanos > UNSEEN_NANOS_MAX);
    return waiting.size();
  }

  /** Returns why a row was not accepted, with its id. */
  synchronized String lastReason() {
    return lastReason;
  }

  private static @Nullable String message(Throwable failure) {
    return failure.getMessage() == null ? failure.toString() : failure.getMessage();
  }
}
