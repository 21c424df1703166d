package dev.kagzi.torture;

import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;

/** The injected faults and whether they were survived. Thread-safe. */
final class FaultTally {
  private final ReentrantLock lock = new ReentrantLock();
  private final List<Done> faults = new ArrayList<>();

  /** A fault that is healed. */
  private record Done(FaultKind kind, long injectedNanos, long healedNanos) {}

  void healed(FaultKind kind, long injectedNanos) {
    lock.lock();
    try {
      faults.add(new Done(kind, injectedNanos, System.nanoTime()));
    } finally {
      lock.unlock();
    }
  }

  int count() {
    lock.lock();
    try {
      return faults.size();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Returns a table for people. A fault is survived if results arrived after it was healed.
   *
   * @param lastResultNanos when the last result was received
   */
  List<String> table(long lastResultNanos) {
    Map<FaultKind, List<Done>> byKind = new EnumMap<>(FaultKind.class);
    lock.lock();
    try {
      faults.forEach(
          fault -> byKind.computeIfAbsent(fault.kind, kind -> new ArrayList<>()).add(fault));
    } finally {
      lock.unlock();
    }
    List<String> lines = new ArrayList<>();
    lines.add("%-34s %8s %8s %10s".formatted("fault", "injected", "survived", "down, max"));
    byKind.forEach((kind, done) -> lines.add(line(kind, done, lastResultNanos)));
    return lines;
  }

  private static String line(FaultKind kind, List<Done> done, long lastResultNanos) {
    long survived = done.stream().filter(each -> each.healedNanos - lastResultNanos < 0).count();
    long maxNanos =
        done.stream().mapToLong(each -> each.healedNanos - each.injectedNanos).max().orElse(0);
    return "%-34s %8d %8d %10s"
        .formatted(kind.text(), done.size(), survived, Console.seconds(Duration.ofNanos(maxNanos)));
  }
}
