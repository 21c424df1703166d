package dev.kagzi.sdk.internal.trace;

import dev.kagzi.protocol.v1.Task;

/** A task, and the worker that has claimed it. */
public record ClaimedTask(Task task, String namespace, String queue, String workerId) {}
