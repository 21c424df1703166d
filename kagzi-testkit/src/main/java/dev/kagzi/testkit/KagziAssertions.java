package dev.kagzi.testkit;

import dev.kagzi.sdk.RunHandle;

/**
 * AssertJ assertions for runs. Import it statically in addition to {@code Assertions}:
 *
 * <pre>{@code
 * assertThat(run).completedWith(receipt).executedStep("charge").once();
 * }</pre>
 */
public final class KagziAssertions {
  private KagziAssertions() {}

  /** Begins assertions about a run. */
  public static <O> RunAssert<O> assertThat(RunHandle<O> run) {
    return new RunAssert<>(run);
  }
}
