package dev.kagzi.server.http;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Decides how long the response to a wrong token is delayed. In each minute, the first {@value
 * #FREE_PER_MINUTE} wrong tokens of an address are not delayed, and each further one doubles the
 * delay, up to a limit. Responses to valid tokens are never delayed. Keeps a limited number of
 * addresses and of delayed responses. Thread-safe.
 */
final class WrongTokens {
  static final int FREE_PER_MINUTE = 5;
  static final int ADDRESSES_MAX = 10_000;
  static final int DELAYED_MAX = 1_000;
  private static final long DELAY_MS_FIRST = 100;
  private static final long DELAY_MS_MAX = 5_000;
  private static final int DOUBLINGS_MAX = 10;

  private final InstantSource clock;
  private final AtomicInteger delayed = new AtomicInteger();
  private Instant minute = Instant.EPOCH;

  private final Map<String, Integer> counts =
      new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Integer> eldest) {
          return size() > ADDRESSES_MAX;
        }
      };

  WrongTokens(InstantSource clock) {
    this.clock = clock;
  }

  /** Counts a wrong token of the address; returns how long the response to it is delayed. */
  synchronized Duration delay(String address) {
    Instant now = clock.instant().truncatedTo(ChronoUnit.MINUTES);
    if (!now.equals(minute)) {
      minute = now;
      counts.clear();
    }
    int count = counts.merge(address, 1, Integer::sum);
    int beyond = count - FREE_PER_MINUTE;
    return beyond <= 0
        ? Duration.ZERO
        : Duration.ofMillis(
            Math.min(DELAY_MS_MAX, DELAY_MS_FIRST << Math.min(beyond - 1, DOUBLINGS_MAX)));
  }

  synchronized int addresses() {
    return counts.size();
  }

  /**
   * Returns false if too many responses are delayed already. If it returns true, the caller must
   * call {@link #answered} after the response.
   */
  boolean mayDelay() {
    if (delayed.incrementAndGet() <= DELAYED_MAX) {
      return true;
    }
    delayed.decrementAndGet();
    return false;
  }

  void answered() {
    delayed.decrementAndGet();
  }
}
