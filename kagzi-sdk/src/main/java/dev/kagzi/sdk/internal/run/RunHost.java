package dev.kagzi.sdk.internal.run;

import dev.kagzi.protocol.v1.GetHistoryResponse;
import dev.kagzi.protocol.v1.Task;
import dev.kagzi.sdk.internal.report.ReportLane;
import dev.kagzi.sdk.internal.wire.Payloads;
import java.util.Iterator;
import org.jspecify.annotations.Nullable;

/** What an execution needs from its worker. Thread-safe. */
public interface RunHost {
  String namespace();

  String queue();

  Payloads payloads();

  FailureRecorder failures();

  /** The interceptors around workflow, branch and step code. */
  InterceptorChain around();

  /** Observes which steps the code asks for; null if nothing observes. */
  default @Nullable ReplayObserver observer() {
    return null;
  }

  /** Handles code that does not repeat its earlier steps; null if this is not checked. */
  default @Nullable Nondeterminism nondeterminism() {
    return null;
  }

  /** Returns the workflow for the task, or null if this worker does not serve it. */
  @Nullable RegisteredWorkflow<?, ?> code(Task task);

  ReportLane lane(Task task);

  /** Fetches the recorded steps that did not fit into the task; throws the error of the call. */
  Iterator<GetHistoryResponse> history(Task task);

  /** How long a blocked run stays released; grows each time in a row. */
  long blockedDelayMs(String runId);

  /** Called when the claim is gone, even if the code still runs: stop renewing it. */
  void claimGone(RunExecution execution);

  /** Called once, when code and reports have ended: the slot is free. */
  void ended(RunExecution execution, RunOutcome outcome);
}
