package dev.kagzi.sdk;

import java.util.Optional;

/** A start was refused because its id is in use, as {@link IdConflict#REJECT} asks for. */
public final class RunExistsException extends KagziException {
  private final String workflowId;
  private final String existingRunId;

  /**
   * Made by the SDK.
   *
   * @param existingRunId empty if the server did not say
   */
  public RunExistsException(String workflowId, String existingRunId, String message) {
    super(message, null);
    this.workflowId = workflowId;
    this.existingRunId = existingRunId;
  }

  /** The id of the start: {@link WorkflowStarter#id}. */
  public String workflowId() {
    return workflowId;
  }

  /** The run that has it, for {@link Kagzi#run}. */
  public Optional<String> existingRunId() {
    return existingRunId.isEmpty() ? Optional.empty() : Optional.of(existingRunId);
  }

  @Override
  public String code() {
    return "run-exists";
  }
}
