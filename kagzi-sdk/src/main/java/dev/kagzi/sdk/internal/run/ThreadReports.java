package dev.kagzi.sdk.internal.run;

import dev.kagzi.protocol.v1.Payload;
import dev.kagzi.protocol.v1.ReportItem;
import dev.kagzi.protocol.v1.ReportResult;
import dev.kagzi.sdk.internal.log.EventLog;
import dev.kagzi.sdk.internal.report.ReportListener;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The reports of one workflow thread: the result that is held for the next report, the values that
 * its code has published, and the answers that are not checked yet. Only the workflow thread may
 * use it, except for the methods that a comment below names.
 */
final class ThreadReports {
  private static final EventLog log = EventLog.of(ThreadReports.class);

  /** The first tick after this time sends a held result. */
  private static final long HOLD_NANOS_MAX = TimeUnit.MILLISECONDS.toNanos(20);

  /** The server may refuse a larger result, so the next report waits for its answer. */
  private static final int HELD_BYTES_MAX = 256 << 10;

  /** Limit of reports that are sent but not answered. */
  private static final int UNANSWERED_MAX = 1_000;

  private final RunExecutionState state;
  private final WorkflowThread workflowThread;

  /** The last step's result, not yet handed to the reporter. */
  private volatile @Nullable ReportItem held;

  private volatile long heldNanos;

  /** What the code has published since the last report of this thread. */
  private final PendingValues published = new PendingValues();

  /** Reports that were handed to the reporter and whose answers are not checked yet. */
  private final ArrayDeque<Unanswered> unanswered = new ArrayDeque<>(2);

  /** Reports that are sent together, in this order. */
  static final class ReportGroup {
    final List<ReportItem> items = new ArrayList<>(3);
    final List<ReportListener> listeners = new ArrayList<>(3);

    void add(ReportItem item, ReportListener listener) {
      items.add(item);
      listeners.add(listener);
    }
  }

  private record Unanswered(ReportItem item, ReportAnswer answer) {}

  ThreadReports(RunExecutionState state, WorkflowThread workflowThread) {
    this.state = state;
    this.workflowThread = workflowThread;
  }

  // Any thread may call the methods from here to adoptPublished, under the lock of the execution
  // state; isSendDue also without it.

  /** Drops the held result, because the branch of this thread was stopped. */
  void dropHeld() {
    held = null;
  }

  private @Nullable ReportItem takeHeld() {
    ReportItem item = held;
    held = null;
    return item;
  }

  private ReportAnswer expectAnswer(ReportItem item) {
    ReportAnswer answer = new ReportAnswer(workflowThread.thread());
    unanswered.add(new Unanswered(item, answer));
    return answer;
  }

  /** Whether a result or a published value has waited for the next report for too long. */
  boolean isSendDue(long nowNanos) {
    return (held != null && nowNanos - heldNanos > HOLD_NANOS_MAX) || published.isOld(nowNanos);
  }

  /** If a result is held, sends it together with the published values; else sends nothing. */
  private void sendHeld() {
    if (!published.isEmpty()) {
      if (held != null) {
        sendPending();
      }
      return;
    }
    ReportItem item = takeHeld();
    if (item != null) {
      state.lane().send(item, expectAnswer(item));
    }
  }

  /** Sends the held result and what the code has published, if there is any of it. */
  void sendPending() {
    ReportGroup pending = new ReportGroup();
    takePending(pending);
    if (!pending.items.isEmpty()) {
      state.lane().sendAll(pending.items, pending.listeners);
    }
  }

  /** Sends an item behind the held result and what the code has published. */
  void sendWithHeld(ReportItem item, ReportListener listener) {
    ReportItem previous = published.isEmpty() ? takeHeld() : null;
    if (!published.isEmpty()) {
      ReportGroup all = new ReportGroup();
      takePending(all);
      all.add(item, listener);
      state.lane().sendAll(all.items, all.listeners);
    } else if (previous == null) {
      state.lane().send(item, listener);
    } else {
      state.lane().sendAll(List.of(previous, item), List.of(expectAnswer(previous), listener));
    }
  }

  /** Takes what {@link #sendPending} would send. */
  void takePending(ReportGroup into) {
    addPublished(published.takeBeforeHeld(), into);
    ReportItem result = takeHeld();
    if (result != null) {
      into.add(result, expectAnswer(result));
    }
    addPublished(published.takeOthers(), into);
  }

  private void addPublished(ReportItem.@Nullable ValuesPublished values, ReportGroup into) {
    if (values != null) {
      into.add(state.item().setValuesPublished(values).build(), this::publishedAnswered);
    }
  }

  // The server counts what all executions and attempts of the run have stored, so it can refuse
  // values that the limits of this execution allow. A run that has just ended or begun to wait
  // goes on: then only this line tells that the values are missing.
  private void publishedAnswered(ReportResult result) {
    published.answered();
    if (result.hasRefused()) {
      log.warn("published values are not stored")
          .about(state.logged())
          .with("reason", result.getRefused().getMessage())
          .write();
    }
    state.publishedAnswered(result);
  }

  /** Takes over what a branch has published and not sent. */
  void adoptPublished(ThreadReports branch) {
    published.addAll(branch.published, System.nanoTime());
  }

  /**
   * Sends the value with this thread's next report, or after about two seconds without a report.
   */
  void publish(String scope, String name, Payload value) {
    state.lock();
    try {
      workflowThread.check();
      published.add(state.publishedCounts().next(scope, name, value), System.nanoTime());
    } finally {
      state.unlock();
    }
  }

  /** Like {@link #publish}, for the code of a step; ignored if its result no longer counts. */
  void publishInStep(RunningStep step, String scope, int epoch, String name, Payload value) {
    state.lock();
    try {
      if (workflowThread.running() == step
          && !workflowThread.isStopped()
          && state.stopReason() == null) {
        published.add(
            state.publishedCounts().nextInStep(scope, epoch, name, value), System.nanoTime());
      }
    } finally {
      state.unlock();
    }
  }

  /**
   * Drops what the code published before a step that this attempt of the run has recorded: these
   * values were stored before that step.
   */
  void dropPublishedBeforeRecorded() {
    if (!workflowThread.isLive() && !published.isEmpty()) {
      state.lock();
      try {
        published.clear();
      } finally {
        state.unlock();
      }
    }
  }

  /** Keeps a result until the next report; {@link #awaitDurable} makes it durable. */
  void hold(ReportItem stepDone) {
    state.lock();
    try {
      heldNanos = System.nanoTime();
      held = stepDone;
      published.resultHeld();
    } finally {
      state.unlock();
    }
  }

  /**
   * Like {@link #hold}, for a value that does not have to wait until the previous result is
   * durable. Sends the previous held result now.
   */
  void holdNext(ReportItem stepDone) {
    workflowThread.markLive();
    while (true) {
      state.lock();
      try {
        workflowThread.check();
        if (!isLarge(held) && unanswered.size() < UNANSWERED_MAX) {
          sendHeld();
          hold(stepDone);
          return;
        }
      } finally {
        state.unlock();
      }
      awaitDurable();
    }
  }

  void awaitDurable() {
    state.lock();
    try {
      if (state.stopReason() == null && !workflowThread.isStopped()) {
        sendHeld();
      }
    } finally {
      state.unlock();
    }
    checkAnswers();
    workflowThread.check();
  }

  /** Sends a report, behind the held result if there is one, and waits for the answer. */
  ReportResult report(ReportItem item) {
    workflowThread.markLive();
    ReportAnswer answer = new ReportAnswer(workflowThread.thread());
    sendAfterHeld(item, answer, false);
    ReportResult result = await(answer);
    checkAnswers();
    workflowThread.check();
    if (result.hasClaimLost()) {
      throw workflowThread.end(new StopReason.Lost());
    }
    return result;
  }

  /**
   * Sends a report. Does not wait for its answer, which the next {@link #awaitDurable} or {@link
   * #report} checks. Waits for earlier answers if there are too many, or if the held result is
   * large.
   */
  ReportAnswer reportAsync(ReportItem item) {
    workflowThread.markLive();
    while (true) {
      state.lock();
      try {
        workflowThread.check();
        if (!isLarge(held) && unanswered.size() < UNANSWERED_MAX) {
          sendHeld();
          ReportAnswer answer = expectAnswer(item);
          sendWithHeld(item, answer);
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
        workflowThread.check();
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
    answer.alsoWake(workflowThread.thread());
    try {
      for (ReportResult result = answer.result(); ; result = answer.result()) {
        if (result != null) {
          return result;
        }
        workflowThread.check();
        LockSupport.park(this);
        // Clear the flag, or the next park would return at once and this loop would spin.
        interrupted |= Thread.interrupted();
      }
    } finally {
      if (interrupted) {
        workflowThread.thread().interrupt();
      }
    }
  }

  private void checkAnswers() {
    for (Unanswered next = nextUnanswered(); next != null; next = nextUnanswered()) {
      AnswerCheck.check(workflowThread, next.item, await(next.answer));
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
}
