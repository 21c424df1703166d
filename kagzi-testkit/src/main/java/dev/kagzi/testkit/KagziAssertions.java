package dev.kagzi.testkit;

import dev.kagzi.sdk.RunHandle;

/**
 * Assertions of AssertJ on runs, to be imported statically beside those of {@code Assertions}:
 *
 * <pre>{@code
 * assertThat(run).completedWith(receipt).executedStep("charge").once();
 * }</pre>
 */
public final class KagziAssertions {
  private KagziAssertions() {}

  public static <O> RunAssert<O> assertThat(RunHandle<O> run) {
    return new RunAssert<>(run);
  }
}
