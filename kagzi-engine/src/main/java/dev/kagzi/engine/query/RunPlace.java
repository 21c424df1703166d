package dev.kagzi.engine.query;

import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import java.time.Instant;

/**
 * A run that was found without its namespace being known.
 *
 * @param externalId empty for none
 */
public record RunPlace(
    String namespace,
    RunId runId,
    String type,
    String externalId,
    RunStatus status,
    Instant createdAt) {}
