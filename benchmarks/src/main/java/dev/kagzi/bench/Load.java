package dev.kagzi.bench;

import java.time.Duration;

/**
 * The load on a system: it ends with the runs or the time, whichever comes first.
 *
 * @param inFlight callers, each of which starts a run, waits for its result, and starts the next
 */
record Load(int inFlight, int runsMax, Duration timeMax) {

  private static final Duration FOREVER = Duration.ofDays(1);

  Load {
    check("inFlight", inFlight);
    check("runsMax", runsMax);
  }

  private static void check(String name, int value) {
    if (value < 1) {
      throw new IllegalArgumentException(name + ": " + value + " (expected: >= 1)");
    }
  }

  /** Exactly this many runs. */
  static Load of(int inFlight, int runs) {
    return new Load(inFlight, runs, FOREVER);
  }
}
