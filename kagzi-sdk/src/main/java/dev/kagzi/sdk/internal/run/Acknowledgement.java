package dev.kagzi.sdk.internal.run;

import dev.kagzi.protocol.v1.ReportResult;
import dev.kagzi.sdk.internal.report.ReportListener;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The answer to one report, for the run's threads to wait for. Thread-safe. */
final class Acknowledgement implements ReportListener {
  private final Thread waiter;

  /** Further waiters, which are seldom. */
  private volatile List<Thread> others = List.of();

  private volatile @Nullable ReportResult result;

  Acknowledgement(Thread waiter) {
    this.waiter = waiter;
  }

  @Override
  public void answered(ReportResult result) {
    this.result = result;
    LockSupport.unpark(waiter);
    others.forEach(LockSupport::unpark);
  }

  /** Another thread waits for it too; to be said before it looks for the result. */
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
