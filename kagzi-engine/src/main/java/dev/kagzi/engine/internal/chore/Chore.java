package dev.kagzi.engine.internal.chore;

import java.time.Duration;

public interface Chore {
  /**
   * Does the work that is due. May block on the database. The coordinator logs an exception and
   * calls it again at the next interval.
   */
  void run();

  /** A chore with a longer interval than the coordinator's; the first time after one interval. */
  static Chore every(Duration interval, Runnable work) {
    return new Chore() {
      private long lastNanos = System.nanoTime();

      @Override
      public void run() {
        long now = System.nanoTime();
        if (now - lastNanos >= interval.toNanos()) {
          lastNanos = now;
          work.run();
        }
      }
    };
  }
}
