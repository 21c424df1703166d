package dev.kagzi.engine.transition;

import dev.kagzi.engine.run.RunWrite;
import dev.kagzi.engine.step.StepRef;

/**
 * The write that ends an attempt of a step which its worker should have ended; answers whether it
 * did. The run is taken from the worker, whose code hangs.
 */
public final class ExpireStep extends RunWrite<Boolean> {
  private final StepRef step;

  public ExpireStep(StepRef step) {
    super(step.runId(), step.stepKey().length());
    this.step = step;
  }

  StepRef step() {
    return step;
  }
}
