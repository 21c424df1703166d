package dev.kagzi.engine.memory;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Bytes that may be held at one time. Somebody is always let in when nothing is held, whatever the
 * amount: a budget smaller than the largest message would refuse that forever. Thread-safe.
 */
public final class ByteBudget {
  private final long bytesMax;
  private final AtomicLong held = new AtomicLong();

  public ByteBudget(long bytesMax) {
    this.bytesMax = bytesMax;
  }

  /** Takes so many bytes; false when they are not free. */
  public boolean tryAcquire(long bytes) {
    return tryAcquire(bytes, bytesMax);
  }

  /**
   * The same for what is small and has to go on while large things wait, such as heartbeats: it may
   * exceed the budget by half.
   */
  public boolean tryAcquireSmall(long bytes) {
    return tryAcquire(bytes, bytesMax + bytesMax / 2);
  }

  private boolean tryAcquire(long bytes, long max) {
    long before = held.getAndAdd(bytes);
    if (before > 0 && before + bytes > max) {
      held.addAndGet(-bytes);
      return false;
    }
    return true;
  }

  /** Takes so many bytes that are there already, free or not. */
  public void add(long bytes) {
    held.addAndGet(bytes);
  }

  public void release(long bytes) {
    held.addAndGet(-bytes);
  }

  /** How many bytes are free; none when more are held than there are. */
  public long free() {
    return Math.max(0, bytesMax - held.get());
  }

  public long bytesMax() {
    return bytesMax;
  }

  /** How many bytes are held now. */
  public long held() {
    return held.get();
  }
}
