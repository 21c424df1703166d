package dev.kagzi.sdk.internal.run;

import dev.kagzi.sdk.ContextMisuseException;
import dev.kagzi.sdk.ContextMisuseException.Misuse;
import dev.kagzi.sdk.RunCancelledException;

/**
 * Checks the calls of one context: whether the calling thread may make them, whether it is outside
 * of steps, and whether the run has ended or is cancelled.
 */
final class ContextUse {
  private final String runId;
  private final WorkflowThread workflowThread;

  /**
   * Whether the code with this context has learnt of the cancel. Only the workflow thread uses it.
   */
  private boolean cancelled;

  ContextUse(String runId, WorkflowThread workflowThread) {
    this.runId = runId;
    this.workflowThread = workflowThread;
  }

  void check() {
    checkCleanUp();
    checkNotCancelled(workflowThread);
  }

  /** Like {@link #check}, for a call that the code may make after a cancel. */
  void checkCleanUp() {
    if (!Thread.currentThread().equals(workflowThread.thread())) {
      throw foreign();
    }
    checkOutsideOfSteps(workflowThread);
  }

  /**
   * Returns the calling thread, which must be a workflow thread of this run. It may be the thread
   * of another branch than the one that this context belongs to.
   */
  WorkflowThread callingThread() {
    WorkflowThread here = WorkflowThread.current();
    if (here == null || !here.state().equals(workflowThread.state())) {
      throw foreign();
    }
    checkOutsideOfSteps(here);
    here.context().use().checkNotCancelled(here);
    return here;
  }

  /**
   * Records that the code has learnt of the cancel, and returns the exception: {@code throw
   * cancelled()}.
   */
  RunCancelledException cancelled() {
    cancelled = true;
    return new RunCancelledException(runId);
  }

  private void checkNotCancelled(WorkflowThread here) {
    if (cancelled && !here.cleansUp()) {
      throw cancelled();
    }
  }

  private void checkOutsideOfSteps(WorkflowThread here) {
    if (here.running() != null) {
      throw new ContextMisuseException(
          Misuse.INSIDE_STEP,
          "run %s: the context was used inside a step (expected: one step after the other; move the"
                  .formatted(runId)
              + " call out of the step's code)");
    }
    here.check();
    here.markContextUsed();
    if (here.state().isFinished()) {
      throw afterEnd();
    }
  }

  private ContextMisuseException afterEnd() {
    return new ContextMisuseException(
        Misuse.AFTER_END,
        "run %s: the context was used after the workflow had returned (expected: before)"
            .formatted(runId));
  }

  private ContextMisuseException foreign() {
    WorkflowThread here = WorkflowThread.current();
    if (here == null && workflowThread.state().isFinished()) {
      return afterEnd();
    }
    if (here == null) {
      return new ContextMisuseException(
          Misuse.FOREIGN_THREAD,
          "run %s: the context was used in thread \"%s\" (expected: the thread that runs the workflow;"
                  .formatted(runId, Thread.currentThread().getName())
              + " other threads belong inside a step)");
    }
    boolean sameRun = here.state().equals(workflowThread.state());
    return new ContextMisuseException(
        sameRun ? Misuse.OTHER_BRANCH : Misuse.OTHER_RUN,
        sameRun
            ? "run %s: the context was used in a branch that has its own (expected: the context that the branch was given)"
                .formatted(runId)
            : "run %s: the context was used by the code of another run (expected: each run uses its own)"
                .formatted(runId));
  }
}
