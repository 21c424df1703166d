package dev.kagzi.engine.run;

import dev.kagzi.engine.value.Failure;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import org.jspecify.annotations.Nullable;

/**
 * The completion of a run: its final status and result.
 *
 * @param output the output of a completed run; null for none
 * @param failure why the run did not complete; null if it completed or was cancelled
 * @param continuedTo a later run of its chain, if the run has continued as new; otherwise null
 */
public record RunEnd(
    RunId runId,
    RunStatus status,
    @Nullable Payload output,
    @Nullable Failure failure,
    @Nullable RunId continuedTo) {

  /** The end of a run that has not continued as new. */
  public RunEnd(
      RunId runId, RunStatus status, @Nullable Payload output, @Nullable Failure failure) {
    this(runId, status, output, failure, null);
  }
}
