package dev.kagzi.engine.memory;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Limits the bytes that are held at one time. When nothing is held, any amount is granted:
 * otherwise a message larger than the budget would be refused forever. Thread-safe.
 */
public final class ByteBudget {
  private final long bytesMax;
  private final AtomicLong held = new AtomicLong();

  public ByteBudget(long bytesMax) {
    this.bytesMax = bytesMax;
  }

  public boolean tryAcquire(long bytes) {
    return tryAcquire(bytes, bytesMax);
  }

  /** Like {@link #tryAcquire}, for small requests: they may exceed the budget by half. */
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

  /** Adds bytes that are already allocated, even beyond the budget. */
  public void add(long bytes) {
    held.addAndGet(bytes);
  }

  public void release(long bytes) {
    held.addAndGet(-bytes);
  }

  /** Number of free bytes; 0 if the budget is used up or exceeded. */
  public long free() {
    return Math.max(0, bytesMax - held.get());
  }

  public long bytesMax() {
    return bytesMax;
  }

  public long held() {
    return held.get();
  }
}
