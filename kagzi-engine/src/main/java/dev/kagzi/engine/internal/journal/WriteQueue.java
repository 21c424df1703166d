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
 * <p>A queue can forward its writes to the queue of a lane with a lower index. All methods that
 * lock two queues lock the one with the higher index first, so they cannot deadlock.
 */
final class WriteQueue<W extends Write<?>> {
  private final long bytesMax;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition filled = lock.newCondition();
  private final Deque<W> waiting = new ArrayDeque<>();
  private final Deque<Place<W>> line = new ArrayDeque<>();
  private volatile @Nullable WriteQueue<W> forward;
  private long bytes;
  private boolean closed;

  WriteQueue(long bytesMax) {
    this.bytesMax = bytesMax;
  }

  /** A position in the line of callers that wait for space; free space wakes only the first. */
  static final class Place<W extends Write<?>> {
    private final WriteQueue<W> origin;

    // Both change while the locks of the former and of the new queue are held.
    private volatile WriteQueue<W> queue;
    private volatile Condition turn;

    private Place(WriteQueue<W> origin, WriteQueue<W> queue) {
      this.origin = origin;
      this.queue = queue;
      this.turn = queue.lock.newCondition();
    }

    private void moveTo(WriteQueue<W> other) {
      Condition former = turn;
      queue = other;
      turn = other.lock.newCondition();
      other.line.add(this);
      former.signal();
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

  /** Reserves a position. The caller must pass it to {@link #offer(Place, List, long)}. */
  Place<W> reservePlace() {
    return reservePlace(this);
  }

  private Place<W> reservePlace(WriteQueue<W> origin) {
    lock.lock();
    try {
      WriteQueue<W> other = forward;
      if (other != null) {
        return other.reservePlace(origin);
      }
      Place<W> place = new Place<>(origin, this);
      line.add(place);
      return place;
    } finally {
      lock.unlock();
    }
  }

  /** Waits for space and earlier positions; false after {@code nanosMax} or if closed. */
  static <W extends Write<?>> boolean offer(Place<W> place, List<W> writes, long nanosMax)
      throws InterruptedException {
    long giveUpNanos = System.nanoTime() + nanosMax;
    Boolean added;
    do {
      added = place.queue.offerHere(place, writes, giveUpNanos);
    } while (added == null);
    return added;
  }

  /** Returns null if the place was moved to another queue. */
  private @Nullable Boolean offerHere(Place<W> place, List<W> writes, long giveUpNanos)
      throws InterruptedException {
    lock.lock();
    try {
      while (place.queue == this && !closed && (!hasSpace() || line.peek() != place)) {
        long left = giveUpNanos - System.nanoTime();
        if (left <= 0) {
          return false;
        }
        place.turn.awaitNanos(left);
      }
      return place.queue == this ? Boolean.valueOf(!closed && add(writes)) : null;
    } finally {
      if (place.queue == this) {
        line.remove(place);
        signalNext();
      }
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
   * Moves all writes and waiting callers to another queue, and forwards later ones. No write of
   * this queue may be under way. Does nothing if either queue is closed.
   */
  void forwardTo(WriteQueue<W> other) {
    lock.lock();
    other.lock.lock();
    try {
      if (!closed && !other.closed) {
        forward = other;
        other.addAll(pollAll(write -> true));
        moveLine(other, place -> true);
      }
    } finally {
      other.lock.unlock();
      lock.unlock();
    }
  }

  /**
   * Ends the forwarding, and takes back those writes and waiting callers of the other queue that
   * belong to this one. No write of this queue may be under way. Does nothing if this one is
   * closed.
   */
  void takeBack(WriteQueue<W> other, Predicate<W> belongs) {
    lock.lock();
    other.lock.lock();
    try {
      if (forward == other && !closed) {
        forward = null;
        addAll(other.pollAll(belongs));
        other.moveLine(this, place -> place.origin == this);
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

  private void moveLine(WriteQueue<W> other, Predicate<Place<W>> which) {
    List<Place<W>> moved = line.stream().filter(which).toList();
    line.removeAll(moved);
    moved.forEach(place -> place.moveTo(other));
    signalNext();
    other.signalNext();
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
