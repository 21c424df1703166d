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
 * and the others wait in place. When all wait for longer than a second, the run is released until
 * the earliest time, or until a child ends. Guarded by the lock of the execution state.
 */
final class Suspensions {
  /** Shorter waits keep the claim; the server does the same for runs without branches. */
  private static final long SHORT_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** The server is asked for ended children this often, in case a notification was lost. */
  private static final long ASK_NANOS = TimeUnit.SECONDS.toNanos(2);

  private final RunExecutionState progress;

  /** Threads that are neither suspended nor joining their branches. */
  private int busy;

  /** The release of the run is in flight: no thread continues before it is answered. */
  private volatile boolean parking;

  private boolean asking;
  private boolean askAgain;
  private volatile boolean waitsForSteps;
  private volatile long askedNanos;

  Suspensions(RunExecutionState progress) {
    this.progress = progress;
  }

  /** A thread starts or continues. */
  void busy() {
    busy++;
  }

  /** A thread has ended, is suspended or joins its branches. */
  void idle() {
    busy--;
    if (busy == 0) {
      parkIfAllWait(System.nanoTime());
    }
  }

  /** Stops counting a thread. */
  void leave(WorkflowThread strand) {
    if (strand.wait == null && !strand.joins) {
      busy--;
    }
    strand.wait = null;
    strand.joins = false;
  }

  void await(WorkflowThread strand, Suspension wait) {
    progress.lock();
    try {
      strand.check();
      strand.wait = wait;
      waitsForSteps |= !wait.isTimed();
      idle();
      if (!wait.isTimed() && !parking) {
        ask();
      }
    } finally {
      progress.unlock();
    }
    boolean interrupted = false;
    try {
      while (!goesOn(strand, wait)) {
        rest(wait);
        interrupted |= Thread.interrupted();
      }
    } finally {
      if (interrupted) {
        strand.thread().interrupt();
      }
    }
  }

  // If the wait ends while the release is in flight, the thread must park until the answer arrives.
  // That may take as long as the server is down.
  private void rest(Suspension wait) {
    if (parking) {
      LockSupport.park(this);
    } else {
      wait.rest(System.nanoTime());
    }
  }

  private boolean goesOn(WorkflowThread strand, Suspension wait) {
    progress.lock();
    try {
      strand.check();
      if (parking || !wait.isOver(System.nanoTime())) {
        return false;
      }
      strand.wait = null;
      busy();
      return true;
    } finally {
      progress.unlock();
    }
  }

  private void parkIfAllWait(long nowNanos) {
    if (parking || progress.ending() != null || progress.isMarkedFinished()) {
      return;
    }
    Set<String> keys = new LinkedHashSet<>();
    long leftNanos = Long.MAX_VALUE;
    int waiting = 0;
    int waitingForSteps = 0;
    for (WorkflowThread strand : progress.strands()) {
      Suspension wait = strand.wait;
      if (wait == null) {
        continue;
      }
      waiting++;
      if (wait.isOver(nowNanos)) {
        return;
      }
      if (!wait.isTimed()) {
        waitingForSteps++;
      } else {
        leftNanos = Math.min(leftNanos, wait.leftNanos(nowNanos));
      }
      keys.addAll(wait.missing());
    }
    if (waiting > 0 && leftNanos >= SHORT_NANOS) {
      parking = true;
      ReportItem.Awaited.Builder awaited =
          ReportItem.Awaited.newBuilder().addAllStepKeys(keys).setAll(waitingForSteps <= 1);
      if (leftNanos != Long.MAX_VALUE) {
        // Rounded up, so that no thread wakes early.
        awaited.setDurationMs(TimeUnit.NANOSECONDS.toMillis(leftNanos) + 1);
      }
      progress.lane().send(progress.item().setAwaited(awaited).build(), this::parkAnswered);
    }
  }

  private void parkAnswered(ReportResult result) {
    progress.lock();
    try {
      parking = false;
      if (result.hasAwaited() && !result.getAwaited().getClaimKept()) {
        progress.endQuietly(new StopReason.Parked());
      } else if (result.hasAwaited()) {
        deliver(result.getAwaited());
        parkIfAllWait(System.nanoTime());
      } else {
        progress.endByAnswer(result);
      }
      wakeAll();
    } finally {
      progress.unlock();
    }
  }

  private void wakeAll() {
    for (WorkflowThread strand : progress.strands()) {
      LockSupport.unpark(strand.thread());
    }
  }

  private void deliver(ReportResult.AwaitedSteps answer) {
    for (RecordedStep step : answer.getStepsList()) {
      for (WorkflowThread strand : progress.strands()) {
        if (strand.wait != null) {
          strand.wait.came(step);
        }
      }
    }
  }

  /**
   * Called many times per second, because the notification of a child's end may be lost.
   * Thread-safe.
   */
  boolean isAskDue(long nowNanos) {
    return waitsForSteps && nowNanos - askedNanos > ASK_NANOS;
  }

  /** Asks the server which awaited children have ended, while other threads are busy. */
  void ask() {
    askedNanos = System.nanoTime();
    if (asking || parking) {
      askAgain = asking;
      return;
    }
    Set<String> keys = new LinkedHashSet<>();
    for (WorkflowThread strand : progress.strands()) {
      if (strand.wait != null) {
        keys.addAll(strand.wait.missing());
      }
    }
    waitsForSteps = !keys.isEmpty();
    if (!keys.isEmpty() && progress.ending() == null) {
      asking = true;
      ReportItem.Awaited awaited =
          ReportItem.Awaited.newBuilder().addAllStepKeys(keys).setKeepClaim(true).build();
      progress.lane().send(progress.item().setAwaited(awaited).build(), this::askAnswered);
    }
  }

  private void askAnswered(ReportResult result) {
    progress.lock();
    try {
      asking = false;
      if (!result.hasAwaited()) {
        progress.endByAnswer(result);
        return;
      }
      deliver(result.getAwaited());
      wakeAll();
      // An answer is limited in size, so there may be more.
      if (askAgain || result.getAwaited().getStepsCount() > 0) {
        askAgain = false;
        ask();
      }
    } finally {
      progress.unlock();
    }
  }
}
