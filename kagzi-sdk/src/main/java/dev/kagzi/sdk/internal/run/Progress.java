package dev.kagzi.sdk.internal.run;

import dev.kagzi.protocol.v1.ErrorDetail;
import dev.kagzi.protocol.v1.RecordedStep;
import dev.kagzi.protocol.v1.ReportItem;
import dev.kagzi.protocol.v1.ReportResult;
import dev.kagzi.sdk.internal.report.ReportLane;
import dev.kagzi.sdk.internal.report.ReportListener;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How far a run is, and how much of that is durable. The run's thread goes forward; other threads
 * may stop it, announce its running step, or send a result that it holds for too long. Thread-safe
 * where it says so; the rest belongs to the run's thread.
 */
final class Progress {
  private static final Logger log = LoggerFactory.getLogger(Progress.class);

  /** A result is not held longer, if the code between two steps takes its time. */
  private static final long HOLD_NANOS_MAX = TimeUnit.MILLISECONDS.toNanos(20);

  /** A larger result may be refused: nothing is sent behind it before it is acknowledged. */
  private static final int HELD_BYTES_MAX = 256 << 10;

  /** Code that was interrupted is given this long to leave. */
  private static final long LEAVE_NANOS_MAX = TimeUnit.SECONDS.toNanos(1);

  private final Thread thread;
  private final ReportLane lane;
  private final Deadline deadline;
  private final ReentrantLock lock = new ReentrantLock();
  private volatile @Nullable Ending ending;
  private boolean finished;

  /** The last step's result, not yet handed to the reporter. */
  private volatile @Nullable ReportItem held;

  private volatile long heldNanos;

  /** The last step's result, handed to the reporter, its answer not yet judged. */
  private @Nullable ReportItem unsettled;

  private @Nullable Acknowledgement acknowledgement;

  private volatile @Nullable RunningStep running;

  /** Since when the code has been asked to leave; null if it was not, or has left its step. */
  private volatile @Nullable Long interruptedNanos;

  Progress(Thread thread, ReportLane lane, Deadline deadline) {
    this.thread = thread;
    this.lane = lane;
    this.deadline = deadline;
  }

  String runId() {
    return lane.runId();
  }

  ReportItem.Builder item() {
    return lane.item();
  }

  @Nullable Ending ending() {
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

  /** Leaves the workflow's code if the run shall not go on here. */
  void check() {
    if (ending != null) {
      throw new SuspendedError();
    }
  }

  /** Ends the execution from inside. Never returns; the type lets callers say {@code throw}. */
  SuspendedError end(Ending why) {
    lock.lock();
    try {
      if (ending == null) {
        ending = why;
      }
    } finally {
      lock.unlock();
    }
    throw new SuspendedError();
  }

  /**
   * Ends the execution from outside and interrupts the code; false if it had ended. Thread-safe.
   */
  boolean stop(Ending why) {
    lock.lock();
    try {
      if (ending != null || finished) {
        return false;
      }
      ending = why;
      interrupt(System.nanoTime());
    } finally {
      lock.unlock();
    }
    return true;
  }

  /** As {@link #stop}, and gives the run back with what it had reached. Thread-safe. */
  boolean release(ReportListener listener) {
    lock.lock();
    try {
      if (ending != null || finished) {
        return false;
      }
      ending = new Ending.Released();
      ReportItem released =
          lane.item().setReleased(ReportItem.Released.getDefaultInstance()).build();
      sendWithHeld(released, listener);
      interrupt(System.nanoTime());
    } finally {
      lock.unlock();
    }
    return true;
  }

  // Under the lock: an interrupt for a step must not reach the code behind it.
  private void interrupt(long nowNanos) {
    if (interruptedNanos == null) {
      interruptedNanos = nowNanos;
    }
    thread.interrupt();
  }

  void stepBegins(RunningStep step) {
    lock.lock();
    try {
      running = step;
    } finally {
      lock.unlock();
    }
  }

  /** The step's code has left; an interrupt that was meant for it is over with it. */
  void stepEnds(RunningStep step) {
    lock.lock();
    try {
      running = null;
      if (step.isInterrupted() && ending == null) {
        interruptedNanos = null;
        boolean unused = Thread.interrupted();
      }
    } finally {
      lock.unlock();
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

  /**
   * Cuts the execution off from a step that has ignored its interrupt: nothing more is written by
   * its thread. Returns that step, once, for the caller to report. Thread-safe.
   */
  @Nullable RunningStep cutOff(long nowNanos) {
    RunningStep step = running;
    if (step == null || !step.isInterrupted() || ignoredNanos(nowNanos) == 0) {
      return null;
    }
    lock.lock();
    try {
      if (ending != null || finished || running != step) {
        return null;
      }
      ending = new Ending.CutOff();
      return step;
    } finally {
      lock.unlock();
    }
  }

  /** Takes a step's result; it is durable once {@link #settle} or a later report returns. */
  void hold(ReportItem stepDone) {
    lock.lock();
    try {
      heldNanos = System.nanoTime();
      held = stepDone;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Called many times per second: announces long steps, sends results held for long, interrupts
   * what has run out of time. Thread-safe.
   */
  void tick(long nowNanos) {
    if (!isTickDue(nowNanos)) {
      return;
    }
    lock.lock();
    try {
      if (ending != null || finished) {
        return;
      }
      if (deadline.isPast(nowNanos)) {
        ending = new Ending.Overdue();
        interrupt(nowNanos);
        return;
      }
      if (isHeldLong(nowNanos)) {
        sendHeld();
      }
      RunningStep step = running;
      if (step != null) {
        tick(step, nowNanos);
      }
    } finally {
      lock.unlock();
    }
  }

  // Looked at without the lock, which the run's thread wants more often than this is due.
  private boolean isTickDue(long nowNanos) {
    RunningStep step = running;
    return isHeldLong(nowNanos)
        || deadline.isPast(nowNanos)
        || (step != null && (step.isAnnouncementDue(nowNanos) || step.isInterruptDue(nowNanos)));
  }

  private boolean isHeldLong(long nowNanos) {
    return held != null && nowNanos - heldNanos > HOLD_NANOS_MAX;
  }

  private void tick(RunningStep step, long nowNanos) {
    if (step.isAnnouncementDue(nowNanos)) {
      lane.send(
          lane.item().setStepStarted(step.announce(nowNanos)).build(),
          result -> {
            if (result.hasClaimLost()) {
              stop(new Ending.Lost());
            }
          });
    }
    if (step.isInterruptDue(nowNanos)) {
      step.markInterrupted();
      interrupt(nowNanos);
    }
  }

  private void sendHeld() {
    ReportItem item = held;
    if (item != null) {
      Acknowledgement ack = new Acknowledgement(thread);
      held = null;
      unsettled = item;
      acknowledgement = ack;
      lane.send(item, ack);
    }
  }

  private void sendWithHeld(ReportItem item, ReportListener listener) {
    ReportItem before = held;
    if (before == null) {
      lane.send(item, listener);
      return;
    }
    Acknowledgement ack = new Acknowledgement(thread);
    held = null;
    unsettled = before;
    acknowledgement = ack;
    lane.send(before, ack, item, listener);
  }

  /** Waits until all results so far are durable. */
  void settle() {
    lock.lock();
    try {
      if (ending == null) {
        sendHeld();
      }
    } finally {
      lock.unlock();
    }
    judgeUnsettled();
    check();
  }

  /**
   * Says what happened, behind the result that is held if there is one, and waits for the answer.
   */
  ReportResult report(ReportItem item) {
    Acknowledgement ack = new Acknowledgement(thread);
    sendBehindHeld(item, ack, false);
    ReportResult result = await(ack);
    judgeUnsettled();
    check();
    if (result.hasClaimLost()) {
      throw end(new Ending.Lost());
    }
    return result;
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
      lock.lock();
      try {
        check();
        if (unsettled == null && !isLarge(held)) {
          finished = last;
          sendWithHeld(item, listener);
          return;
        }
      } finally {
        lock.unlock();
      }
      settle();
    }
  }

  private static boolean isLarge(@Nullable ReportItem item) {
    return item != null && item.getSerializedSize() > HELD_BYTES_MAX;
  }

  /** The last report of an execution that has ended otherwise; the held result still counts. */
  void conclude(ReportItem item, ReportListener listener) {
    lock.lock();
    try {
      finished = true;
      sendWithHeld(item, listener);
    } finally {
      lock.unlock();
    }
  }

  /** Waits in place, as the server asked; leaves the code if the run is stopped meanwhile. */
  void waitInPlace(long delayMs) {
    long untilNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(delayMs);
    boolean interrupted = false;
    check();
    for (long left = untilNanos - System.nanoTime();
        left > 0;
        left = untilNanos - System.nanoTime()) {
      LockSupport.parkNanos(this, left);
      interrupted |= Thread.interrupted();
      check();
    }
    if (interrupted) {
      thread.interrupt();
    }
  }

  private ReportResult await(Acknowledgement ack) {
    boolean interrupted = false;
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
    ReportItem item;
    Acknowledgement ack;
    lock.lock();
    try {
      item = unsettled;
      ack = acknowledgement;
      unsettled = null;
      acknowledgement = null;
    } finally {
      lock.unlock();
    }
    if (item != null && ack != null) {
      judge(item, await(ack));
    }
  }

  // The value was handed to the code before it was recorded. If something else is on record, the
  // code has gone on from a value that never was: it starts over.
  private void judge(ReportItem item, ReportResult result) {
    switch (result.getResultCase()) {
      case ACCEPTED -> {}
      case CLAIM_LOST -> throw end(new Ending.Lost());
      case ALREADY_RECORDED -> {
        if (!isSame(item.getStepDone(), result.getAlreadyRecorded())) {
          log.atWarn()
              .addKeyValue("run", item.getRunId())
              .addKeyValue("step", item.getStepDone().getStepKey())
              .log("step had another result on record, the run starts over from the record");
          throw end(new Ending.StartOver());
        }
      }
      case REFUSED -> throw failRefusedStep(item, result.getRefused());
      default -> throw end(new Ending.StartOver());
    }
  }

  private static boolean isSame(ReportItem.StepDone own, RecordedStep recorded) {
    return recorded.hasOutput() && recorded.getOutput().equals(own.getOutput());
  }

  // A result that cannot be stored (too large) is a failure of its step, which the code shall see.
  private SuspendedError failRefusedStep(ReportItem item, ErrorDetail why) {
    ReportItem.StepDone done = item.getStepDone();
    ReportItem.StepFailed failed =
        ReportItem.StepFailed.newBuilder()
            .setStepKey(done.getStepKey())
            .setAttempt(done.getAttempt())
            .setError(why.toBuilder().setNonRetryable(true))
            .setRanMs(done.getRanMs())
            .build();
    ReportResult result = report(lane.item().setStepFailed(failed).build());
    throw end(result.hasFinalFailure() ? new Ending.StartOver() : new Ending.Refused(why));
  }
}
