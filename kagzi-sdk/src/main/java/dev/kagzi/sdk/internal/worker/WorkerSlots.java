package dev.kagzi.sdk.internal.worker;

import dev.kagzi.protocol.v1.TypeVersion;
import dev.kagzi.sdk.internal.run.RegisteredWorkflow;
import dev.kagzi.sdk.internal.run.RunExecution;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;

/**
 * Counts the runs that a worker holds, in total and by type. Polls request only free slots; if the
 * server delivers more, the surplus waits here. Thread-safe.
 */
final class WorkerSlots {
  private final WorkerSettings settings;
  private final Map<String, Integer> heldByType = new HashMap<>();
  private final Map<String, Integer> runningByType = new HashMap<>();
  private final List<RunExecution> waiting = new ArrayList<>();
  private int held;
  private int running;

  WorkerSlots(WorkerSettings settings) {
    this.settings = settings;
  }

  record Free(int tasks, List<TypeVersion> types) {
    boolean isNone() {
      return tasks <= 0 || types.isEmpty();
    }
  }

  synchronized Free free() {
    int free = settings.maxConcurrent() - held;
    List<TypeVersion> types = new ArrayList<>(settings.codes().size());
    for (RegisteredWorkflow<?, ?> code : settings.codes()) {
      addIfFree(types, code, free);
    }
    return new Free(free, types);
  }

  private void addIfFree(List<TypeVersion> types, RegisteredWorkflow<?, ?> code, int free) {
    String type = code.type().name();
    Integer limit = settings.typeLimits().get(type);
    int freeOfType = limit == null ? free : limit - heldByType.getOrDefault(type, 0);
    if (freeOfType > 0) {
      types.add(
          TypeVersion.newBuilder()
              .setWorkflowType(type)
              .setVersion(code.type().version())
              .setMaxTasks(limit == null ? 0 : freeOfType)
              .setCleanUpMs(code.type().cleanUpTime().map(Duration::toMillis).orElse(0L))
              .build());
    }
  }

  synchronized int held() {
    return held;
  }

  /** Counts a run. Returns false if it must wait until {@link #free(RunExecution)} returns it. */
  synchronized boolean add(RunExecution run) {
    held++;
    count(heldByType, run, 1);
    if (mayRun(run)) {
      running++;
      count(runningByType, run, 1);
      return true;
    }
    waiting.add(run);
    return false;
  }

  /** Removes a run that has ended and returns the runs that may start now. */
  synchronized List<RunExecution> free(RunExecution run) {
    held--;
    count(heldByType, run, -1);
    if (!waiting.remove(run)) {
      running--;
      count(runningByType, run, -1);
    }
    return waiting.isEmpty() ? List.of() : startable();
  }

  synchronized List<RunExecution> waiting() {
    return List.copyOf(waiting);
  }

  private List<RunExecution> startable() {
    List<RunExecution> now = new ArrayList<>();
    for (Iterator<RunExecution> each = waiting.iterator(); each.hasNext(); ) {
      RunExecution run = each.next();
      if (mayRun(run)) {
        each.remove();
        running++;
        count(runningByType, run, 1);
        now.add(run);
      }
    }
    return now;
  }

  private boolean mayRun(RunExecution run) {
    Integer limit = settings.typeLimits().get(run.workflowType());
    return running < settings.maxConcurrent()
        && (limit == null || runningByType.getOrDefault(run.workflowType(), 0) < limit);
  }

  // Only types with a limit are counted.
  private void count(Map<String, Integer> counts, RunExecution run, int by) {
    if (settings.typeLimits().containsKey(run.workflowType())) {
      counts.merge(run.workflowType(), by, Integer::sum);
    }
  }
}
