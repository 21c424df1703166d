package dev.kagzi.sdk.internal.run;

import dev.kagzi.sdk.Retry;
import org.jspecify.annotations.Nullable;

/** Null and 0 stand for the policy and the timeout of the run or the server. */
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
