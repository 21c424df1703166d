package dev.kagzi.sdk.internal.run;

import dev.kagzi.sdk.Retry;
import org.jspecify.annotations.Nullable;

/**
 * The options of a step.
 *
 * @param retry the step's own policy; null for the policy of the run or the server
 * @param timeoutMs the time-out of an attempt; 0 for the default of the task
 * @param input the declared input; null if none is declared
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
