package dev.kagzi.testkit;

/**
 * Assertions about how often a step was executed. Each attempt counts, including executions that
 * were lost with their worker. If no worker of this JVM executed the run, recorded attempts are
 * counted.
 *
 * @param <O> the workflow's output type
 */
public final class StepCount<O> {
  private final RunAssert<O> run;
  private final String step;
  private final int count;

  StepCount(RunAssert<O> run, String step, int count) {
    this.run = run;
    this.step = step;
    this.count = count;
  }

  /** Asserts that the step was executed exactly this many times. */
  public RunAssert<O> times(int expected) {
    if (count != expected) {
      throw run.failsWith(
          "executed step %s %d times (expected: %d)".formatted(step, count, expected));
    }
    return run;
  }

  /** Asserts that the step was executed exactly once. */
  public RunAssert<O> once() {
    return times(1);
  }
}
