package dev.kagzi.torture;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * The number of results over time. Counted in windows of two seconds, since results come in bursts
 * after a pause, and sampled every quarter of a second.
 */
final class Throughput {
  private static final long WINDOW_NANOS = Duration.ofSeconds(2).toNanos();
  private static final long LOOK_NANOS = Duration.ofMillis(250).toNanos();
  private static final long BEFORE_NANOS = Duration.ofSeconds(10).toNanos();
  private static final long STAYS_NANOS = Duration.ofSeconds(3).toNanos();
  private static final double BACK_SHARE = 0.9;

  private final long[] sortedNanos;

  private Throughput(long[] sortedNanos) {
    this.sortedNanos = sortedNanos;
  }

  static Throughput of(List<Long> resultNanos) {
    long[] sorted = resultNanos.stream().mapToLong(Long::longValue).toArray();
    Arrays.sort(sorted);
    return new Throughput(sorted);
  }

  /**
   * Returns how long after a fault throughput was back at nine tenths of its earlier median and
   * stayed there. Empty if that was not observed before the end. Zero if the fault had no effect.
   */
  Optional<Duration> recovery(long faultNanos, long endNanos) {
    double enough = BACK_SHARE * medianBefore(faultNanos);
    long backNanos = faultNanos;
    for (long at = faultNanos; at + WINDOW_NANOS <= endNanos; at += LOOK_NANOS) {
      if (count(at) < enough) {
        backNanos = at + LOOK_NANOS;
      } else if (at - backNanos >= STAYS_NANOS) {
        return Optional.of(Duration.ofNanos(backNanos - faultNanos));
      }
    }
    return Optional.empty();
  }

  /** Results per second before the fault. */
  double rateBefore(long faultNanos) {
    return medianBefore(faultNanos) * 1e9 / WINDOW_NANOS;
  }

  private double medianBefore(long faultNanos) {
    List<Integer> counts = new ArrayList<>();
    for (long at = faultNanos - BEFORE_NANOS; at + WINDOW_NANOS <= faultNanos; at += LOOK_NANOS) {
      counts.add(count(at));
    }
    counts.sort(null);
    return counts.get(counts.size() / 2);
  }

  /** The number of results in the window that begins here. */
  private int count(long fromNanos) {
    return index(fromNanos + WINDOW_NANOS) - index(fromNanos);
  }

  private int index(long nanos) {
    int found = Arrays.binarySearch(sortedNanos, nanos);
    return found < 0 ? -found - 1 : found;
  }
}
