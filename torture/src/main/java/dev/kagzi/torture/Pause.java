package dev.kagzi.torture;

import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/** Waits: for the length of faults and steps, and between the runs of a caller. */
final class Pause {
  private Pause() {}

  static void of(Duration duration) throws InterruptedException {
    boolean never = new Semaphore(0).tryAcquire(duration.toNanos(), TimeUnit.NANOSECONDS);
    if (never) {
      throw new AssertionError("the semaphore has no permits");
    }
  }

  /** Waits like code that ignores its interrupts. */
  static void ignoringInterrupts(Duration duration) {
    long untilNanos = System.nanoTime() + duration.toNanos();
    for (long left = duration.toNanos(); left > 0; left = untilNanos - System.nanoTime()) {
      try {
        of(Duration.ofNanos(left));
      } catch (InterruptedException e) {
        // Ignored on purpose: the scenario needs unresponsive code.
      }
    }
  }

  /** For threads that are interrupted only if the program ends. */
  static void ofUnchecked(Duration duration) {
    try {
      of(duration);
    } catch (InterruptedException e) {
      throw TortureException.interrupted(e);
    }
  }
}
