package dev.kagzi.server.web;

import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.Map;

/**
 * Counts wrong tokens per minute: of one address, and of all together, since an attacker may have
 * many. Only further wrong tokens are beyond the limit: if it refused the right one as well,
 * anybody could lock everybody out, for example all users of a proxy. Thread-safe.
 */
final class LoginLimit {
  private static final int FAILURES_OF_ADDRESS_MAX = 10;
  private static final int FAILURES_MAX = 100;

  private final InstantSource clock;
  private final Map<String, Integer> failures = new HashMap<>();
  private Instant minute = Instant.EPOCH;
  private int failuresOfAll;

  LoginLimit(InstantSource clock) {
    this.clock = clock;
  }

  /** Counts a wrong token of the address; returns whether it is beyond the limit. */
  synchronized boolean isExceededBy(String address) {
    Instant now = clock.instant().truncatedTo(ChronoUnit.MINUTES);
    if (!now.equals(minute)) {
      minute = now;
      failures.clear();
      failuresOfAll = 0;
    }
    if (failuresOfAll >= FAILURES_MAX
        || failures.getOrDefault(address, 0) >= FAILURES_OF_ADDRESS_MAX) {
      return true;
    }
    failuresOfAll++;
    failures.merge(address, 1, Integer::sum);
    return false;
  }
}
