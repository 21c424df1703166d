package dev.kagzi.server.callback;

import dev.kagzi.engine.value.RunId;

/**
 * Identifies a callback.
 *
 * @param stepKey the step that made it
 */
public record CallbackId(String namespace, RunId runId, String stepKey) {}
