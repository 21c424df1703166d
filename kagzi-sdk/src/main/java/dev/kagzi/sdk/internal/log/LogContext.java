package dev.kagzi.sdk.internal.log;

import org.jspecify.annotations.Nullable;
import org.slf4j.MDC;

/**
 * The ids of what a thread executes, in slf4j's MDC, so that every line of workflow and step code
 * has them under the application's own logging configuration.
 */
public final class LogContext {
  private static final ThreadLocal<@Nullable LoggedRun> CURRENT = new ThreadLocal<>();

  private LogContext() {}

  /**
   * Names the run that the calling thread works for. The thread must work for this run only and
   * then end, because the ids of the run are never removed.
   */
  public static void enterRun(LoggedRun run) {
    CURRENT.set(run);
    MDC.put("run", run.run());
    if (!run.workflowId().isEmpty()) {
      MDC.put("workflow_id", run.workflowId());
    }
    MDC.put("type", run.type());
    MDC.put("queue", run.queue());
    if (!run.worker().isEmpty()) {
      MDC.put("worker", run.worker());
    }
  }

  /** Returns the run that the calling thread works for; null if there is none. */
  public static @Nullable LoggedRun currentRun() {
    return CURRENT.get();
  }

  /** Adds the step and its attempt to the MDC until the scope is closed. */
  public static MdcScope enterStep(String step, int attempt) {
    return new MdcScope("step", step, "attempt", Integer.toString(attempt));
  }

  /** Adds the ids of the trace and the span to the MDC until the scope is closed. */
  public static MdcScope enterSpan(String traceId, String spanId) {
    return new MdcScope("trace_id", traceId, "span_id", spanId);
  }
}
