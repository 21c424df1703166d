package dev.kagzi.sdk.fake;

import static java.util.Objects.requireNonNullElse;

import dev.kagzi.protocol.v1.ErrorCode;
import dev.kagzi.protocol.v1.ErrorDetail;
import dev.kagzi.protocol.v1.IdConflictPolicy;
import dev.kagzi.protocol.v1.PollTasksRequest;
import dev.kagzi.protocol.v1.PollTasksResponse;
import dev.kagzi.protocol.v1.RecordedStep;
import dev.kagzi.protocol.v1.StartResult;
import dev.kagzi.protocol.v1.StartWorkflowRequest;
import dev.kagzi.protocol.v1.StartWorkflowResponse;
import dev.kagzi.protocol.v1.Task;
import dev.kagzi.protocol.v1.TypeVersion;
import dev.kagzi.protocol.v1.Workflow;
import dev.kagzi.protocol.v1.WorkflowEnd;
import dev.kagzi.protocol.v1.WorkflowStatus;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The fake server's state, which survives a restart of its port. */
public final class FakeState {
  private final Map<String, FakeRun> runs = new LinkedHashMap<>();
  final Map<String, Boolean> onlineWorkers = new HashMap<>();
  boolean historyApart;
  boolean limitsIgnored;
  @Nullable String dispatchedAs;
  private boolean claimsPaused;

  /**
   * Performs the action while no poll gets a run, those that the server already holds included: all
   * that the action does to its runs precedes their claims.
   */
  public <T> T withoutClaims(Supplier<T> action) {
    pauseClaims(true);
    try {
      return action.get();
    } finally {
      pauseClaims(false);
    }
  }

  private synchronized void pauseClaims(boolean paused) {
    claimsPaused = paused;
    notifyAll();
  }

  /** Reads or changes a run. */
  public synchronized <T> T with(String runId, Function<FakeRun, T> action) {
    FakeRun run = runs.get(runId);
    if (run == null) {
      throw new AssertionError("no run " + runId);
    }
    T result = action.apply(run);
    notifyAll();
    return result;
  }

  synchronized @Nullable FakeRun find(String runId) {
    return runs.get(runId);
  }

  public synchronized List<FakeRun> all() {
    return List.copyOf(runs.values());
  }

  public synchronized StartResult start(StartWorkflowRequest request) {
    Optional<FakeRun> existing =
        runs.values().stream().filter(run -> hasSameId(run, request)).findFirst();
    if (runs.containsKey(request.getRunId())) {
      return started(request.getRunId(), false);
    }
    if (existing.isEmpty()) {
      runs.put(request.getRunId(), new FakeRun(request));
      notifyAll();
      return started(request.getRunId(), false);
    }
    String existingId = existing.get().id();
    return request.getIdConflictPolicy() == IdConflictPolicy.ID_CONFLICT_POLICY_REJECT
        ? inUse(existingId)
        : started(existingId, true);
  }

  private static boolean hasSameId(FakeRun run, StartWorkflowRequest request) {
    boolean counts =
        !run.isFinished()
            || request.getIdConflictPolicy()
                == IdConflictPolicy.ID_CONFLICT_POLICY_USE_EXISTING_ANY;
    return counts
        && !request.getExternalId().isEmpty()
        && run.start.getExternalId().equals(request.getExternalId());
  }

  private static StartResult started(String runId, boolean existed) {
    return StartResult.newBuilder()
        .setStarted(StartWorkflowResponse.newBuilder().setRunId(runId).setAlreadyExists(existed))
        .build();
  }

  private static StartResult inUse(String runId) {
    return StartResult.newBuilder()
        .setRefused(
            ErrorDetail.newBuilder()
                .setCode(ErrorCode.ERROR_CODE_CONFLICT)
                .setSubject("run")
                .setSubjectId(runId)
                .setMessage("external_id: in use"))
        .build();
  }

  synchronized PollTasksResponse poll(PollTasksRequest request, Runnable checkCancelled)
      throws InterruptedException {
    long until = System.nanoTime() + request.getWaitMs() * 1_000_000L;
    while (true) {
      checkCancelled.run();
      if (!onlineWorkers.getOrDefault(request.getWorkerId(), false)) {
        return PollTasksResponse.getDefaultInstance();
      }
      List<Task> tasks = claimsPaused ? List.of() : claim(request);
      if (!tasks.isEmpty() || System.nanoTime() > until) {
        return PollTasksResponse.newBuilder().addAllTasks(tasks).build();
      }
      wait(5);
    }
  }

  private List<Task> claim(PollTasksRequest request) {
    List<Task> tasks = new ArrayList<>();
    for (TypeVersion type : request.getTypesList()) {
      boolean limited = type.getMaxTasks() > 0 && !limitsIgnored;
      int left = limited ? type.getMaxTasks() : Integer.MAX_VALUE;
      for (FakeRun run : runs.values()) {
        if (left > 0 && tasks.size() < request.getMaxTasks() && matches(run, request, type)) {
          left--;
          tasks.add(claim(run, request.getWorkerId()));
        }
      }
    }
    return tasks;
  }

  private static boolean matches(FakeRun run, PollTasksRequest request, TypeVersion type) {
    return run.isDue(System.nanoTime())
        && run.start.getTaskQueue().equals(request.getTaskQueue())
        && run.start.getWorkflowType().equals(type.getWorkflowType())
        && run.start.getVersion().equals(type.getVersion());
  }

  private Task claim(FakeRun run, String workerId) {
    run.epoch++;
    run.workerId = workerId;
    run.status = WorkflowStatus.WORKFLOW_STATUS_RUNNING;
    Task.Builder task =
        Task.newBuilder()
            .setRunId(run.id())
            .setEpoch(run.epoch)
            .setWorkflowType(requireNonNullElse(dispatchedAs, run.start.getWorkflowType()))
            .setVersion(run.start.getVersion())
            .setAttempt(run.attempt)
            .setInput(run.start.getInput())
            .putAllHeaders(run.start.getHeadersMap())
            .setExternalId(run.start.getExternalId())
            .setStepTimeoutMs(run.start.getStepTimeoutMs())
            .setCreatedAt(FakeRun.CREATED_AT);
    if (run.start.getExecutionTimeoutMs() > 0) {
      task.setDeadlineInMs(run.start.getExecutionTimeoutMs());
    }
    if (historyApart && !run.steps.isEmpty()) {
      return task.setHistoryApart(true).build();
    }
    return task.addAllSteps(history(run)).build();
  }

  synchronized List<RecordedStep> history(FakeRun run) {
    long now = System.nanoTime();
    List<RecordedStep> steps = new ArrayList<>();
    for (RecordedStep step : run.steps.values()) {
      Long wake = run.wakeNanos.get(step.getStepKey());
      steps.add(
          wake != null && wake - now <= 0
              ? step.toBuilder()
                  .setOutput(dev.kagzi.protocol.v1.Payload.getDefaultInstance())
                  .build()
              : step);
    }
    return steps;
  }

  static WorkflowEnd end(FakeRun run) {
    WorkflowEnd.Builder end = WorkflowEnd.newBuilder().setRunId(run.id()).setStatus(run.status);
    if (run.output != null) {
      end.setOutput(run.output);
    }
    if (run.error != null) {
      end.setError(run.error);
    }
    return end.build();
  }

  static Workflow toWorkflow(FakeRun run) {
    Workflow.Builder workflow =
        Workflow.newBuilder()
            .setNamespace(run.start.getNamespace())
            .setRunId(run.id())
            .setExternalId(run.start.getExternalId())
            .setTaskQueue(run.start.getTaskQueue())
            .setWorkflowType(run.start.getWorkflowType())
            .setStatus(run.status)
            .setAttempts(run.attempt);
    if (run.error != null) {
      workflow.setError(run.error);
    }
    return workflow.build();
  }
}
