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
 */
public record RunEnd(
    RunId runId, RunStatus status, @Nullable Payload output, @Nullable Failure failure) {}
