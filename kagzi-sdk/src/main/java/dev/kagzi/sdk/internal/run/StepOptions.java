package dev.kagzi.sdk.internal.run;

import dev.kagzi.sdk.Retry;
import org.jspecify.annotations.Nullable;

/**
 * What a step says of itself.
 *
 * @param retry its own policy; null for the run's, else the server's
 * @param timeoutMs how long an attempt may take; 0 for what the task says
 */
record StepOptions(@Nullable Retry retry, long timeoutMs) {
  static final StepOptions NONE = new StepOptions(null, 0);
}
