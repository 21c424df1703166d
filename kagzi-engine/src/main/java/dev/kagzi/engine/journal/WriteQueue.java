package dev.kagzi.engine.journal;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * What waits for a lane, bounded in bytes. When it is full, those who come queue up before it, so
 * that nobody overtakes: a write must not arrive before an earlier one of the same run.
 * Thread-safe.
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

  /** Somebody's place in the line before a full intake; only the first is ever woken. */
  static final class Place {
    private final Condition turn;

    private Place(Condition turn) {
      this.turn = turn;
    }
  }

  /** Takes the writes in if there is room; an empty intake has room for anything. */
  boolean offer(List<W> writes) {
    lock.lock();
    try {
      return !closed && line.isEmpty() && hasRoom() && add(writes);
    } finally {
      lock.unlock();
    }
  }

  /** Whoever takes a place must come with it to the other offer. */
  Place queueUp() {
    Place place = new Place(lock.newCondition());
    lock.lock();
    try {
      line.add(place);
    } finally {
      lock.unlock();
    }
    return place;
  }

  /** The same, waiting for room and for those before; false when that took too long. */
  boolean offer(Place place, List<W> writes, long nanosMax) throws InterruptedException {
    long left = nanosMax;
    lock.lock();
    try {
      while (!closed && (!hasRoom() || line.peek() != place)) {
        if (left <= 0) {
          return false;
        }
        left = place.turn.awaitNanos(left);
      }
      return !closed && add(writes);
    } finally {
      line.remove(place);
      callNext();
      lock.unlock();
    }
  }

  private void callNext() {
    if (!line.isEmpty()) {
      line.element().turn.signal();
    }
  }

  private boolean hasRoom() {
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

  /** Blocks for the first write only, then takes what is there; empty once closed and drained. */
  List<W> take(int writesMax, long bytesMax) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      while (waiting.isEmpty()) {
        if (closed) {
          return List.of();
        }
        filled.await();
      }
      return poll(writesMax, bytesMax);
    } finally {
      lock.unlock();
    }
  }

  private List<W> poll(int writesMax, long bytesMax) {
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
    callNext();
    return batch;
  }

  /** Everything that waits, now. */
  List<W> drain() {
    lock.lock();
    try {
      return waiting.isEmpty() ? List.of() : poll(Integer.MAX_VALUE, Long.MAX_VALUE);
    } finally {
      lock.unlock();
    }
  }

  int size() {
    lock.lock();
    try {
      return waiting.size();
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
