package dev.kagzi.engine.run;

import dev.kagzi.engine.value.RunStatus;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The result of a cancel or terminate call.
 *
 * @param cancelled false if the run had already ended in another way; true also while the run
 *     cleans up
 * @param cleanUpUntil set if the run cleans up first: when it ends at the latest
 */
public record CancelResult(boolean cancelled, RunStatus status, @Nullable Instant cleanUpUntil) {
  /** The run has ended. */
  public CancelResult(boolean cancelled, RunStatus status) {
    this(cancelled, status, null);
  }
}
