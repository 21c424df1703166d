package dev.kagzi.engine.internal.run;

import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Function;

/** Repeats a call about a run for the last run of its chain, if the run has continued as new. */
public final class ChainCalls {
  /** Limits the repeats of a call, because a chain may continue as new before each repeat. */
  private static final int ROUNDS_MAX = 10;

  private ChainCalls() {}

  /**
   * Makes the call for the run. If the run has continued as new, repeats it for the last run of the
   * chain.
   */
  public static <T> CompletableFuture<T> follow(
      RunId run, Function<RunId, CompletableFuture<T>> call) {
    return follow(run, call, ROUNDS_MAX);
  }

  private static <T> CompletableFuture<T> follow(
      RunId run, Function<RunId, CompletableFuture<T>> call, int rounds) {
    return call.apply(run)
        .exceptionallyCompose(
            failure ->
                cause(failure) instanceof Refusal refusal
                        && refusal.code() == Refusal.Code.RUN_CONTINUED
                        && rounds > 1
                    ? follow(RunId.parse(refusal.subjectId()).orElse(run), call, rounds - 1)
                    : CompletableFuture.failedFuture(failure));
  }

  public static boolean hasCode(Throwable failure, Refusal.Code code) {
    return cause(failure) instanceof Refusal refusal && refusal.code() == code;
  }

  private static Throwable cause(Throwable failure) {
    return failure instanceof CompletionException && failure.getCause() != null
        ? failure.getCause()
        : failure;
  }

  /** Returns the refusal of a {@code retry} call for a run that has continued as new. */
  public static Refusal notRepeatable(RunId run, PreviousRun previous) {
    RunId successor = Objects.requireNonNull(previous.continuedTo(), "continuedTo");
    RunId last = Objects.requireNonNullElse(previous.lastOfChain(), successor);
    return Refusal.of(
        Refusal.Code.RUN_CONTINUED,
        "run",
        last.toString(),
        ContinueRuns.describe(run, successor, last)
            + " (expected: a run that ended otherwise; retry the last one)");
  }
}
