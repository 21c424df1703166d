package dev.kagzi.sdk.internal.log;

import org.slf4j.MDC;

/**
 * The ids of what a thread executes, in slf4j's MDC, so that every line of workflow and step code
 * has them under the application's own logging configuration. Workflow threads execute one run and
 * then end, so the ids of the run are never removed.
 */
public final class LogContext {
  private LogContext() {}

  /** Names the run that the calling thread executes; {@code worker} is empty in a replay. */
  public static void enterRun(String run, String type, String queue, String worker) {
    MDC.put("run", run);
    MDC.put("type", type);
    MDC.put("queue", queue);
    if (!worker.isEmpty()) {
      MDC.put("worker", worker);
    }
  }

  public static void enterStep(String step, int attempt) {
    MDC.put("step", step);
    MDC.put("attempt", Integer.toString(attempt));
  }

  public static void leaveStep() {
    MDC.remove("step");
    MDC.remove("attempt");
  }
}
