package dev.kagzi.sdk.internal.run;

import dev.kagzi.protocol.v1.ErrorDetail;
import dev.kagzi.protocol.v1.RecordedStep;
import dev.kagzi.protocol.v1.ReportItem;
import dev.kagzi.protocol.v1.ReportResult;
import dev.kagzi.sdk.internal.log.EventLog;
import dev.kagzi.sdk.internal.report.ReportListener;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * One line of a run's execution: the workflow's own, or that of a branch. Each has its thread, and
 * its own last result that is not durable yet. Its thread goes forward; what other threads do to it
 * they do under the lock of the run's progress. Methods belong to the strand's thread unless they
 * say otherwise.
 */
final class WorkflowThread {
  private static final EventLog log = EventLog.of(WorkflowThread.class);

  /** A result is not held longer, if the code between two steps takes its time. */
  private static final long HOLD_NANOS_MAX = TimeUnit.MILLISECONDS.toNanos(20);

  /** A larger result may be refused: nothing is sent behind it before it is acknowledged. */
  private static final int HELD_BYTES_MAX = 256 << 10;

  /** More of what needs no answer at once is not under way. */
  private static final int UNSETTLED_MAX = 1_000;

  /** Code that was interrupted is given this long to leave. */
  private static final long LEAVE_NANOS_MAX = TimeUnit.SECONDS.toNanos(1);

  /** Longer than anybody waits. */
  private static final long STILL_NANOS = TimeUnit.DAYS.toNanos(365);

  private static final ThreadLocal<@Nullable WorkflowThread> CURRENT = new ThreadLocal<>();

  private final RunExecutionState progress;
  private final Thread thread;
  private final @Nullable WorkflowThread parent;

  /** Somebody else has decided what this branch was to find out: nothing of it counts any more. */
  private volatile boolean stopped;

  /** The last step's result, not yet handed to the reporter. */
  private volatile @Nullable ReportItem held;

  private volatile long heldNanos;

  /** Handed to the reporter, the answers not yet judged. */
  private final ArrayDeque<Unsettled> unsettled = new ArrayDeque<>(2);

  private volatile @Nullable RunningStep running;

  /** It, or a branch of it, has done something that was not on record. */
  private volatile boolean live;

  /** Since when the code has been asked to leave; null if it was not, or has left its step. */
  private volatile @Nullable Long interruptedNanos;

  /** What it waits for; changed under the progress' lock. */
  volatile @Nullable Suspension wait;

  /** Whether it waits for one of its branches to end; changed under the progress' lock. */
  volatile boolean joins;

  /** Whether the application's code is on the thread, in its context's calls too. */
  private volatile boolean inCode;

  private volatile long usedContextNanos;

  /** When a tick last saw it in a step, or waiting. */
  private volatile long seenBusyNanos = System.nanoTime();

  private record Unsettled(ReportItem item, Acknowledgement acknowledgement) {}

  WorkflowThread(RunExecutionState progress, Thread thread, @Nullable WorkflowThread parent) {
    this.progress = progress;
    this.thread = thread;
    this.parent = parent;
  }

  /** The strand that this thread executes; null if it executes none. */
  static @Nullable WorkflowThread current() {
    return CURRENT.get();
  }

  /** The run that this thread executes, for the log; empty if it executes none. */
  static String currentRunId() {
    WorkflowThread current = CURRENT.get();
    return current == null ? "" : current.progress.runId();
  }

  /** The calling thread executes this strand from now on. */
  void enter() {
    CURRENT.set(this);
  }

  Thread thread() {
    return thread;
  }

  /** The application's code begins. */
  void codeBegins() {
    usesContext();
    inCode = true;
  }

  void codeEnds() {
    inCode = false;
  }

  void usesContext() {
    usedContextNanos = System.nanoTime();
  }

  /** Thread-safe. */
  boolean isInStepOrWait() {
    return running != null || wait != null || joins;
  }

  /** Called by ticks. */
  void seenBusy(long nowNanos) {
    seenBusyNanos = nowNanos;
  }

  /** For how long its code has neither ended nor used its context, as far as ticks have seen. */
  long silentNanos(long nowNanos) {
    return inCode ? Math.min(nowNanos - usedContextNanos, nowNanos - seenBusyNanos) : 0;
  }

  RunExecutionState progress() {
    return progress;
  }

  /** Whether its code has come further than the record. Thread-safe. */
  boolean isLive() {
    return live;
  }

  private void goLive() {
    for (WorkflowThread each = this; each != null && !each.live; each = each.parent) {
      each.live = true;
    }
  }

  /** Whether this is the other, or a branch of it at whatever depth. */
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
    return progress.item();
  }

  /** Leaves the code if the run, or this branch of it, shall not go on here. */
  void check() {
    if (stopped || progress.ending() != null) {
      throw new SuspendedError();
    }
  }

  boolean isStopped() {
    return stopped;
  }

  /** Ends the whole execution from inside. Never returns. */
  SuspendedError end(StopReason why) {
    if (!stopped) {
      progress.end(this, why);
    }
    throw new SuspendedError();
  }

  /** Whether no other strand of the run is open. */
  boolean isAlone() {
    return progress.isAlone();
  }

  // ---- under the progress' lock, by any thread

  /** Nothing of this strand counts from now on. */
  void stop(long nowNanos) {
    stopped = true;
    held = null;
    interrupt(nowNanos);
  }

  // Under the lock: an interrupt for a step must not reach the code behind it.
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

  Acknowledgement expect(ReportItem item) {
    Acknowledgement acknowledgement = new Acknowledgement(thread);
    unsettled.add(new Unsettled(item, acknowledgement));
    return acknowledgement;
  }

  boolean isHeldLong(long nowNanos) {
    return held != null && nowNanos - heldNanos > HOLD_NANOS_MAX;
  }

  void sendHeld() {
    ReportItem item = takeHeld();
    if (item != null) {
      progress.lane().send(item, expect(item));
    }
  }

  private void sendWithHeld(ReportItem item, ReportListener listener) {
    ReportItem before = takeHeld();
    if (before == null) {
      progress.lane().send(item, listener);
    } else {
      progress.lane().send(before, expect(before), item, listener);
    }
  }

  // ---- steps

  void stepBegins(RunningStep step) {
    goLive();
    progress.lock();
    try {
      running = step;
    } finally {
      progress.unlock();
    }
  }

  /** The step's code has left; an interrupt that was meant for it is over with it. */
  void stepEnds(RunningStep step) {
    progress.lock();
    try {
      running = null;
      if (step.isInterrupted() && progress.ending() == null && !stopped) {
        interruptedNanos = null;
        boolean unused = Thread.interrupted();
      }
    } finally {
      progress.unlock();
    }
  }

  /** The step that is being executed now. Thread-safe. */
  @Nullable RunningStep running() {
    return running;
  }

  /**
   * For how long the code has ignored its interrupt; 0 if it was not asked to leave, or only just.
   * Thread-safe.
   */
  long ignoredNanos(long nowNanos) {
    Long since = interruptedNanos;
    return since == null || nowNanos - since < LEAVE_NANOS_MAX ? 0 : nowNanos - since;
  }

  /** Takes a step's result; it is durable once {@link #settle} or a later report returns. */
  void hold(ReportItem stepDone) {
    progress.lock();
    try {
      heldNanos = System.nanoTime();
      held = stepDone;
    } finally {
      progress.unlock();
    }
  }

  // ---- reports

  /** Waits until all results so far are durable. */
  void settle() {
    progress.lock();
    try {
      if (progress.ending() == null && !stopped) {
        sendHeld();
      }
    } finally {
      progress.unlock();
    }
    judgeUnsettled();
    check();
  }

  /**
   * Says what happened, behind the result that is held if there is one, and waits for the answer.
   */
  ReportResult report(ReportItem item) {
    goLive();
    Acknowledgement ack = new Acknowledgement(thread);
    sendBehindHeld(item, ack, false);
    ReportResult result = await(ack);
    judgeUnsettled();
    check();
    if (result.hasClaimLost()) {
      throw end(new StopReason.Lost());
    }
    return result;
  }

  /**
   * Says something whose answer is only of interest before the next effect: {@link #settle} waits
   * for it, and so does every report.
   */
  Acknowledgement tell(ReportItem item) {
    goLive();
    while (true) {
      progress.lock();
      try {
        check();
        if (!isLarge(held) && unsettled.size() < UNSETTLED_MAX) {
          sendHeld();
          Acknowledgement acknowledgement = expect(item);
          progress.lane().send(item, acknowledgement);
          return acknowledgement;
        }
      } finally {
        progress.unlock();
      }
      settle();
    }
  }

  /**
   * Says how the run ended, behind the result that is held if there is one. Does not wait: the
   * listener hears the answer.
   */
  void finish(ReportItem item, ReportListener listener) {
    sendBehindHeld(item, listener, true);
  }

  private void sendBehindHeld(ReportItem item, ReportListener listener, boolean last) {
    while (true) {
      progress.lock();
      try {
        check();
        if (unsettled.isEmpty() && !isLarge(held)) {
          if (last) {
            progress.markFinished();
          }
          sendWithHeld(item, listener);
          return;
        }
      } finally {
        progress.unlock();
      }
      settle();
    }
  }

  private static boolean isLarge(@Nullable ReportItem item) {
    return item != null && item.getSerializedSize() > HELD_BYTES_MAX;
  }

  /** Waits for an answer; leaves the code if the run is stopped meanwhile. */
  ReportResult await(Acknowledgement ack) {
    boolean interrupted = false;
    ack.alsoWake(thread);
    try {
      for (ReportResult result = ack.result(); ; result = ack.result()) {
        if (result != null) {
          return result;
        }
        check();
        LockSupport.park(this);
        // Cleared, or the next park would return at once and this would spin.
        interrupted |= Thread.interrupted();
      }
    } finally {
      if (interrupted) {
        thread.interrupt();
      }
    }
  }

  private void judgeUnsettled() {
    for (Unsettled next = nextUnsettled(); next != null; next = nextUnsettled()) {
      judge(next.item, await(next.acknowledgement));
    }
  }

  private @Nullable Unsettled nextUnsettled() {
    progress.lock();
    try {
      return unsettled.pollFirst();
    } finally {
      progress.unlock();
    }
  }

  // The value was handed to the code before it was recorded. If something else is on record, the
  // code has gone on from a value that never was: it starts over.
  private void judge(ReportItem item, ReportResult result) {
    switch (result.getResultCase()) {
      case ACCEPTED -> {}
      case CLAIM_LOST -> throw end(new StopReason.Lost());
      case ALREADY_RECORDED -> {
        if (item.hasStepDone() && !isSame(item.getStepDone(), result.getAlreadyRecorded())) {
          log.warn("step had another result on record, the run starts over from the record")
              .with("run", item.getRunId())
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

  // A result that cannot be stored (too large) is a failure of its step, which the code shall see.
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
            .setRanMs(done.getRanMs())
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

  // ---- waits

  /** Waits for so long, whatever the other strands do. */
  void rest(long delayMs) {
    Suspension wait = Suspension.until(System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(delayMs));
    boolean interrupted = false;
    check();
    while (!wait.isOver(System.nanoTime())) {
      wait.rest(System.nanoTime());
      interrupted |= Thread.interrupted();
      check();
    }
    if (interrupted) {
      thread.interrupt();
    }
  }

  /**
   * Waits for so many milliseconds, in place; while all branches of the run wait for long, the run
   * is given back and this does not return.
   */
  void pause(long delayMs) {
    pauseUntil(System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(delayMs));
  }

  void pauseUntil(long nanos) {
    progress.waits().await(this, Suspension.until(nanos));
  }

  /** Does not go on: when all strands wait, the run is given back. Never returns. */
  SuspendedError standStill() {
    settle();
    pauseUntil(System.nanoTime() + STILL_NANOS);
    throw end(new StopReason.Parked());
  }

  /** The ends of the children that carry out these steps. */
  Map<String, RecordedStep> awaitSteps(Collection<String> keys) {
    // What is held would be lost with the claim.
    settle();
    Suspension wait = Suspension.forSteps(keys);
    progress.waits().await(this, wait);
    return wait.come();
  }
}
