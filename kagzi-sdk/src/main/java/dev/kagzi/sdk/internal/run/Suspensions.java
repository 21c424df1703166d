package dev.kagzi.sdk.internal.run;

import dev.kagzi.protocol.v1.RecordedStep;
import dev.kagzi.protocol.v1.ReportItem;
import dev.kagzi.protocol.v1.ReportResult;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * The suspensions of a run's workflow threads. While one thread is busy, the run keeps its claim
 * and the others wait in place. When all threads wait, and none of them waits for a time that is
 * less than a second away, the run is released until the earliest of these times or until awaited
 * steps end. Guarded by the lock of the execution state.
 */
final class Suspensions {
  /** Shorter waits keep the claim. For runs without branches, the server's short wait decides. */
  private static final long KEEP_CLAIM_NANOS_MAX = TimeUnit.SECONDS.toNanos(1);

  /** The server is asked for ended steps this often, in case a notification was lost. */
  private static final long QUERY_INTERVAL_NANOS = TimeUnit.SECONDS.toNanos(2);

  private final RunExecutionState state;

  /** Threads that are neither suspended nor joining their branches. */
  private int busy;

  /** The release of the run is in flight: no thread continues before it is answered. */
  private volatile boolean releasing;

  private boolean queryInFlight;
  private boolean queryAgain;
  private volatile boolean waitsForSteps;
  private volatile long queriedNanos;

  Suspensions(RunExecutionState state) {
    this.state = state;
  }

  void busy() {
    busy++;
  }

  /**
   * A thread has ended, is suspended or joins its branches. If no thread is busy any more, releases
   * the run.
   */
  void idle() {
    busy--;
    if (busy == 0) {
      releaseIfAllWait(System.nanoTime());
    }
  }

  void stopCounting(WorkflowThread workflowThread) {
    if (workflowThread.suspension == null && !workflowThread.joining) {
      busy--;
    }
    workflowThread.suspension = null;
    workflowThread.joining = false;
  }

  void await(WorkflowThread workflowThread, Suspension suspension) {
    if (workflowThread.mustCancel()) {
      // The wait must not release the run: the server would wake it only when its child ends.
      workflowThread.cancelWait(suspension);
      return;
    }
    state.lock();
    try {
      workflowThread.check();
      workflowThread.suspension = suspension;
      waitsForSteps |= suspension.isForSteps();
      idle();
      if (suspension.isForSteps() && !releasing) {
        queryEndedSteps();
      }
    } finally {
      state.unlock();
    }
    boolean interrupted = false;
    try {
      while (!canContinue(workflowThread, suspension)) {
        park(suspension);
        interrupted |= Thread.interrupted();
      }
    } finally {
      if (interrupted) {
        workflowThread.thread().interrupt();
      }
    }
    if (workflowThread.mustCancel()) {
      workflowThread.cancelWait(suspension);
    }
  }

  // If the wait ends while the release is in flight, the thread must park until the answer arrives.
  // That may take as long as the server is down.
  private void park(Suspension suspension) {
    if (releasing) {
      LockSupport.park(this);
    } else {
      suspension.park(System.nanoTime());
    }
  }

  private boolean canContinue(WorkflowThread workflowThread, Suspension suspension) {
    state.lock();
    try {
      workflowThread.check();
      boolean over = suspension.isOver(System.nanoTime()) || workflowThread.mustCancel();
      if (releasing || !over) {
        return false;
      }
      workflowThread.suspension = null;
      busy();
      return true;
    } finally {
      state.unlock();
    }
  }

  private void releaseIfAllWait(long nowNanos) {
    if (releasing || state.stopReason() != null || state.isFinished()) {
      return;
    }
    Set<String> keys = new LinkedHashSet<>();
    long remainingNanos = Long.MAX_VALUE;
    int waiting = 0;
    int waitingForSteps = 0;
    for (WorkflowThread workflowThread : state.workflowThreads()) {
      Suspension suspension = workflowThread.suspension;
      if (suspension == null) {
        continue;
      }
      waiting++;
      if (suspension.isOver(nowNanos) || workflowThread.mustCancel()) {
        return;
      }
      if (suspension.isForSteps()) {
        waitingForSteps++;
      }
      if (suspension.isTimed()) {
        remainingNanos = Math.min(remainingNanos, suspension.remainingNanos(nowNanos));
      }
      keys.addAll(suspension.openKeys());
    }
    if (waiting > 0 && remainingNanos >= KEEP_CLAIM_NANOS_MAX) {
      releasing = true;
      ReportItem.Awaited.Builder awaited =
          ReportItem.Awaited.newBuilder().addAllStepKeys(keys).setAll(waitingForSteps <= 1);
      if (remainingNanos != Long.MAX_VALUE) {
        // Rounded up, so that no thread wakes early.
        awaited.setDurationMs(TimeUnit.NANOSECONDS.toMillis(remainingNanos) + 1);
      }
      state.sendLast(state.item().setAwaited(awaited).build(), this::releaseAnswered);
    }
  }

  private void releaseAnswered(ReportResult result) {
    state.lock();
    try {
      releasing = false;
      if (result.hasAwaited() && !result.getAwaited().getClaimKept()) {
        state.endWithoutInterrupt(new StopReason.Parked());
      } else if (result.hasAwaited()) {
        deliver(result.getAwaited());
        releaseIfAllWait(System.nanoTime());
      } else {
        state.endByAnswer(result);
      }
      wakeAll();
    } finally {
      state.unlock();
    }
  }

  private void wakeAll() {
    for (WorkflowThread workflowThread : state.workflowThreads()) {
      LockSupport.unpark(workflowThread.thread());
    }
  }

  private void deliver(ReportResult.AwaitedSteps answer) {
    for (RecordedStep step : answer.getStepsList()) {
      for (WorkflowThread workflowThread : state.workflowThreads()) {
        if (workflowThread.suspension != null) {
          workflowThread.suspension.complete(step);
        }
      }
    }
  }

  /** Whether to ask for ended steps, because a notification may have been lost. Thread-safe. */
  boolean isStepQueryDue(long nowNanos) {
    return waitsForSteps && nowNanos - queriedNanos > QUERY_INTERVAL_NANOS;
  }

  /** Asks the server which awaited steps have ended. The run keeps its claim. */
  void queryEndedSteps() {
    queriedNanos = System.nanoTime();
    if (queryInFlight || releasing) {
      queryAgain = queryInFlight;
      return;
    }
    Set<String> keys = new LinkedHashSet<>();
    for (WorkflowThread workflowThread : state.workflowThreads()) {
      if (workflowThread.suspension != null) {
        keys.addAll(workflowThread.suspension.openKeys());
      }
    }
    waitsForSteps = !keys.isEmpty();
    if (!keys.isEmpty() && state.stopReason() == null) {
      queryInFlight = true;
      ReportItem.Awaited awaited =
          ReportItem.Awaited.newBuilder().addAllStepKeys(keys).setKeepClaim(true).build();
      state.lane().send(state.item().setAwaited(awaited).build(), this::stepQueryAnswered);
    }
  }

  private void stepQueryAnswered(ReportResult result) {
    state.lock();
    try {
      queryInFlight = false;
      if (!result.hasAwaited()) {
        state.endByAnswer(result);
        return;
      }
      deliver(result.getAwaited());
      wakeAll();
      // An answer is limited in size, so there may be more.
      if (queryAgain || result.getAwaited().getStepsCount() > 0) {
        queryAgain = false;
        queryEndedSteps();
      }
    } finally {
      state.unlock();
    }
  }
}
