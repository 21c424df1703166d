package dev.kagzi.torture;

import java.io.PrintWriter;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.locks.ReentrantLock;

/** Prints progress, each line with its time. Thread-safe. */
final class Console {
  private final PrintWriter out;
  private final long beganNanos = System.nanoTime();
  private final ReentrantLock lock = new ReentrantLock();

  Console(PrintWriter out) {
    this.out = out;
  }

  void printTimed(String line) {
    print("[%6.1f s] %s".formatted(seconds(System.nanoTime() - beganNanos), line));
  }

  /** Prints a line without a time. */
  void print(String line) {
    lock.lock();
    try {
      out.println(line);
      out.flush();
    } finally {
      lock.unlock();
    }
  }

  static String seconds(Duration duration) {
    return String.format(Locale.ROOT, "%.1f s", seconds(duration.toNanos()));
  }

  private static double seconds(long nanos) {
    return nanos / 1e9;
  }
}
