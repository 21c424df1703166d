package dev.kagzi.sdk;

import org.jspecify.annotations.Nullable;

/**
 * The code of a step that wants to know about its execution.
 *
 * @param <T> result
 */
@FunctionalInterface
public interface StepCode<T extends @Nullable Object> {
  /** Executes one attempt. */
  T run(StepContext step) throws Exception;
}
