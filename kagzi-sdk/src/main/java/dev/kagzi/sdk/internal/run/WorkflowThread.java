package dev.kagzi.sdk.internal.run;

import dev.kagzi.protocol.v1.RecordedStep;
import dev.kagzi.protocol.v1.ReportItem;
import dev.kagzi.protocol.v1.StepKind;
import dev.kagzi.sdk.internal.log.LogContext;
import java.util.Collection;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * One thread of a run's execution: the main workflow code or a branch. Each has its own virtual
 * thread and its own {@link ThreadReports}. Only this thread executes steps, reports and waits.
 * Other threads may read its state without a lock, and change it under the lock of {@link
 * RunExecutionState}. They set two fields without the lock: ticks set {@code seenBusyNanos}, and
 * branches of this thread set {@code live}.
 */
final class WorkflowThread {
  /** Interrupted code has this long to return before it counts as stuck. */
  private static final long RETURN_NANOS_MAX = TimeUnit.SECONDS.toNanos(1);

  private static final long INDEFINITE_NANOS = TimeUnit.DAYS.toNanos(365);

  private static final ThreadLocal<@Nullable WorkflowThread> CURRENT = new ThreadLocal<>();

  private final RunExecutionState state;
  private final Thread thread;
  private final @Nullable WorkflowThread parent;
  private final ThreadReports reports;

  /** The branch's result is no longer needed; nothing more of it is reported. */
  private volatile boolean stopped;

  private volatile @Nullable RunningStep running;

  /** Whether this thread, or a branch of it, has begun a step or sent a report. */
  private volatile boolean live;

  /** When the code was interrupted; null if it was not, or has left the interrupted step. */
  private volatile @Nullable Long interruptedNanos;

  /** What this thread waits for; guarded by the lock of the execution state. */
  volatile @Nullable Suspension suspension;

  /** Whether this thread waits for a branch; guarded by the lock of the execution state. */
  volatile boolean joining;

  /** Whether this thread executes workflow code, calls of its context included. */
  private volatile boolean inCode;

  /** The context whose code this thread executes; only this thread uses it. */
  private @Nullable RunContext context;

  /** Whether a branch of this thread, at any depth, was stopped before it had ended. */
  private volatile boolean hasStoppedBranches;

  /** Whether the code is executed only as far as it is recorded, and must begin nothing. */
  private boolean replayOnly;

  /** Whether the code is an undo or a clean-up, which a cancel of the run does not stop. */
  private volatile boolean cleansUp;

  /** The step that the code asked for last; only this thread uses it. */
  private String lastKey = "";

  private volatile long usedContextNanos;

  /**
   * When a tick last found this thread in a step, a wait or a context call, or found a gap between
   * ticks.
   */
  private volatile long seenBusyNanos = System.nanoTime();

  WorkflowThread(RunExecutionState state, Thread thread, @Nullable WorkflowThread parent) {
    this.state = state;
    this.thread = thread;
    this.parent = parent;
    this.reports = new ThreadReports(state, this);
  }

  static @Nullable WorkflowThread current() {
    return CURRENT.get();
  }

  void enter() {
    CURRENT.set(this);
    LogContext.enterRun(state.logged());
  }

  Thread thread() {
    return thread;
  }

  RunContext context() {
    return Objects.requireNonNull(context, "context");
  }

  /**
   * Executes code of this context: the workflow, a branch, an undo or a clean-up. This is not a
   * method of the context, because {@link SilentCode} takes a frame of {@link RunContext} for a
   * context call of the code.
   */
  @Nullable Object execute(RunContext of, Callable<@Nullable Object> code) throws Exception {
    RunContext outer = context;
    context = of;
    cleansUp = of.cleansUp();
    try {
      return code.call();
    } finally {
      context = outer;
      cleansUp = outer != null && outer.cleansUp();
    }
  }

  /** Like {@link #execute}, for code without checked exceptions. */
  void cleanUp(RunContext of, Runnable code) {
    try {
      Object unused =
          execute(
              of,
              () -> {
                code.run();
                return null;
              });
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new IllegalStateException("clean-up: " + e, e);
    }
  }

  boolean cleansUp() {
    return cleansUp;
  }

  void asksFor(String key) {
    lastKey = key;
  }

  /** Whether the next call without a recorded result must throw, because the run is cancelled. */
  boolean mustCancel() {
    return state.isCancelRequested() && !cleansUp && !replayOnly;
  }

  /**
   * Records the cancel at the step that this thread waits for, and throws. Returns if the wait is
   * over meanwhile, or if a cancel only ends it.
   */
  void cancelWait(Suspension suspension) {
    while (!suspension.isOver(System.nanoTime()) && !suspension.isEndedByCancel()) {
      if (!suspension.isForSteps()) {
        Object unused = Cancellation.see(this, lastKey, StepKind.STEP_KIND_UNSPECIFIED);
        throw end(new StopReason.StartOver());
      }
      String key = suspension.openKeys().iterator().next();
      suspension.complete(Cancellation.see(this, key, StepKind.STEP_KIND_UNSPECIFIED));
    }
  }

  /**
   * Executes code of this context as far as its results are recorded; throws {@link
   * HistoryEndedError} at the first call that has no recorded result.
   */
  @Nullable Object replay(RunContext of, Callable<@Nullable Object> code) throws Exception {
    boolean before = replayOnly;
    replayOnly = true;
    try {
      return execute(of, code);
    } finally {
      replayOnly = before;
    }
  }

  /** Marks the threads around this branch, which is stopped before it has ended. */
  void markStoppedBranch() {
    for (WorkflowThread each = parent; each != null; each = each.parent) {
      each.hasStoppedBranches = true;
    }
  }

  boolean hasStoppedBranches() {
    return hasStoppedBranches;
  }

  boolean isReplayOnly() {
    return replayOnly;
  }

  private void requireLive() {
    if (replayOnly) {
      throw new HistoryEndedError();
    }
  }

  void enterCode() {
    markContextUsed();
    inCode = true;
  }

  void exitCode() {
    inCode = false;
  }

  void markContextUsed() {
    usedContextNanos = System.nanoTime();
  }

  boolean isInStepOrWait() {
    return running != null || suspension != null || joining;
  }

  void markBusy(long nowNanos) {
    seenBusyNanos = nowNanos;
  }

  /** How long the code has neither ended nor used its context, as far as ticks have seen. */
  long silentNanos(long nowNanos) {
    return inCode ? Math.min(nowNanos - usedContextNanos, nowNanos - seenBusyNanos) : 0;
  }

  RunExecutionState state() {
    return state;
  }

  /** Whether its code is past the recorded history. Thread-safe. */
  boolean isLive() {
    return live;
  }

  /** Marks that the code is past the recorded history; throws if it is only to be replayed. */
  void markLive() {
    requireLive();
    for (WorkflowThread each = this; each != null && !each.live; each = each.parent) {
      each.live = true;
    }
  }

  /** Whether this is the other thread or a branch of it, at any depth. */
  boolean isWithin(WorkflowThread other) {
    for (WorkflowThread each = this; each != null; each = each.parent) {
      if (each == other) {
        return true;
      }
    }
    return false;
  }

  @Nullable WorkflowThread parent() {
    return parent;
  }

  ThreadReports reports() {
    return reports;
  }

  ReportItem.Builder item() {
    return state.item();
  }

  /** Throws {@link SuspendedError} if the run, or this branch of it, must not continue here. */
  void check() {
    if (stopped || state.stopReason() != null) {
      throw new SuspendedError();
    }
  }

  boolean isStopped() {
    return stopped;
  }

  /** Stops the execution, unless this branch is stopped. Always throws: {@code throw end(..)}. */
  SuspendedError end(StopReason why) {
    if (!stopped) {
      state.end(this, why);
    }
    throw new SuspendedError();
  }

  boolean isAlone() {
    return state.isAlone();
  }

  // Any thread may call the methods from here to interruptForCancel, under the lock of the
  // execution state.

  void stop(long nowNanos) {
    stopped = true;
    reports.dropHeld();
    interrupt(nowNanos);
  }

  // Called under the lock: an interrupt for a step must not reach the code that follows the step.
  void interrupt(long nowNanos) {
    if (interruptedNanos == null) {
      interruptedNanos = nowNanos;
    }
    thread.interrupt();
  }

  void interruptStep(RunningStep step, long nowNanos) {
    step.markInterrupted();
    interrupt(nowNanos);
  }

  /** Interrupts the step that a cancel stops, or ends the wait. */
  void interruptForCancel() {
    RunningStep step = running;
    if (cleansUp) {
      return;
    }
    if (step != null) {
      step.markCancelled();
      thread.interrupt();
    } else {
      LockSupport.unpark(thread);
    }
  }

  void stepBegins(RunningStep step) {
    markLive();
    state.lock();
    try {
      running = step;
      if (mustCancel()) {
        interruptForCancel();
      }
    } finally {
      state.unlock();
    }
  }

  /** Called when the step's code has returned; clears an interrupt that was meant for the step. */
  void stepEnds(RunningStep step) {
    state.lock();
    try {
      running = null;
      if ((step.isInterrupted() || step.isCancelled()) && state.stopReason() == null && !stopped) {
        interruptedNanos = null;
        boolean unused = Thread.interrupted();
      }
    } finally {
      state.unlock();
    }
  }

  @Nullable RunningStep running() {
    return running;
  }

  /** How long the code has ignored its interrupt; 0 in the first second. Thread-safe. */
  long ignoredNanos(long nowNanos) {
    Long since = interruptedNanos;
    return since == null || nowNanos - since < RETURN_NANOS_MAX ? 0 : nowNanos - since;
  }

  /** Waits for the given time. Unlike {@link #suspend}, never releases the run. */
  void waitInPlace(long delayMs) {
    Suspension suspension =
        Suspension.until(System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(delayMs));
    boolean interrupted = false;
    check();
    while (!suspension.isOver(System.nanoTime())) {
      suspension.park(System.nanoTime());
      interrupted |= Thread.interrupted();
      check();
    }
    if (interrupted) {
      thread.interrupt();
    }
  }

  /** Waits for the given time. If all threads of the run wait for long, the run is released. */
  void suspend(long delayMs) {
    suspendUntil(System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(delayMs));
  }

  void suspendUntil(long nanos) {
    requireLive();
    state.suspensions().await(this, Suspension.until(nanos));
  }

  /** Like {@link #suspendUntil}, but returns if the run is cancelled, and records nothing. */
  void suspendUntilOrCancel(long nanos) {
    requireLive();
    state.suspensions().await(this, Suspension.untilOrCancel(nanos));
  }

  /** Suspends this thread indefinitely. When all threads of the run wait, the run is released. */
  SuspendedError suspendIndefinitely() {
    reports.awaitDurable();
    suspendUntil(System.nanoTime() + INDEFINITE_NANOS);
    throw end(new StopReason.Parked());
  }

  /** Waits for the step to end; returns null if the time of the suspension came first. */
  @Nullable RecordedStep awaitStep(String key, Suspension suspension) {
    reports.awaitDurable();
    state.suspensions().await(this, suspension);
    return suspension.results().get(key);
  }

  /** Waits for the children of these steps to end; returns their recorded steps by key. */
  Map<String, RecordedStep> awaitSteps(Collection<String> keys) {
    requireLive();
    // The server may refuse the held result. Once the run is released, nothing checks the answer.
    reports.awaitDurable();
    Suspension suspension = Suspension.forSteps(keys);
    state.suspensions().await(this, suspension);
    return suspension.results();
  }
}
