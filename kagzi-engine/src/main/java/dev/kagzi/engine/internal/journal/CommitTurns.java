package dev.kagzi.engine.internal.journal;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Limits how many lanes of this server commit at once, so that all servers on a database together
 * commit about as often as one server does. Without it, three servers have three times the lanes,
 * each with a third of the writes, and a run costs three times the commits. Thread-safe.
 *
 * <p>One server never waits here. Several servers with few writes do not wait either.
 */
final class CommitTurns {
  /** Fewer writes than this, in a batch and the next one together, do not wait. */
  private static final int WRITES_MIN = 8;

  /** A lane whose connection stalls must not stop the others. */
  private static final long WAIT_NANOS_MAX = TimeUnit.MILLISECONDS.toNanos(50);

  private final int lanes;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private volatile int servers = 1;
  private int busy;
  private long waits;
  private long nextNanos = System.nanoTime();

  CommitTurns(int lanes) {
    this.lanes = lanes;
  }

  void setServers(int count) {
    servers = Math.max(1, count);
  }

  /** Whether other servers commit to the database too. */
  boolean areShared() {
    return servers > 1;
  }

  /**
   * Waits until this lane may commit, for a limited time.
   *
   * @param writes the size of the lane's last batch, and the writes that wait
   */
  void begin(int writes) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      if (servers > 1 && writes >= WRITES_MIN) {
        long giveUp = System.nanoTime() + WAIT_NANOS_MAX;
        long left = waitNanos(giveUp);
        waits += left > 0 ? 1 : 0;
        while (left > 0) {
          changed.awaitNanos(left);
          left = waitNanos(giveUp);
        }
      }
      busy++;
    } finally {
      lock.unlock();
    }
  }

  private long waitNanos(long giveUp) {
    long now = System.nanoTime();
    long untilGiveUp = giveUp - now;
    return busy >= Math.max(1, lanes / servers)
        ? untilGiveUp
        : Math.min(untilGiveUp, nextNanos - now);
  }

  /** How many commits had to wait. */
  long waits() {
    lock.lock();
    try {
      return waits;
    } finally {
      lock.unlock();
    }
  }

  /** Ends the turn. With more servers than lanes, the next turn of this server begins later. */
  void end(long commitNanos) {
    lock.lock();
    try {
      busy--;
      if (servers > lanes) {
        nextNanos = System.nanoTime() + commitNanos * (servers - lanes) / lanes;
      }
      changed.signal();
    } finally {
      lock.unlock();
    }
  }
}
