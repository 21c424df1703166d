package dev.kagzi.engine.transition;

import dev.kagzi.engine.retry.RetryPolicy;
import dev.kagzi.engine.run.RunWrite;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.StepKind;
import org.jspecify.annotations.Nullable;

/** The write by which a simple client asks whether a step is to be executed. */
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

  /** How long the attempt may take; 0: the run's time-out, else the server's. */
  long timeoutMs() {
    return timeoutMs;
  }
}
