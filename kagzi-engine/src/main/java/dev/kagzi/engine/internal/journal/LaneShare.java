package dev.kagzi.engine.internal.journal;

import java.util.concurrent.TimeUnit;

/**
 * How many lanes this server uses. Servers on one database share the lanes of one server: with two
 * lanes and two servers, each uses one. Otherwise three servers would have three times the lanes,
 * each with a third of the writes, and a run would cost three times the commits. Thread-safe.
 */
final class LaneShare {
  /** After a smaller batch a lane does not pause. */
  private static final int PAUSE_WRITES_MIN = 8;

  private static final long PAUSE_NANOS_MAX = TimeUnit.MILLISECONDS.toNanos(10);

  private final int lanes;
  private volatile int servers = 1;

  LaneShare(int lanes) {
    this.lanes = lanes;
  }

  void setServers(int count) {
    servers = Math.max(1, count);
  }

  /** The lane that writes for this one; itself if it is in use. */
  int laneFor(int lane) {
    return lane % Math.max(1, lanes / servers);
  }

  /**
   * How long a lane waits after a commit, for the next batch to grow. More servers than lanes
   * commit at once, although each uses only one.
   */
  long pauseNanos(int writes, long commitNanos) {
    return servers > lanes && writes >= PAUSE_WRITES_MIN
        ? Math.min(PAUSE_NANOS_MAX, commitNanos / 2)
        : 0;
  }
}
