package dev.kagzi.sdk.internal.run;

import dev.kagzi.protocol.v1.ErrorDetail;
import dev.kagzi.protocol.v1.RecordedStep;
import dev.kagzi.protocol.v1.ReportItem;
import dev.kagzi.protocol.v1.ReportResult;
import dev.kagzi.sdk.internal.log.EventLog;
import dev.kagzi.sdk.internal.log.LogContext;
import dev.kagzi.sdk.internal.report.ReportListener;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * One thread of a run's execution: the main workflow code or a branch. Each has its own virtual
 * thread and its own held result. Only this thread executes steps, reports and waits. Other threads
 * may read its state without a lock, and change it under the lock of {@link RunExecutionState}.
 * They set two fields without the lock: ticks set {@code seenBusyNanos}, and branches of this
 * thread set {@code live}.
 */
final class WorkflowThread {
  private static final EventLog log = EventLog.of(WorkflowThread.class);

  /** The first tick after this time sends a held result. */
  private static final long HOLD_NANOS_MAX = TimeUnit.MILLISECONDS.toNanos(20);

  /** The server may refuse a larger result, so the next report waits for its answer. */
  private static final int HELD_BYTES_MAX = 256 << 10;

  /** Limit of reports that are sent but not answered. */
  private static final int UNANSWERED_MAX = 1_000;

  /** Interrupted code has this long to return before it counts as stuck. */
  private static final long RETURN_NANOS_MAX = TimeUnit.SECONDS.toNanos(1);

  private static final long INDEFINITE_NANOS = TimeUnit.DAYS.toNanos(365);

  private static final ThreadLocal<@Nullable WorkflowThread> CURRENT = new ThreadLocal<>();

  private final RunExecutionState state;
  private final Thread thread;
  private final @Nullable WorkflowThread parent;

  /** The branch's result is no longer needed; nothing more of it is reported. */
  private volatile boolean stopped;

  /** The last step's result, not yet handed to the reporter. */
  private volatile @Nullable ReportItem held;

  private volatile long heldNanos;

  /** Reports that were handed to the reporter and whose answers are not checked yet. */
  private final ArrayDeque<Unanswered> unanswered = new ArrayDeque<>(2);

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

  private volatile long usedContextNanos;

  /** When a tick last saw it in a step, a wait or a context call, or came after a gap. */
  private volatile long seenBusyNanos = System.nanoTime();

  private record Unanswered(ReportItem item, ReportAnswer answer) {}

  WorkflowThread(RunExecutionState state, Thread thread, @Nullable WorkflowThread parent) {
    this.state = state;
    this.thread = thread;
    this.parent = parent;
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

  private void markLive() {
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

  // Any thread may call the methods from here to sendHeld, under the lock of the execution state.

  void stop(long nowNanos) {
    stopped = true;
    held = null;
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

  @Nullable ReportItem takeHeld() {
    ReportItem item = held;
    held = null;
    return item;
  }

  ReportAnswer expectAnswer(ReportItem item) {
    ReportAnswer answer = new ReportAnswer(thread);
    unanswered.add(new Unanswered(item, answer));
    return answer;
  }

  boolean isHeldLong(long nowNanos) {
    return held != null && nowNanos - heldNanos > HOLD_NANOS_MAX;
  }

  void sendHeld() {
    ReportItem item = takeHeld();
    if (item != null) {
      state.lane().send(item, expectAnswer(item));
    }
  }

  private void sendWithHeld(ReportItem item, ReportListener listener) {
    ReportItem previous = takeHeld();
    if (previous == null) {
      state.lane().send(item, listener);
    } else {
      state.lane().sendAll(List.of(previous, item), List.of(expectAnswer(previous), listener));
    }
  }

  void stepBegins(RunningStep step) {
    markLive();
    state.lock();
    try {
      running = step;
    } finally {
      state.unlock();
    }
  }

  /** Called when the step's code has returned; clears an interrupt that was meant for the step. */
  void stepEnds(RunningStep step) {
    state.lock();
    try {
      running = null;
      if (step.isInterrupted() && state.stopReason() == null && !stopped) {
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

  /** Keeps a result until the next report; {@link #awaitDurable} makes it durable. */
  void hold(ReportItem stepDone) {
    state.lock();
    try {
      heldNanos = System.nanoTime();
      held = stepDone;
    } finally {
      state.unlock();
    }
  }

  void awaitDurable() {
    state.lock();
    try {
      if (state.stopReason() == null && !stopped) {
        sendHeld();
      }
    } finally {
      state.unlock();
    }
    checkAnswers();
    check();
  }

  /** Sends a report, behind the held result if there is one, and waits for the answer. */
  ReportResult report(ReportItem item) {
    markLive();
    ReportAnswer answer = new ReportAnswer(thread);
    sendAfterHeld(item, answer, false);
    ReportResult result = await(answer);
    checkAnswers();
    check();
    if (result.hasClaimLost()) {
      throw end(new StopReason.Lost());
    }
    return result;
  }

  /**
   * Sends a report. Does not wait for its answer, which the next {@link #awaitDurable} or {@link
   * #report} checks. Waits for earlier answers if there are too many, or if the held result is
   * large.
   */
  ReportAnswer reportAsync(ReportItem item) {
    markLive();
    while (true) {
      state.lock();
      try {
        check();
        if (!isLarge(held) && unanswered.size() < UNANSWERED_MAX) {
          sendHeld();
          ReportAnswer answer = expectAnswer(item);
          state.lane().send(item, answer);
          return answer;
        }
      } finally {
        state.unlock();
      }
      awaitDurable();
    }
  }

  /** Sends the run's last report, with the held result, once earlier ones are answered. */
  void finish(ReportItem item, ReportListener listener) {
    sendAfterHeld(item, listener, true);
  }

  private void sendAfterHeld(ReportItem item, ReportListener listener, boolean last) {
    while (true) {
      state.lock();
      try {
        check();
        if (unanswered.isEmpty() && !isLarge(held)) {
          if (last) {
            state.markFinished();
          }
          sendWithHeld(item, listener);
          return;
        }
      } finally {
        state.unlock();
      }
      awaitDurable();
    }
  }

  private static boolean isLarge(@Nullable ReportItem item) {
    return item != null && item.getSerializedSize() > HELD_BYTES_MAX;
  }

  /** Waits for an answer; throws {@link SuspendedError} if the run is stopped meanwhile. */
  ReportResult await(ReportAnswer answer) {
    boolean interrupted = false;
    answer.alsoWake(thread);
    try {
      for (ReportResult result = answer.result(); ; result = answer.result()) {
        if (result != null) {
          return result;
        }
        check();
        LockSupport.park(this);
        // Clear the flag, or the next park would return at once and this loop would spin.
        interrupted |= Thread.interrupted();
      }
    } finally {
      if (interrupted) {
        thread.interrupt();
      }
    }
  }

  private void checkAnswers() {
    for (Unanswered next = nextUnanswered(); next != null; next = nextUnanswered()) {
      checkAnswer(next.item, await(next.answer));
    }
  }

  private @Nullable Unanswered nextUnanswered() {
    state.lock();
    try {
      return unanswered.pollFirst();
    } finally {
      state.unlock();
    }
  }

  // The code received the value before it was recorded. If another value is recorded, the code has
  // continued from a wrong value, so the run starts over.
  private void checkAnswer(ReportItem item, ReportResult result) {
    switch (result.getResultCase()) {
      case ACCEPTED -> {}
      case CLAIM_LOST -> throw end(new StopReason.Lost());
      case ALREADY_RECORDED -> {
        if (item.hasStepDone() && !isSame(item.getStepDone(), result.getAlreadyRecorded())) {
          log.warn(
                  "another result of the step is already recorded, the run starts over from its history")
              .about(state.logged())
              .with("step", item.getStepDone().getStepKey())
              .write();
          throw end(new StopReason.StartOver());
        }
      }
      case REFUSED -> throw failRefused(item, result.getRefused());
      default -> throw end(new StopReason.StartOver());
    }
  }

  private static boolean isSame(ReportItem.StepDone own, RecordedStep recorded) {
    return recorded.hasOutput() && recorded.getOutput().equals(own.getOutput());
  }

  // A step's result that cannot be stored, because it is too large, becomes a final failure of the
  // step. The run starts over, so that its code receives this failure. Any other refused report
  // fails the run.
  private SuspendedError failRefused(ReportItem item, ErrorDetail why) {
    if (!item.hasStepDone()) {
      throw end(new StopReason.Refused(ofChild(item, why).setNonRetryable(true).build()));
    }
    ReportItem.StepDone done = item.getStepDone();
    ReportItem.StepFailed failed =
        ReportItem.StepFailed.newBuilder()
            .setStepKey(done.getStepKey())
            .setAttempt(done.getAttempt())
            .setError(why.toBuilder().setNonRetryable(true))
            .setRanUs(done.getRanUs())
            .build();
    ReportResult result = report(item().setStepFailed(failed).build());
    throw end(result.hasFinalFailure() ? new StopReason.StartOver() : new StopReason.Refused(why));
  }

  private static ErrorDetail.Builder ofChild(ReportItem item, ErrorDetail why) {
    return item.hasChildStarted()
        ? why.toBuilder()
            .setMessage(
                "child %s: %s".formatted(item.getChildStarted().getStepKey(), why.getMessage()))
        : why.toBuilder();
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
    state.suspensions().await(this, Suspension.until(nanos));
  }

  /** Suspends this thread without end. When all threads of the run wait, the run is released. */
  SuspendedError suspendIndefinitely() {
    awaitDurable();
    suspendUntil(System.nanoTime() + INDEFINITE_NANOS);
    throw end(new StopReason.Parked());
  }

  /** Waits for the children of these steps to end; returns their recorded steps by key. */
  Map<String, RecordedStep> awaitSteps(Collection<String> keys) {
    // Releasing the run would lose the held result.
    awaitDurable();
    Suspension suspension = Suspension.forSteps(keys);
    state.suspensions().await(this, suspension);
    return suspension.results();
  }
}
