package dev.kagzi.sdk.internal.run;

import dev.kagzi.protocol.v1.ReportResult;
import dev.kagzi.sdk.internal.report.ReportListener;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The answer to one report, which the run's threads can wait for. Thread-safe. */
final class ReportAnswer implements ReportListener {
  private final Thread waiter;

  /** Other threads that wait for the answer; usually none. */
  private volatile List<Thread> others = List.of();

  private volatile @Nullable ReportResult result;

  ReportAnswer(Thread waiter) {
    this.waiter = waiter;
  }

  @Override
  public void answered(ReportResult result) {
    this.result = result;
    LockSupport.unpark(waiter);
    others.forEach(LockSupport::unpark);
  }

  /** Adds a thread to wake; call this before checking the result, or the wake-up may be missed. */
  void alsoWake(Thread other) {
    if (!other.equals(waiter)) {
      add(other);
    }
  }

  private synchronized void add(Thread other) {
    others = Stream.concat(others.stream(), Stream.of(other)).toList();
  }

  @Nullable ReportResult result() {
    return result;
  }
}
