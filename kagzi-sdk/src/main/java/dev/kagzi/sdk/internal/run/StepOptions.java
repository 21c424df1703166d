package dev.kagzi.sdk.internal.run;

import dev.kagzi.sdk.Retry;
import org.jspecify.annotations.Nullable;

/**
 * The options of a step. If the policy is null or the timeout is 0, the run's or the server's
 * default applies.
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
