package dev.kagzi.engine.internal.run;

import dev.kagzi.engine.retry.RetryPolicy;
import dev.kagzi.engine.run.BegunStep;
import dev.kagzi.engine.run.Caller;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.StepKind;
import org.jspecify.annotations.Nullable;

/** Begins a step attempt of a simple client. */
public final class BeginStep extends ChangeRun<BegunStep> {
  private final Call call;

  /**
   * What the simple client sent.
   *
   * @param timeoutMs timeout of the attempt; 0: the default of the run or, if it has none, of the
   *     server
   */
  public record Call(
      String namespace,
      Claim claim,
      Caller caller,
      String stepKey,
      StepKind kind,
      @Nullable Payload input,
      @Nullable RetryPolicy policy,
      long timeoutMs) {}

  public BeginStep(Call call) {
    super(
        call.claim.runId(), call.stepKey.length() + (call.input == null ? 0 : call.input.bytes()));
    this.call = call;
  }

  public Call begun() {
    return call;
  }
}
