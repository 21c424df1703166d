package dev.kagzi.sdk;

import org.jspecify.annotations.Nullable;

/**
 * The code of a step that uses its {@link StepContext}: {@link StepBuilder#execute}.
 *
 * @param <T> result type
 */
@FunctionalInterface
public interface StepCode<T extends @Nullable Object> {
  /** Executes one attempt and returns the result. An exception fails the attempt. */
  T run(StepContext step) throws Exception;
}
