package dev.kagzi.sdk;

import java.util.Optional;

/**
 * Thrown when a start's {@linkplain WorkflowStarter#id id} is used by another run: with {@link
 * IdConflict#REJECT}, or if that run is of another type.
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

  /** Returns the id of the start: {@link WorkflowStarter#id}. */
  public String workflowId() {
    return workflowId;
  }

  /** Returns the run that uses the id, for {@link Kagzi#run}; empty if unknown. */
  public Optional<String> existingRunId() {
    return existingRunId.isEmpty() ? Optional.empty() : Optional.of(existingRunId);
  }
}
