package dev.kagzi.sdk.internal.run;

import dev.kagzi.protocol.v1.Task;
import dev.kagzi.sdk.internal.log.EventLog;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Handles workflow code that does not request its earlier steps again in a replay: it logs a
 * warning once per workflow type and, if the worker is configured so, blocks the run. A mismatch
 * that only recorded times show never blocks, because a clock that was set back would block the run
 * permanently. Thread-safe.
 */
public final class Nondeterminism {
  private static final EventLog log = EventLog.of(Nondeterminism.class);
  private static final int BLOCKED_MAX = 10_000;

  /** Public SDK types through which workflow code calls the context. */
  private static final Set<String> CONTEXT_TYPES =
      Set.of("dev.kagzi.sdk.WorkflowContext", "dev.kagzi.sdk.ChildBuilder");

  private final boolean blocks;
  private final Set<String> warnedTypes = ConcurrentHashMap.newKeySet();
  private final EarlierExecutions earlier = new EarlierExecutions();

  /**
   * Why this worker has blocked runs, by run id. It does not continue them; a worker with other
   * code may.
   */
  private final Map<String, String> blocked =
      Collections.synchronizedMap(
          new LinkedHashMap<>() {
            private static final long serialVersionUID = 1;

            @Override
            protected boolean removeEldestEntry(Map.Entry<String, String> eldest) {
              return size() > BLOCKED_MAX;
            }
          });

  public Nondeterminism(boolean blocks) {
    this.blocks = blocks;
  }

  Map<String, List<String>> askedBefore(Task task) {
    return earlier.of(task.getRunId(), task.getAttempt());
  }

  /**
   * Stores the keys that a parked run asked for: the same code must ask for them again in a replay.
   */
  void parked(Task task, Map<String, List<String>> asked) {
    earlier.remember(task.getRunId(), task.getAttempt(), asked);
  }

  void ended(Task task) {
    earlier.forget(task.getRunId());
  }

  /** Stops a run that this worker has already blocked. */
  void check(WorkflowThread workflowThread, Task task) {
    String why = blocks ? blocked.get(task.getRunId()) : null;
    if (why != null) {
      throw block(workflowThread, why);
    }
  }

  /** Called by the thread that asked for the step. Returns if the run may continue. */
  void onMismatch(WorkflowThread workflowThread, Task task, ReplayCheck.Mismatch mismatch) {
    boolean warns = warnedTypes.add(task.getWorkflowType());
    boolean stops = blocks && mismatch.isCertain();
    if (!warns && !stops) {
      return;
    }
    String at = callerOfContext();
    if (warns) {
      log.warn(
              "workflow code does not do what it did before: names and order of steps must not"
                  + " depend on time, random numbers or anything else that changes; take such"
                  + " values in a step (warned once per type)")
          .about(workflowThread.state().logged())
          .with("before", mismatch.before())
          .with("now", mismatch.now())
          .with("at", at)
          .write();
    }
    if (stops) {
      String why =
          "workflow %s: %s, and the code %s at %s; does it depend on time, random numbers or order of a set?"
              .formatted(task.getWorkflowType(), mismatch.before(), mismatch.now(), at);
      blocked.put(task.getRunId(), why);
      throw block(workflowThread, why);
    }
  }

  private static SuspendedError block(WorkflowThread workflowThread, String why) {
    throw HistoryMismatch.blocked(
        workflowThread, BlockReason.CODE_NONDETERMINISTIC.name(), why, null);
  }

  private static String callerOfContext() {
    return StackWalker.getInstance()
        .walk(
            frames ->
                frames
                    .filter(frame -> !isSdkCode(frame.getClassName()))
                    .findFirst()
                    .map(frame -> frame.toStackTraceElement().toString())
                    .orElse("unknown"));
  }

  private static boolean isSdkCode(String className) {
    return className.startsWith("dev.kagzi.sdk.internal.") || CONTEXT_TYPES.contains(className);
  }
}
