package dev.kagzi.sdk.internal.run;

import dev.kagzi.protocol.v1.RecordedStep;
import dev.kagzi.protocol.v1.ReportItem;
import dev.kagzi.protocol.v1.ReportResult;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * What the strands of a run wait for. While one of them is at work the run stays here, and the
 * others wait in place; when all of them wait, and not only for a moment, the run is given back
 * until the earliest of their times, or until one of their children has ended. Guarded by the lock
 * of the run's progress.
 */
final class Suspensions {
  /** A shorter wait is waited for in place, as the server has it for runs without branches. */
  private static final long SHORT_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** Without a word from the server it is asked for ended children this often. */
  private static final long ASK_NANOS = TimeUnit.SECONDS.toNanos(2);

  private final RunExecutionState progress;

  /** Strands that neither wait for something nor for their branches. */
  private int busy;

  /** The run is being given back: nobody goes on before that is answered. */
  private volatile boolean parking;

  private boolean asking;
  private boolean askAgain;
  private volatile boolean waitsForSteps;
  private volatile long askedNanos;

  Suspensions(RunExecutionState progress) {
    this.progress = progress;
  }

  /** A strand begins, or goes on. */
  void busy() {
    busy++;
  }

  /** A strand has ended, or waits from now on. */
  void idle() {
    busy--;
    if (busy == 0) {
      parkIfAllWait(System.nanoTime());
    }
  }

  /** A strand is left out of account. */
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

  // A wait that is over while the run is being given back rests until that is answered, which may
  // take as long as the server is away.
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
        // Rounded up: nobody is woken early.
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

  /** Called many times per second: a notice that a child has ended may be lost. Thread-safe. */
  boolean isAskDue(long nowNanos) {
    return waitsForSteps && nowNanos - askedNanos > ASK_NANOS;
  }

  /** Asks whether children have ended that strands wait for, while other strands are at work. */
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
      // What has come may not be all there is: an answer has its limits.
      if (askAgain || result.getAwaited().getStepsCount() > 0) {
        askAgain = false;
        ask();
      }
    } finally {
      progress.unlock();
    }
  }
}
