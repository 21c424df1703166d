package dev.kagzi.engine.transition;

import dev.kagzi.engine.step.StepRef;
import dev.kagzi.engine.value.Payload;
import org.jspecify.annotations.Nullable;

/**
 * What a simple client is told when it begins a step.
 *
 * @param execute false when the step has its result already
 * @param cachedOutput that result
 */
public record BegunStep(StepRef ref, boolean execute, @Nullable Payload cachedOutput) {}
