package dev.kagzi.sdk.internal.run;

import dev.kagzi.protocol.v1.GetHistoryResponse;
import dev.kagzi.protocol.v1.Task;
import dev.kagzi.sdk.internal.log.LoggedRun;
import dev.kagzi.sdk.internal.metrics.ClientMetrics;
import dev.kagzi.sdk.internal.report.ReportLane;
import dev.kagzi.sdk.internal.trace.ExecutionTrace;
import dev.kagzi.sdk.internal.wire.Payloads;
import java.util.Iterator;
import org.jspecify.annotations.Nullable;

/** What an execution needs from its worker. Thread-safe. */
public interface RunHost {
  /**
   * What all runs of a worker share.
   *
   * @param nondeterminism null if code may request other steps in a replay
   * @param observer null if nothing observes which steps the code asks for
   * @param metrics where steps are measured
   */
  record Settings(
      String namespace,
      String queue,
      Payloads payloads,
      FailureRecorder failures,
      InterceptorChain interceptors,
      @Nullable Nondeterminism nondeterminism,
      @Nullable ReplayObserver observer,
      ClientMetrics metrics) {}

  Settings settings();

  /** The worker's id, for the log; empty in a replay. */
  String workerId();

  /** Returns the workflow for the task, or null if this worker does not serve it. */
  @Nullable RegisteredWorkflow<?, ?> code(Task task);

  ReportLane lane(Task task, LoggedRun logged);

  /** Returns the trace of a new execution of this task. */
  ExecutionTrace trace(Task task);

  /** Fetches all recorded steps if they did not fit into the task; throws the error of the call. */
  Iterator<GetHistoryResponse> history(Task task);

  /** How long a blocked run stays released; longer each time that this worker blocks it. */
  long blockedDelayMs(String runId);

  /** Called when the claim is gone, even if the code still runs: stop renewing it. */
  void claimGone(RunExecution execution);

  /** Called once, when code and reports have ended: the slot is free. */
  void ended(RunExecution execution, RunOutcome outcome);
}
