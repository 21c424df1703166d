package dev.kagzi.sdk.internal.run;

import dev.kagzi.sdk.internal.log.EventLog;
import dev.kagzi.sdk.internal.log.LoggedRun;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Logs workflow code that neither ends nor uses its context for a long time: a blocking call or a
 * long computation outside of steps. Every replay repeats that work, which has no timeout and is
 * not recorded. Only the timer thread uses it.
 */
final class SilentCode {
  private static final EventLog log = EventLog.of(SilentCode.class);
  private static final long SILENT_NANOS_MAX = TimeUnit.SECONDS.toNanos(5);

  /** A longer gap between ticks means that the process was suspended. The gap is not silence. */
  private static final long TICK_GAP_NANOS_MAX = TimeUnit.SECONDS.toNanos(1);

  /** Every call that blocks the workflow code has a frame of one of these classes. */
  private static final List<String> CONTEXT =
      Stream.of(RunContext.class, StepCalls.class, Children.class, Receives.class)
          .map(Class::getName)
          .toList();

  private final LoggedRun run;
  private boolean warned;
  private long tickedNanos = System.nanoTime();

  SilentCode(LoggedRun run) {
    this.run = run;
  }

  void tick(RunExecutionState state, long nowNanos) {
    boolean gap = nowNanos - tickedNanos > TICK_GAP_NANOS_MAX;
    tickedNanos = nowNanos;
    if (warned || state.stopReason() != null) {
      return;
    }
    for (WorkflowThread workflowThread : state.workflowThreads()) {
      if (gap || workflowThread.isInStepOrWait()) {
        workflowThread.markBusy(nowNanos);
      } else if (workflowThread.silentNanos(nowNanos) > SILENT_NANOS_MAX) {
        warnUnlessInside(workflowThread, nowNanos);
      }
    }
  }

  private void warnUnlessInside(WorkflowThread workflowThread, long nowNanos) {
    StackTraceElement[] stack = workflowThread.thread().getStackTrace();
    if (stack.length == 0 || isInside(stack)) {
      // The thread has not started, or is in a call of its context, for example until the server
      // answers.
      workflowThread.markBusy(nowNanos);
      return;
    }
    warned = true;
    Throwable here = new Throwable("stack of the workflow code");
    here.setStackTrace(stack);
    log.warn(
            "workflow code has neither ended nor used its context for 5 s: put what blocks or takes"
                + " long into a step")
        .about(run)
        .with("thread", workflowThread.thread().getName())
        .cause(here)
        .write();
  }

  /** Whether the code is inside a call of its context. */
  private static boolean isInside(StackTraceElement[] stack) {
    for (StackTraceElement frame : stack) {
      boolean context = CONTEXT.stream().anyMatch(frame.getClassName()::startsWith);
      // RunContext.cleanup calls the code of a clean-up through a lambda. Both frames are on the
      // stack while that code computes, so they do not count as a call of the context.
      boolean callsCode =
          frame.getMethodName().startsWith("lambda$") || frame.getMethodName().equals("cleanup");
      if (context && !callsCode) {
        return true;
      }
    }
    return false;
  }
}
