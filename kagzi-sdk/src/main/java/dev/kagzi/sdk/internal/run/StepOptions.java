package dev.kagzi.sdk.internal.run;

import dev.kagzi.sdk.Retry;
import org.jspecify.annotations.Nullable;

/**
 * What a step says of itself.
 *
 * @param retry its own policy; null for the run's, else the server's
 * @param timeoutMs how long an attempt may take; 0 for what the task says
 * @param input what it works on; null if it did not say
 */
record StepOptions(@Nullable Retry retry, long timeoutMs, @Nullable StepInput input) {
  static final StepOptions NONE = new StepOptions(null, 0, null);

  StepOptions withRetry(Retry other) {
    return new StepOptions(other, timeoutMs, input);
  }

  StepOptions withTimeoutMs(long other) {
    return new StepOptions(retry, other, input);
  }

  StepOptions withInput(StepInput other) {
    return new StepOptions(retry, timeoutMs, other);
  }
}
