package dev.kagzi.sdk.internal.run;

import dev.kagzi.protocol.v1.ReportItem;
import dev.kagzi.protocol.v1.ReportResult;
import dev.kagzi.protocol.v1.Task;
import dev.kagzi.sdk.internal.report.ReportLane;
import dev.kagzi.sdk.internal.report.ReportListener;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The state of one execution: its workflow threads, and why it stops. Other threads may stop it,
 * announce its running steps, or send results that are held for too long. Thread-safe; some methods
 * require the lock.
 */
final class RunExecutionState {
  private final ReportLane lane;
  private final Deadline deadline;
  private final ReentrantLock lock = new ReentrantLock();
  private final Suspensions waits = new Suspensions(this);

  /** Open threads whose results count. */
  private final Set<WorkflowThread> strands = ConcurrentHashMap.newKeySet();

  /** Stopped threads whose code has not returned yet. */
  private final Set<WorkflowThread> leaving = ConcurrentHashMap.newKeySet();

  private volatile @Nullable StopReason ending;
  private boolean finished;

  /** When the history was read; recorded delays count from here. */
  private volatile long recordedNanos;

  RunExecutionState(ReportLane lane, Task task) {
    this.lane = lane;
    this.deadline = Deadline.of(task);
    this.recordedNanos = deadline.fromNanos();
  }

  String runId() {
    return lane.runId();
  }

  ReportLane lane() {
    return lane;
  }

  ReportItem.Builder item() {
    return lane.item();
  }

  void lock() {
    lock.lock();
  }

  void unlock() {
    lock.unlock();
  }

  Suspensions waits() {
    return waits;
  }

  Collection<WorkflowThread> strands() {
    return strands;
  }

  /**
   * When the history arrived, with the task or in a separate call; recorded delays count from here.
   */
  long arrivedNanos() {
    return recordedNanos;
  }

  /** Called when the history was fetched separately from the task. */
  void recordArrived() {
    recordedNanos = System.nanoTime();
  }

  // ---- workflow threads

  /** Creates an open workflow thread. */
  WorkflowThread open(Thread thread, @Nullable WorkflowThread parent) {
    WorkflowThread strand = new WorkflowThread(this, thread, parent);
    lock.lock();
    try {
      if (parent != null) {
        parent.check();
      }
      strands.add(strand);
      waits.busy();
    } finally {
      lock.unlock();
    }
    return strand;
  }

  boolean isAlone() {
    return strands.size() == 1;
  }

  /** Closes a thread that has nothing more to do, and wakes its parent if that is joining. */
  void close(WorkflowThread strand, Runnable tellParent) {
    lock.lock();
    try {
      if (!strands.remove(strand)) {
        return;
      }
      tellParent.run();
      WorkflowThread parent = strand.parent();
      if (parent != null && parent.joins) {
        parent.joins = false;
        waits.busy();
        LockSupport.unpark(parent.thread());
      }
      waits.idle();
    } finally {
      lock.unlock();
    }
  }

  /** Called when the code has left its thread. */
  void left(WorkflowThread strand) {
    leaving.remove(strand);
    strands.remove(strand);
  }

  /** Waits until a branch of this thread has ended that the caller has not seen yet. */
  void join(WorkflowThread strand, BooleanSupplier hasEnded) {
    boolean interrupted = false;
    try {
      lock.lock();
      try {
        strand.check();
        if (hasEnded.getAsBoolean()) {
          return;
        }
        strand.joins = true;
        waits.idle();
      } finally {
        lock.unlock();
      }
      while (isJoining(strand)) {
        LockSupport.park(this);
        interrupted |= Thread.interrupted();
      }
    } finally {
      if (interrupted) {
        strand.thread().interrupt();
      }
    }
  }

  private boolean isJoining(WorkflowThread strand) {
    lock.lock();
    try {
      strand.check();
      return strand.joins;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Stops a branch whose result is no longer needed, with all of its own branches. Its announced
   * step is reported as interrupted, so that the history does not show it as running.
   */
  void stopBranch(WorkflowThread branch, String reason) {
    if (!strands.contains(branch)) {
      // It has ended, and its branches before it.
      return;
    }
    long now = System.nanoTime();
    lock.lock();
    try {
      for (WorkflowThread strand : List.copyOf(strands)) {
        if (strand.isWithin(branch)) {
          strands.remove(strand);
          leaving.add(strand);
          waits.leave(strand);
          if (ending == null && !finished) {
            closeStep(strand, reason, now);
          }
          strand.stop(now);
        }
      }
    } finally {
      lock.unlock();
    }
  }

  /** Sends the held result and closes an announced step. */
  private void closeStep(WorkflowThread strand, String reason, long nowNanos) {
    strand.sendHeld();
    RunningStep step = strand.running();
    if (step != null && step.isAnnounced()) {
      lane.send(
          item().setStepFailed(step.interrupted(reason, nowNanos)).build(), this::heedLostClaim);
    }
  }

  // ---- stopping

  @Nullable StopReason ending() {
    return ending;
  }

  boolean isFinished() {
    lock.lock();
    try {
      return finished;
    } finally {
      lock.unlock();
    }
  }

  /** Requires the lock. */
  boolean isMarkedFinished() {
    return finished;
  }

  /** Requires the lock. Called when the last report of the run is being sent. */
  void markFinished() {
    finished = true;
  }

  /** Stops the execution from inside one of its threads; the others are interrupted. */
  void end(WorkflowThread from, StopReason why) {
    lock.lock();
    try {
      if (ending == null) {
        ending = why;
        sendHeldOfOthers(from);
        interruptAll(from);
      }
    } finally {
      lock.unlock();
    }
  }

  /** Requires the lock. All threads are suspended and find the stop reason when they wake. */
  void endQuietly(StopReason why) {
    if (ending == null && !finished) {
      ending = why;
    }
  }

  /** Requires the lock. Stops the execution because of an answer of the server. */
  void endByAnswer(ReportResult result) {
    if (ending == null && !finished) {
      ending =
          switch (result.getResultCase()) {
            case CLAIM_LOST -> new StopReason.Lost();
            case REFUSED -> new StopReason.Refused(result.getRefused());
            default -> new StopReason.StartOver();
          };
      interruptAll(null);
    }
  }

  /**
   * Stops the execution from outside and interrupts the code; false if it had stopped. Thread-safe.
   */
  boolean stop(StopReason why) {
    lock.lock();
    try {
      if (ending != null || finished) {
        return false;
      }
      ending = why;
      interruptAll(null);
    } finally {
      lock.unlock();
    }
    return true;
  }

  /** Like {@link #stop}, but also sends held results and releases the run. Thread-safe. */
  boolean release(ReportListener listener) {
    lock.lock();
    try {
      if (ending != null || finished) {
        return false;
      }
      ending = new StopReason.Released();
      sendLast(lane.item().setReleased(ReportItem.Released.getDefaultInstance()).build(), listener);
      interruptAll(null);
    } finally {
      lock.unlock();
    }
    return true;
  }

  // Other threads leave before the last report is sent; their results must still be recorded.
  private void sendHeldOfOthers(WorkflowThread from) {
    for (WorkflowThread strand : strands) {
      if (strand != from) {
        strand.sendHeld();
      }
    }
  }

  private void interruptAll(@Nullable WorkflowThread except) {
    long now = System.nanoTime();
    for (WorkflowThread strand : strands) {
      if (strand != except) {
        strand.interrupt(now);
        LockSupport.unpark(strand.thread());
      }
    }
  }

  /** Sends the last report of a stopped execution, behind all held results. */
  void conclude(ReportItem item, ReportListener listener) {
    lock.lock();
    try {
      finished = true;
      sendLast(item, listener);
    } finally {
      lock.unlock();
    }
  }

  private void sendLast(ReportItem item, ReportListener listener) {
    List<ReportItem> items = new ArrayList<>();
    List<ReportListener> listeners = new ArrayList<>();
    for (WorkflowThread strand : strands) {
      ReportItem held = strand.takeHeld();
      if (held != null) {
        items.add(held);
        listeners.add(strand.expect(held));
      }
    }
    items.add(item);
    listeners.add(listener);
    lane.sendAll(items, listeners);
  }

  // ---- ticks

  /** Returns a thread whose code has ignored its interrupt; null if there is none. Thread-safe. */
  @Nullable WorkflowThread stuck(long nowNanos) {
    for (WorkflowThread strand : strands) {
      if (strand.ignoredNanos(nowNanos) > 0) {
        return strand;
      }
    }
    for (WorkflowThread strand : leaving) {
      if (strand.ignoredNanos(nowNanos) > 0) {
        return strand;
      }
    }
    return null;
  }

  /**
   * Cuts off a step that has ignored its interrupt: its thread can write nothing more. Returns the
   * step's workflow thread once, so that the caller reports the time-out. Thread-safe.
   */
  @Nullable WorkflowThread cutOff(long nowNanos) {
    for (WorkflowThread strand : strands) {
      RunningStep step = strand.running();
      if (step != null && step.isInterrupted() && strand.ignoredNanos(nowNanos) > 0) {
        return cutOff(strand, step);
      }
    }
    return null;
  }

  private @Nullable WorkflowThread cutOff(WorkflowThread strand, RunningStep step) {
    lock.lock();
    try {
      if (ending != null || finished || strand.isStopped() || strand.running() != step) {
        return null;
      }
      ending = new StopReason.CutOff();
      sendHeldOfOthers(strand);
      interruptAll(strand);
      return strand;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Called many times per second. Announces long steps, sends results held for long, and interrupts
   * code that has timed out. Thread-safe.
   */
  void tick(long nowNanos) {
    if (deadline.isPast(nowNanos)) {
      overdue();
    }
    for (WorkflowThread strand : strands) {
      tick(strand, nowNanos);
    }
    if (waits.isAskDue(nowNanos)) {
      childEnded();
    }
  }

  private void overdue() {
    lock.lock();
    try {
      if (ending == null && !finished) {
        ending = new StopReason.Overdue();
        interruptAll(null);
      }
    } finally {
      lock.unlock();
    }
  }

  /** A child of the run may have ended. Thread-safe. */
  void childEnded() {
    lock.lock();
    try {
      if (ending == null && !finished) {
        waits.ask();
      }
    } finally {
      lock.unlock();
    }
  }

  private void tick(WorkflowThread strand, long nowNanos) {
    if (!isTickDue(strand, nowNanos)) {
      return;
    }
    lock.lock();
    try {
      if (ending != null || finished || strand.isStopped()) {
        return;
      }
      if (strand.isHeldLong(nowNanos)) {
        strand.sendHeld();
      }
      RunningStep step = strand.running();
      if (step != null) {
        tick(strand, step, nowNanos);
      }
    } finally {
      lock.unlock();
    }
  }

  // Checked without the lock, which workflow threads need far more often than this is due.
  private static boolean isTickDue(WorkflowThread strand, long nowNanos) {
    RunningStep step = strand.running();
    return strand.isHeldLong(nowNanos)
        || (step != null && (step.isAnnouncementDue(nowNanos) || step.isInterruptDue(nowNanos)));
  }

  private void tick(WorkflowThread strand, RunningStep step, long nowNanos) {
    if (step.isAnnouncementDue(nowNanos)) {
      lane.send(
          lane.item().setStepStarted(step.announce(nowNanos)).build(),
          result -> announced(step, result));
    }
    if (step.isInterruptDue(nowNanos)) {
      strand.interruptStep(step, nowNanos);
    }
  }

  private void announced(RunningStep step, ReportResult result) {
    heedLostClaim(result);
    lock.lock();
    try {
      if (result.hasRefused()) {
        step.announcementRefused(lane.runId(), result.getRefused());
      } else {
        step.announcementAccepted();
      }
    } finally {
      lock.unlock();
    }
  }

  private void heedLostClaim(ReportResult result) {
    if (result.hasClaimLost()) {
      stop(new StopReason.Lost());
    }
  }
}
