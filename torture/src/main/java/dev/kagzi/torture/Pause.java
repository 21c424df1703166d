package dev.kagzi.torture;

import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/** Lets time pass: faults last, steps take their time, and load comes at a pace. */
final class Pause {
  private Pause() {}

  static void of(Duration duration) throws InterruptedException {
    boolean never = new Semaphore(0).tryAcquire(duration.toNanos(), TimeUnit.NANOSECONDS);
    if (never) {
      throw new AssertionError("nobody gives permits");
    }
  }

  /** As code does that ignores its interrupts. */
  static void deaf(Duration duration) {
    long untilNanos = System.nanoTime() + duration.toNanos();
    for (long left = duration.toNanos(); left > 0; left = untilNanos - System.nanoTime()) {
      try {
        of(Duration.ofNanos(left));
      } catch (InterruptedException e) {
        // Nobody listens.
      }
    }
  }

  /** For threads that nobody interrupts unless the program ends. */
  static void ofUnchecked(Duration duration) {
    try {
      of(duration);
    } catch (InterruptedException e) {
      throw TortureException.interrupted(e);
    }
  }
}
