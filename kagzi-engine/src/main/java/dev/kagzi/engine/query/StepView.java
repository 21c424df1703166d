package dev.kagzi.engine.query;

import dev.kagzi.engine.value.Failure;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.StepKind;
import dev.kagzi.engine.value.StepRef;
import dev.kagzi.engine.value.StepStatus;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * One attempt of a step as it was when it was read.
 *
 * @param name the name in the workflow's code, without scope and occurrence
 * @param input without its bytes if a list omitted them
 * @param output null until the step has completed
 * @param runAttempt the attempt of the run that it belongs to
 * @param isFinal true for a failure that no retry follows in this attempt of the run
 * @param inputHash hash of the input for comparison at replay; null if it is not compared
 * @param dueAt when a sleep ends, or when the next attempt may run
 * @param progress progress that the step's code reported
 */
public record StepView(
    String namespace,
    StepRef stepId,
    RunId runId,
    String name,
    StepKind kind,
    StepStatus status,
    int attemptNumber,
    Payload input,
    @Nullable Payload output,
    @Nullable Failure error,
    Instant createdAt,
    @Nullable Instant startedAt,
    @Nullable Instant finishedAt,
    @Nullable RunId childRunId,
    int runAttempt,
    boolean isFinal,
    @Nullable String inputHash,
    @Nullable Instant dueAt,
    @Nullable Payload progress) {}
