package dev.kagzi.engine.dispatch;

import dev.kagzi.engine.step.RecordedStep;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.TypeVersion;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a worker receives: a claim with all that it needs to go on where the run was.
 *
 * @param stepsRecorded how many steps the run has
 * @param steps recorded by earlier claims, in the order in which they were recorded
 * @param historyApart the recorded steps are too many for a task; the worker fetches them apart
 * @param createdAt when the run was started
 * @param deadlineInMs how long the run may still take; null: as long as it takes
 * @param stepTimeoutMs how long an attempt of a step may take that says nothing else
 */
public record Task(
    Claim claim,
    String workflowType,
    String version,
    int attempt,
    @Nullable Payload input,
    int stepsRecorded,
    List<RecordedStep> steps,
    boolean historyApart,
    String externalId,
    Instant createdAt,
    @Nullable Long deadlineInMs,
    long stepTimeoutMs) {

  /** Of which type and version its run is. */
  TypeVersion type() {
    return new TypeVersion(workflowType, version);
  }

  /** How much of a message's budget this task takes. */
  public int bytes() {
    int sum = 100 + workflowType.length() + version.length() + externalId.length();
    if (input != null) {
      sum += input.bytes();
    }
    for (RecordedStep step : steps) {
      sum += step.bytes();
    }
    return sum;
  }
}
