package dev.kagzi.server.web;

import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.Map;

/**
 * Limits failed logins per minute: of one address, and of all together, since an attacker may have
 * many. Sessions and requests with the token are not affected. Thread-safe.
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

  synchronized boolean isReached(String address) {
    begin();
    return failuresOfAll >= FAILURES_MAX
        || failures.getOrDefault(address, 0) >= FAILURES_OF_ADDRESS_MAX;
  }

  synchronized void failed(String address) {
    begin();
    failuresOfAll++;
    failures.merge(address, 1, Integer::sum);
  }

  private void begin() {
    Instant now = clock.instant().truncatedTo(ChronoUnit.MINUTES);
    if (!now.equals(minute)) {
      minute = now;
      failures.clear();
      failuresOfAll = 0;
    }
  }
}
