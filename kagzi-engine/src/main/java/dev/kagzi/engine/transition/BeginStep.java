package dev.kagzi.engine.transition;

import dev.kagzi.engine.retry.RetryPolicy;
import dev.kagzi.engine.run.RunWrite;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.StepKind;
import org.jspecify.annotations.Nullable;

/**
 * Begins a step attempt of a simple client. Returns the recorded output, or the request to execute
 * the step.
 */
final class BeginStep extends RunWrite<BegunStep> {
  private final String namespace;
  private final Claim claim;
  private final Caller caller;
  private final String stepKey;
  private final StepKind kind;
  private final @Nullable Payload input;
  private final @Nullable RetryPolicy policy;
  private final long timeoutMs;

  BeginStep(
      String namespace,
      Claim claim,
      Caller caller,
      String stepKey,
      StepKind kind,
      @Nullable Payload input,
      @Nullable RetryPolicy policy,
      long timeoutMs) {
    super(claim.runId(), stepKey.length() + (input == null ? 0 : input.bytes()));
    this.namespace = namespace;
    this.claim = claim;
    this.caller = caller;
    this.stepKey = stepKey;
    this.kind = kind;
    this.input = input;
    this.policy = policy;
    this.timeoutMs = timeoutMs;
  }

  String namespace() {
    return namespace;
  }

  Claim claim() {
    return claim;
  }

  Caller caller() {
    return caller;
  }

  String stepKey() {
    return stepKey;
  }

  StepKind kind() {
    return kind;
  }

  @Nullable Payload input() {
    return input;
  }

  @Nullable RetryPolicy policy() {
    return policy;
  }

  /** Timeout of the attempt; 0: the run's, else the server's. */
  long timeoutMs() {
    return timeoutMs;
  }
}
