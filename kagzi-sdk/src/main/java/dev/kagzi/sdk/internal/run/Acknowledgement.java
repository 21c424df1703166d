package dev.kagzi.sdk.internal.run;

import dev.kagzi.protocol.v1.ReportResult;
import dev.kagzi.sdk.internal.report.ReportListener;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** The answer to one report, for the run's thread to wait for. */
final class Acknowledgement implements ReportListener {
  private final Thread waiter;
  private volatile @Nullable ReportResult result;

  Acknowledgement(Thread waiter) {
    this.waiter = waiter;
  }

  @Override
  public void answered(ReportResult result) {
    this.result = result;
    LockSupport.unpark(waiter);
  }

  @Nullable ReportResult result() {
    return result;
  }
}
