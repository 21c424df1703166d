package dev.kagzi.engine.internal.journal;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The queue of a lane, bounded in bytes. When it is full, callers wait in FIFO order: a write must
 * not overtake an earlier one with the same key. Thread-safe.
 */
final class WriteQueue<W extends Write<?>> {
  private final long bytesMax;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition filled = lock.newCondition();
  private final Deque<W> waiting = new ArrayDeque<>();
  private final Deque<Place> line = new ArrayDeque<>();
  private long bytes;
  private boolean closed;

  WriteQueue(long bytesMax) {
    this.bytesMax = bytesMax;
  }

  /** A position in the line of callers that wait for space; free space wakes only the first. */
  static final class Place {
    private final Condition turn;

    private Place(Condition turn) {
      this.turn = turn;
    }
  }

  /**
   * Adds the writes and returns true, unless the queue is full or closed, or callers wait in line.
   * A queue below its limit accepts writes of any size.
   */
  boolean offer(List<W> writes) {
    lock.lock();
    try {
      return !closed && line.isEmpty() && hasSpace() && add(writes);
    } finally {
      lock.unlock();
    }
  }

  /** Reserves a position. The caller must pass it to {@link #offer(Place, List, long)}. */
  Place reservePlace() {
    Place place = new Place(lock.newCondition());
    lock.lock();
    try {
      line.add(place);
    } finally {
      lock.unlock();
    }
    return place;
  }

  /** Waits for space and earlier positions; false after {@code nanosMax} or if closed. */
  boolean offer(Place place, List<W> writes, long nanosMax) throws InterruptedException {
    long left = nanosMax;
    lock.lock();
    try {
      while (!closed && (!hasSpace() || line.peek() != place)) {
        if (left <= 0) {
          return false;
        }
        left = place.turn.awaitNanos(left);
      }
      return !closed && add(writes);
    } finally {
      line.remove(place);
      signalNext();
      lock.unlock();
    }
  }

  private void signalNext() {
    if (!line.isEmpty()) {
      line.element().turn.signal();
    }
  }

  private boolean hasSpace() {
    return bytes < bytesMax;
  }

  private boolean add(List<W> writes) {
    for (W write : writes) {
      waiting.add(write);
      bytes += write.bytes();
    }
    filled.signal();
    return true;
  }

  /** Waits for a write. Returns how many wait; 0 if closed and drained. */
  int awaitWrites() throws InterruptedException {
    lock.lockInterruptibly();
    try {
      while (waiting.isEmpty() && !closed) {
        filled.await();
      }
      return waiting.size();
    } finally {
      lock.unlock();
    }
  }

  /** Takes up to the limits, at least one write if any waits. */
  List<W> poll(int writesMax, long bytesMax) {
    lock.lock();
    try {
      return waiting.isEmpty() ? List.of() : pollSome(writesMax, bytesMax);
    } finally {
      lock.unlock();
    }
  }

  private List<W> pollSome(int writesMax, long bytesMax) {
    List<W> batch = new ArrayList<>(Math.min(writesMax, waiting.size()));
    long taken = 0;
    while (!waiting.isEmpty() && batch.size() < writesMax) {
      W head = waiting.element();
      if (!batch.isEmpty() && taken + head.bytes() > bytesMax) {
        break;
      }
      taken += head.bytes();
      batch.add(waiting.remove());
    }
    bytes -= taken;
    signalNext();
    return batch;
  }

  List<W> drain() {
    return poll(Integer.MAX_VALUE, Long.MAX_VALUE);
  }

  int size() {
    lock.lock();
    try {
      return waiting.size();
    } finally {
      lock.unlock();
    }
  }

  long bytes() {
    lock.lock();
    try {
      return bytes;
    } finally {
      lock.unlock();
    }
  }

  void close() {
    lock.lock();
    try {
      closed = true;
      filled.signalAll();
      line.forEach(place -> place.turn.signal());
    } finally {
      lock.unlock();
    }
  }
}
