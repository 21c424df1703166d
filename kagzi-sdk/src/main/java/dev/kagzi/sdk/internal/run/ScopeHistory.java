package dev.kagzi.sdk.internal.run;

import dev.kagzi.protocol.v1.RecordedStep;
import dev.kagzi.protocol.v1.StepKind;
import dev.kagzi.protocol.v1.Task;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Gives the steps of one scope their keys, and returns what is recorded under these keys. A scope
 * is the main code, a branch, an undo or a clean-up. Only its workflow thread may use it.
 */
final class ScopeHistory {
  private final String scope;
  private final RunHost.Settings settings;
  private final Task task;
  private final History history;
  private final WorkflowThread workflowThread;
  private final ContextUse use;
  private final ReplayCheck check;
  private final StepKeys keys = new StepKeys();
  private int keysGiven;

  ScopeHistory(
      String scope,
      RunHost.Settings settings,
      Task task,
      History history,
      WorkflowThread workflowThread,
      ContextUse use) {
    this.scope = scope;
    this.settings = settings;
    this.task = task;
    this.history = history;
    this.workflowThread = workflowThread;
    this.use = use;
    this.check = history.check(scope);
  }

  String nextKey(String name) {
    keysGiven++;
    return scope + keys.next(name);
  }

  /** How often {@link #nextKey} was called. */
  int keysGiven() {
    return keysGiven;
  }

  /** Returns the recorded step, or null. The kind is unspecified for a group of branches. */
  @Nullable RecordedStep take(String key, StepKind kind) {
    RecordedStep recorded = takeRecorded(key, kind);
    return kind == StepKind.STEP_KIND_UNSPECIFIED
        ? recorded
        : recordedOrCancelled(key, kind, recorded);
  }

  /**
   * Like {@link #take}, for a transactional step. A cancel that is not recorded yet does not throw
   * here: first it must be known whether the transaction was committed, perhaps by an earlier
   * claim.
   */
  @Nullable RecordedStep takeTransaction(String key) {
    return throwIfCancelled(takeRecorded(key, StepKind.STEP_KIND_FUNCTION));
  }

  private @Nullable RecordedStep takeRecorded(String key, StepKind kind) {
    boolean isGroup = kind == StepKind.STEP_KIND_UNSPECIFIED;
    if (workflowThread.isReplayOnly() && !isGroup && !history.hasResult(key)) {
      throw new HistoryEndedError();
    }
    RecordedStep recorded = history.take(key);
    // Only steps that this attempt of the run has recorded have an epoch.
    if (recorded != null && recorded.getEpoch() > 0) {
      workflowThread.reports().dropPublishedBeforeRecorded();
    }
    observe(key, kind, recorded);
    Nondeterminism nondeterminism = settings.nondeterminism();
    if (nondeterminism != null) {
      ReplayCheck.Mismatch mismatch = check.ask(key, kind, recorded);
      if (mismatch != null) {
        nondeterminism.onMismatch(workflowThread, task, mismatch);
      }
    }
    return recorded;
  }

  /**
   * Like {@link #take}, for a call that is recorded as a step only if it is refused or cancelled.
   * Without a record the call is no step, so the observer is not asked.
   */
  @Nullable RecordedStep takeRefusal(String key) {
    RecordedStep recorded = history.take(key);
    if (recorded != null) {
      if (recorded.getEpoch() > 0) {
        workflowThread.reports().dropPublishedBeforeRecorded();
      }
      observe(key, StepKind.STEP_KIND_FUNCTION, recorded);
    }
    return recordedOrCancelled(key, StepKind.STEP_KIND_FUNCTION, recorded);
  }

  private void observe(String key, StepKind kind, @Nullable RecordedStep recorded) {
    ReplayObserver observer = settings.observer();
    if (observer == null) {
      return;
    }
    switch (observer.asked(key, kind, recorded)) {
      case ReplayObserver.Verdict.Matches() -> {}
      case ReplayObserver.Verdict.HistoryEnds() -> throw workflowThread.suspendIndefinitely();
      case ReplayObserver.Verdict.Differs(String how) ->
          throw HistoryMismatch.blocked(workflowThread, "REPLAY_DIFFERS", how, null);
    }
  }

  /**
   * Returns the recorded step, or throws if the code learns of a cancel at this step. A child that
   * was started before the cancel is returned: the result of its handle throws instead.
   */
  private @Nullable RecordedStep recordedOrCancelled(
      String key, StepKind kind, @Nullable RecordedStep recorded) {
    workflowThread.asksFor(key);
    if (recorded == null || !ReplayCheck.hasResult(recorded)) {
      return workflowThread.mustCancel() ? Cancellation.see(workflowThread, key, kind) : recorded;
    }
    return throwIfCancelled(recorded);
  }

  private @Nullable RecordedStep throwIfCancelled(@Nullable RecordedStep recorded) {
    if (recorded != null && Cancellation.isSeen(recorded) && recorded.getChildRunId().isEmpty()) {
      throw use.cancelled();
    }
    return recorded;
  }

  /** Drops recorded steps with this key prefix; their branch will not run again. */
  void discard(String prefix) {
    Set<String> keys = history.discard(prefix);
    ReplayObserver observer = settings.observer();
    if (observer != null) {
      observer.discarded(keys);
    }
  }
}
