package dev.kagzi.engine.internal.journal;

import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;

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
  private final IntSupplier servers;

  LaneShare(int lanes, IntSupplier servers) {
    this.lanes = lanes;
    this.servers = servers;
  }

  /** The lane that writes for this one; itself if it is in use. */
  int laneFor(int lane) {
    return lane % Math.max(1, lanes / servers.getAsInt());
  }

  /**
   * How long a lane waits after a commit, for the next batch to grow. More servers than lanes
   * commit at once, although each uses only one.
   */
  long pauseNanos(int writes, long commitNanos) {
    return servers.getAsInt() > lanes && writes >= PAUSE_WRITES_MIN
        ? Math.min(PAUSE_NANOS_MAX, commitNanos / 2)
        : 0;
  }
}
