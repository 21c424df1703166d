package dev.kagzi.testkit;

/**
 * How often a step was executed: each attempt counts, and so does an execution that was lost with
 * its worker. Where a run is executed by workers of no environment of this JVM, attempts on record
 * count.
 *
 * @param <O> the workflow's output
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

  /** Exactly so often. */
  public RunAssert<O> times(int expected) {
    if (count != expected) {
      throw run.fails("executed step %s %d times (expected: %d)".formatted(step, count, expected));
    }
    return run;
  }

  public RunAssert<O> once() {
    return times(1);
  }
}
