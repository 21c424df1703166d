package dev.kagzi.engine.query;

import dev.kagzi.engine.value.RunId;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A run that a worker executes now.
 *
 * @param step the recorded step that it executes; null if none is recorded
 * @param since when the worker began the step, or claimed the run if no step is recorded
 */
public record ExecutedRun(
    RunId runId, String externalId, String type, @Nullable String step, Instant since) {}
