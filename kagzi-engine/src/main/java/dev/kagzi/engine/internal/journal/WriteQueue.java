package dev.kagzi.engine.internal.journal;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The queue of a lane, bounded in bytes. When it is full, callers wait in FIFO order: a write must
 * not overtake an earlier one with the same key. Thread-safe.
 *
 * <p>A queue can forward its writes to another, which has the lower index of both: this is the
 * order in which the locks of two queues are taken, the higher index first.
 */
final class WriteQueue<W extends Write<?>> {
  private final long bytesMax;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition filled = lock.newCondition();
  private final Deque<W> waiting = new ArrayDeque<>();
  private final Deque<Place> line = new ArrayDeque<>();
  private volatile @Nullable WriteQueue<W> forward;
  private long bytes;
  private boolean closed;

  WriteQueue(long bytesMax) {
    this.bytesMax = bytesMax;
  }

  /** A position in the line of callers that wait for space; free space wakes only the first. */
  static final class Place {
    private final WriteQueue<?> queue;
    private final Condition turn;

    private Place(WriteQueue<?> queue) {
      this.queue = queue;
      this.turn = queue.lock.newCondition();
    }
  }

  /**
   * Adds the writes and returns true, unless the queue is full or closed, or callers wait in line.
   * A queue below its limit accepts writes of any size.
   */
  boolean offer(List<W> writes) {
    lock.lock();
    try {
      WriteQueue<W> other = forward;
      if (other != null) {
        return other.offer(writes);
      }
      return !closed && line.isEmpty() && hasSpace() && add(writes);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Reserves a position, in the queue that this one forwards to if it does. The caller must pass it
   * to {@link #offer(Place, List, long)}.
   */
  Place reservePlace() {
    lock.lock();
    try {
      WriteQueue<W> other = forward;
      if (other != null) {
        return other.reservePlace();
      }
      Place place = new Place(this);
      line.add(place);
      return place;
    } finally {
      lock.unlock();
    }
  }

  /** Waits for space and earlier positions; false after {@code nanosMax} or if closed. */
  boolean offer(Place place, List<W> writes, long nanosMax) throws InterruptedException {
    if (place.queue != this) {
      // The writes of this queue have the same type.
      @SuppressWarnings("unchecked")
      WriteQueue<W> queue = (WriteQueue<W>) place.queue;
      return queue.offer(place, writes, nanosMax);
    }
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

  /**
   * Moves all writes to another queue, and forwards later ones. No write of this queue may be under
   * way. Does nothing while callers wait for space in this queue, or if one of both is closed.
   */
  void forwardTo(WriteQueue<W> other) {
    lock.lock();
    other.lock.lock();
    try {
      if (line.isEmpty() && !closed && !other.closed) {
        forward = other;
        other.addAll(pollAll(write -> true));
      }
    } finally {
      other.lock.unlock();
      lock.unlock();
    }
  }

  /**
   * Ends the forwarding, and takes back those writes of the other queue that belong to this one. No
   * write of this queue may be under way. Does nothing while callers wait for space in the other.
   */
  void takeBack(WriteQueue<W> other, Predicate<W> belongs) {
    lock.lock();
    other.lock.lock();
    try {
      if (forward == other && other.line.isEmpty()) {
        forward = null;
        addAll(other.pollAll(belongs));
      }
    } finally {
      other.lock.unlock();
      lock.unlock();
    }
  }

  boolean forwards() {
    return forward != null;
  }

  boolean forwardsTo(WriteQueue<W> other) {
    return forward == other;
  }

  private void addAll(List<W> writes) {
    if (!writes.isEmpty()) {
      add(writes);
    }
  }

  private List<W> pollAll(Predicate<W> which) {
    List<W> taken = new ArrayList<>();
    for (Iterator<W> all = waiting.iterator(); all.hasNext(); ) {
      W write = all.next();
      if (which.test(write)) {
        taken.add(write);
        all.remove();
        bytes -= write.bytes();
      }
    }
    return taken;
  }

  /** Waits for a write, then takes up to the limits, at least one; empty if closed and drained. */
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
    signalNext();
    return batch;
  }

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
