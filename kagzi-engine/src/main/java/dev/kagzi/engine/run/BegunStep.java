package dev.kagzi.engine.run;

import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.StepRef;
import org.jspecify.annotations.Nullable;

/**
 * The result of a simple client's BeginStep call.
 *
 * @param execute false if the step has a recorded result
 */
public record BegunStep(StepRef ref, boolean execute, @Nullable Payload cachedOutput) {}
