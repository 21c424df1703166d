package dev.kagzi.sdk;

import java.util.Optional;

/**
 * Thrown by a start with {@link IdConflict#REJECT} if a run with its {@linkplain WorkflowStarter#id
 * id} is active. Also thrown by a start, and by {@link Kagzi#run(WorkflowType, String)}, if the run
 * with this id is of another type.
 */
public final class RunExistsException extends KagziException {
  private final String workflowId;
  private final String existingRunId;

  /** Called by the SDK; the existing run's id is empty if unknown. */
  public RunExistsException(String workflowId, String existingRunId, String message) {
    super(ClientCode.ID_IN_USE, message, null);
    this.workflowId = workflowId;
    this.existingRunId = existingRunId;
  }

  /** Returns the workflow id of the refused start: {@link WorkflowStarter#id}. */
  public String workflowId() {
    return workflowId;
  }

  /**
   * Returns the run id of the run that uses the id, for {@link Kagzi#run(String, WorkflowType)};
   * empty if unknown.
   */
  public Optional<String> existingRunId() {
    return existingRunId.isEmpty() ? Optional.empty() : Optional.of(existingRunId);
  }
}
