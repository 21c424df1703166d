package dev.kagzi.sdk.internal.run;

import dev.kagzi.protocol.v1.ReportItem;
import dev.kagzi.protocol.v1.ReportResult;
import dev.kagzi.protocol.v1.Task;
import dev.kagzi.sdk.CompensationFailedException;
import dev.kagzi.sdk.internal.log.LoggedRun;
import dev.kagzi.sdk.internal.report.ReportLane;
import dev.kagzi.sdk.internal.report.ReportListener;
import dev.kagzi.sdk.internal.trace.ExecutionTrace;
import dev.kagzi.sdk.internal.wire.ProtoMapper;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The state of one execution: its workflow threads, and why it stops. Other threads may stop it,
 * report its running steps as started, or send results that are held for too long. Thread-safe;
 * some methods require the lock.
 */
final class RunExecutionState {
  private final ReportLane lane;
  private final ExecutionTrace trace;
  private final LoggedRun logged;
  private final long arrivedNanos = System.nanoTime();

  /** Counts from the task's arrival, so it never passes before the server's deadline. */
  private final long deadlineNanos;

  private final ReentrantLock lock = new ReentrantLock();
  private final Suspensions suspensions = new Suspensions(this);
  private final PublishedCounts publishedCounts = new PublishedCounts();

  /** Threads that have not ended and were not stopped. */
  private final Set<WorkflowThread> workflowThreads = ConcurrentHashMap.newKeySet();

  /** Stopped threads whose code has not returned yet. */
  private final Set<WorkflowThread> leaving = ConcurrentHashMap.newKeySet();

  private volatile @Nullable StopReason stopReason;
  private volatile boolean finished;

  private volatile boolean hasSaga;

  private volatile boolean cancelRequested;
  private volatile @Nullable CompensationFailedException cleanUpFailure;

  /** When the history was read; recorded delays count from here. */
  private volatile long historyNanos;

  RunExecutionState(ReportLane lane, Task task, ExecutionTrace trace, LoggedRun logged) {
    this.logged = logged;
    this.lane = lane;
    this.trace = trace;
    this.deadlineNanos =
        task.hasDeadlineInMs()
            ? TimeUnit.MILLISECONDS.toNanos(task.getDeadlineInMs())
            : Long.MAX_VALUE;
    this.historyNanos = arrivedNanos;
    this.cancelRequested = task.getCancelRequested();
  }

  String runId() {
    return lane.runId();
  }

  /** The ids for log lines about this execution. */
  LoggedRun logged() {
    return logged;
  }

  ExecutionTrace trace() {
    return trace;
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

  Suspensions suspensions() {
    return suspensions;
  }

  /** Requires the lock. */
  PublishedCounts publishedCounts() {
    return publishedCounts;
  }

  void publishedAnswered(ReportResult result) {
    if (result.hasRefused()) {
      stop(new StopReason.Refused(result.getRefused().toBuilder().setNonRetryable(true).build()));
    } else {
      stopIfClaimLost(result);
    }
  }

  Collection<WorkflowThread> workflowThreads() {
    return workflowThreads;
  }

  long historyNanos() {
    return historyNanos;
  }

  void historyArrived() {
    historyNanos = System.nanoTime();
  }

  WorkflowThread open(Thread thread, @Nullable WorkflowThread parent) {
    WorkflowThread workflowThread = new WorkflowThread(this, thread, parent);
    lock.lock();
    try {
      if (parent != null) {
        parent.check();
      }
      workflowThreads.add(workflowThread);
      suspensions.busy();
    } finally {
      lock.unlock();
    }
    return workflowThread;
  }

  /**
   * Returns the time of the claim, by the database's clock, plus the time since the task arrived.
   * If the task has no claim time, returns the worker's own time.
   */
  Instant databaseTime(Task task) {
    Instant now =
        task.hasClaimedAt()
            ? ProtoMapper.instant(task.getClaimedAt()).plusNanos(System.nanoTime() - arrivedNanos)
            : Instant.now();
    return now.truncatedTo(ChronoUnit.MICROS);
  }

  boolean isAlone() {
    return workflowThreads.size() == 1;
  }

  /** Closes a thread that has nothing more to do, and wakes its parent if the parent is joining. */
  void close(WorkflowThread workflowThread, Runnable notifyParent) {
    lock.lock();
    try {
      if (!workflowThreads.remove(workflowThread)) {
        return;
      }
      notifyParent.run();
      WorkflowThread parent = workflowThread.parent();
      if (parent != null) {
        parent.reports().adoptPublished(workflowThread.reports());
      }
      if (parent != null && parent.joining) {
        parent.joining = false;
        suspensions.busy();
        LockSupport.unpark(parent.thread());
      }
      suspensions.idle();
    } finally {
      lock.unlock();
    }
  }

  void left(WorkflowThread workflowThread) {
    leaving.remove(workflowThread);
    workflowThreads.remove(workflowThread);
  }

  /**
   * Waits until a branch of this thread has ended. Returns at once if {@code hasEnded} is true:
   * there is an end that the caller has not processed yet.
   */
  void join(WorkflowThread workflowThread, BooleanSupplier hasEnded) {
    boolean interrupted = false;
    try {
      lock.lock();
      try {
        workflowThread.check();
        if (hasEnded.getAsBoolean()) {
          return;
        }
        workflowThread.joining = true;
        suspensions.idle();
      } finally {
        lock.unlock();
      }
      while (isJoining(workflowThread)) {
        LockSupport.park(this);
        interrupted |= Thread.interrupted();
      }
    } finally {
      if (interrupted) {
        workflowThread.thread().interrupt();
      }
    }
  }

  private boolean isJoining(WorkflowThread workflowThread) {
    lock.lock();
    try {
      workflowThread.check();
      return workflowThread.joining;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Stops a branch whose result is no longer needed, with all of its own branches. Its open step is
   * reported as interrupted, so that the history does not show it as running.
   */
  void stopBranch(WorkflowThread branch, String reason) {
    if (!workflowThreads.contains(branch)) {
      // The branch and its own branches have already ended.
      return;
    }
    branch.markStoppedBranch();
    long now = System.nanoTime();
    lock.lock();
    try {
      for (WorkflowThread workflowThread : List.copyOf(workflowThreads)) {
        if (workflowThread.isWithin(branch)) {
          workflowThreads.remove(workflowThread);
          leaving.add(workflowThread);
          suspensions.stopCounting(workflowThread);
          if (!isOver()) {
            closeStep(workflowThread, reason, now);
          }
          workflowThread.stop(now);
        }
      }
    } finally {
      lock.unlock();
    }
  }

  private void closeStep(WorkflowThread workflowThread, String reason, long nowNanos) {
    workflowThread.reports().sendPending();
    RunningStep step = workflowThread.running();
    if (step != null && step.isReportedStarted()) {
      lane.send(
          item().setStepFailed(step.interrupted(reason, nowNanos)).build(), this::stopIfClaimLost);
    }
  }

  void sagaOpened() {
    hasSaga = true;
  }

  boolean hasSaga() {
    return hasSaga;
  }

  boolean isCancelRequested() {
    return cancelRequested;
  }

  /** A saga could not undo everything. */
  void undosFailed(CompensationFailedException failure) {
    if (cancelRequested) {
      cleanUpFailure = failure;
    }
  }

  /**
   * Returns what a saga of the cancelled run could not undo; null if there is nothing. The code may
   * have replaced this exception by calling an operation that a cancelled run refuses.
   */
  @Nullable CompensationFailedException cleanUpFailure() {
    return cleanUpFailure;
  }

  /**
   * The run is cancelled. In each workflow thread, interrupts the running step or ends the wait;
   * otherwise the next call of the context without a recorded result throws. The code then cleans
   * up. Thread-safe.
   */
  void requestCancel() {
    lock.lock();
    try {
      if (!isOver() && !cancelRequested) {
        cancelRequested = true;
        workflowThreads.forEach(WorkflowThread::interruptForCancel);
      }
    } finally {
      lock.unlock();
    }
  }

  @Nullable StopReason stopReason() {
    return stopReason;
  }

  boolean isFinished() {
    return finished;
  }

  private boolean isOver() {
    return stopReason != null || finished;
  }

  /** Requires the lock. Called when the last report of the run is being sent. */
  void markFinished() {
    finished = true;
  }

  /** Stops the execution from inside one of its threads; the others are interrupted. */
  void end(WorkflowThread from, StopReason why) {
    lock.lock();
    try {
      if (stopReason == null) {
        stopReason = why;
        sendAllPending();
        interruptAll(from);
      }
    } finally {
      lock.unlock();
    }
  }

  /** Requires the lock. All threads wait, and find the stop reason when they wake. */
  void endWithoutInterrupt(StopReason why) {
    if (!isOver()) {
      stopReason = why;
    }
  }

  void endByAnswer(ReportResult result) {
    stop(
        switch (result.getResultCase()) {
          case CLAIM_LOST -> new StopReason.Lost();
          case REFUSED -> new StopReason.Refused(result.getRefused());
          default -> new StopReason.StartOver();
        });
  }

  /** Interrupts the code; false if it had stopped or sent its last report. Thread-safe. */
  boolean stop(StopReason why) {
    lock.lock();
    try {
      if (isOver()) {
        return false;
      }
      stopReason = why;
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
      if (isOver()) {
        return false;
      }
      stopReason = new StopReason.Released();
      sendLast(lane.item().setReleased(ReportItem.Released.getDefaultInstance()).build(), listener);
      interruptAll(null);
    } finally {
      lock.unlock();
    }
    return true;
  }

  // Branches leave before the last report is sent; their results must still be recorded.
  private void sendAllPending() {
    workflowThreads.forEach(workflowThread -> workflowThread.reports().sendPending());
  }

  private void interruptAll(@Nullable WorkflowThread except) {
    long now = System.nanoTime();
    for (WorkflowThread workflowThread : workflowThreads) {
      if (workflowThread != except) {
        workflowThread.interrupt(now);
        LockSupport.unpark(workflowThread.thread());
      }
    }
  }

  /** Sends the execution's last report, behind all held results. */
  void conclude(ReportItem item, ReportListener listener) {
    lock.lock();
    try {
      finished = true;
      sendLast(item, listener);
    } finally {
      lock.unlock();
    }
  }

  /** Requires the lock. Sends an item behind all held results and published values. */
  void sendLast(ReportItem item, ReportListener listener) {
    ThreadReports.ReportGroup all = new ThreadReports.ReportGroup();
    workflowThreads.forEach(workflowThread -> workflowThread.reports().takePending(all));
    all.add(item, listener);
    lane.sendAll(all.items, all.listeners);
  }

  /** Returns a thread whose code has ignored its interrupt for a second, or null. Thread-safe. */
  @Nullable WorkflowThread stuck(long nowNanos) {
    return Stream.concat(workflowThreads.stream(), leaving.stream())
        .filter(workflowThread -> workflowThread.ignoredNanos(nowNanos) > 0)
        .findFirst()
        .orElse(null);
  }

  /**
   * Stops the execution if a step has timed out and ignores its interrupt, so that the step's
   * result is discarded. Returns the step's workflow thread once, for the report of the timeout;
   * otherwise null. Thread-safe.
   */
  @Nullable WorkflowThread cutOff(long nowNanos) {
    for (WorkflowThread workflowThread : workflowThreads) {
      RunningStep step = workflowThread.running();
      if (step != null && step.isInterrupted() && workflowThread.ignoredNanos(nowNanos) > 0) {
        return cutOff(workflowThread, step);
      }
    }
    return null;
  }

  private @Nullable WorkflowThread cutOff(WorkflowThread workflowThread, RunningStep step) {
    lock.lock();
    try {
      if (isOver() || workflowThread.isStopped() || workflowThread.running() != step) {
        return null;
      }
      stopReason = new StopReason.CutOff();
      sendAllPending();
      interruptAll(workflowThread);
      return workflowThread;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Called many times per second. Reports long steps as started, sends results held for long, and
   * interrupts code that has timed out. Thread-safe.
   */
  void tick(long nowNanos) {
    if (nowNanos - arrivedNanos >= deadlineNanos) {
      stop(new StopReason.Overdue());
    }
    for (WorkflowThread workflowThread : workflowThreads) {
      tick(workflowThread, nowNanos);
    }
    if (suspensions.isStepQueryDue(nowNanos)) {
      queryEndedSteps();
    }
  }

  void queryEndedSteps() {
    lock.lock();
    try {
      if (!isOver()) {
        suspensions.queryEndedSteps();
      }
    } finally {
      lock.unlock();
    }
  }

  private void tick(WorkflowThread workflowThread, long nowNanos) {
    if (!isTickDue(workflowThread, nowNanos)) {
      return;
    }
    lock.lock();
    try {
      if (isOver() || workflowThread.isStopped()) {
        return;
      }
      if (workflowThread.reports().isSendDue(nowNanos)) {
        workflowThread.reports().sendPending();
      }
      RunningStep step = workflowThread.running();
      if (step != null) {
        tick(workflowThread, step, nowNanos);
      }
    } finally {
      lock.unlock();
    }
  }

  // Called without the lock: a tick is rarely due, and workflow threads need the lock often.
  private static boolean isTickDue(WorkflowThread workflowThread, long nowNanos) {
    RunningStep step = workflowThread.running();
    return workflowThread.reports().isSendDue(nowNanos)
        || (step != null && (step.isStartedReportDue(nowNanos) || step.isInterruptDue(nowNanos)));
  }

  private void tick(WorkflowThread workflowThread, RunningStep step, long nowNanos) {
    if (step.isStartedReportDue(nowNanos)) {
      workflowThread
          .reports()
          .sendWithHeld(
              lane.item().setStepStarted(step.started(nowNanos)).build(),
              result -> startedAnswered(step, result));
    }
    if (step.isInterruptDue(nowNanos)) {
      workflowThread.interruptStep(step, nowNanos);
    }
  }

  private void startedAnswered(RunningStep step, ReportResult result) {
    stopIfClaimLost(result);
    lock.lock();
    try {
      if (result.hasRefused()) {
        step.startedRefused(logged, result.getRefused());
      } else {
        step.startedAccepted();
      }
    } finally {
      lock.unlock();
    }
  }

  private void stopIfClaimLost(ReportResult result) {
    if (result.hasClaimLost()) {
      stop(new StopReason.Lost());
    }
  }
}
