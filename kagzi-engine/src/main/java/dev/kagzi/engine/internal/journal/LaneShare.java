package dev.kagzi.engine.internal.journal;

import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;

/**
 * How many lanes this server uses. Servers on one database divide the configured number of lanes
 * among them: with two lanes and two servers, each server uses one. Otherwise two servers would use
 * twice as many lanes, each lane would get half of the writes, and a run would cost twice the
 * commits. Thread-safe.
 */
final class LaneShare {
  /** A lane does not pause after a batch with fewer writes. */
  private static final int PAUSE_WRITES_MIN = 8;

  private static final long PAUSE_NANOS_MAX = TimeUnit.MILLISECONDS.toNanos(10);

  private final int lanes;
  private final IntSupplier servers;

  LaneShare(int lanes, IntSupplier servers) {
    this.lanes = lanes;
    this.servers = servers;
  }

  /** Returns the lane that executes the writes of this lane: itself if this server uses it. */
  int laneFor(int lane) {
    return lane % Math.max(1, lanes / servers.getAsInt());
  }

  /**
   * Returns how long a lane waits after a commit, so that the next batch grows. It waits only if
   * there are more servers than lanes: each server then uses one lane, and still too many lanes
   * commit at once.
   */
  long pauseNanos(int writes, long commitNanos) {
    return servers.getAsInt() > lanes && writes >= PAUSE_WRITES_MIN
        ? Math.min(PAUSE_NANOS_MAX, commitNanos / 2)
        : 0;
  }
}
