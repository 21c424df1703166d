package dev.kagzi.engine.run;

import dev.kagzi.engine.value.Failure;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import org.jspecify.annotations.Nullable;

/**
 * How a run ended.
 *
 * @param output what a completed run gave; null for one that gave nothing
 * @param failure why a run did not complete
 */
public record RunEnd(
    RunId runId, RunStatus status, @Nullable Payload output, @Nullable Failure failure) {}
