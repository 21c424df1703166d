package dev.kagzi.sdk.internal.run;

import dev.kagzi.protocol.v1.GetHistoryResponse;
import dev.kagzi.protocol.v1.Task;
import dev.kagzi.sdk.internal.report.ReportLane;
import dev.kagzi.sdk.internal.wire.Payloads;
import java.util.Iterator;
import org.jspecify.annotations.Nullable;

/** What an execution needs of its worker. Thread-safe. */
public interface RunHost {
  String namespace();

  String queue();

  Payloads payloads();

  FailureRecorder failures();

  /** What stands around the code. */
  InterceptorChain around();

  /** Who follows what the code asks for; null for nobody. */
  default @Nullable ReplayObserver witness() {
    return null;
  }

  /** What becomes of code that does not do what it did before; null if nobody looks. */
  default @Nullable Nondeterminism nondeterminism() {
    return null;
  }

  /** The code for the task, or null if this worker has none. */
  @Nullable RegisteredWorkflow<?, ?> code(Task task);

  ReportLane lane(Task task);

  /** The recorded steps that did not fit into the task; throws what the call throws. */
  Iterator<GetHistoryResponse> history(Task task);

  /** How long a run that cannot go on here stays away, longer each time in a row. */
  long blockedDelayMs(String runId);

  /** The claim is no longer ours, though the code may still be running: stop renewing it. */
  void claimGone(RunExecution execution);

  /** Code and reports have ended: the slot is free. Called once. */
  void ended(RunExecution execution, RunOutcome outcome);
}
