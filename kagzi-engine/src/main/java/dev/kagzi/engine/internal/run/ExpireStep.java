package dev.kagzi.engine.internal.run;

import dev.kagzi.engine.value.StepRef;

/**
 * Fails a step attempt that its worker should have timed out, and takes the run away from that
 * worker, whose code hangs. Returns whether the attempt was failed.
 */
public final class ExpireStep extends ChangeRun<Boolean> {
  private final StepRef step;

  public ExpireStep(StepRef step) {
    super(step.runId(), step.stepKey().length());
    this.step = step;
  }

  public StepRef step() {
    return step;
  }
}
