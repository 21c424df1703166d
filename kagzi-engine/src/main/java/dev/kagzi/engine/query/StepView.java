package dev.kagzi.engine.query;

import dev.kagzi.engine.step.StepRef;
import dev.kagzi.engine.value.Failure;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.StepKind;
import dev.kagzi.engine.value.StepStatus;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * One attempt of a step as it stood when it was looked at.
 *
 * @param name what the workflow's code calls it, without scope and occurrence
 * @param input without its bytes where a list left them out
 * @param output null until the step has completed
 * @param runAttempt the attempt of the run within which it was made
 * @param isFinal a failure that the workflow's code has seen
 * @param inputHash of an input that is compared; null for none
 * @param dueAt when a sleep is over, or when the next attempt may run
 * @param progress how far the attempt had come, as its code said
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
