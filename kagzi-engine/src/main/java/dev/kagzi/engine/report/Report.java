package dev.kagzi.engine.report;

import dev.kagzi.engine.retry.RetryPolicy;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.Failure;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.StepKind;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** One thing that a worker says happened in a run that it holds. */
public sealed interface Report {
  /** By which right. */
  Claim claim();

  /** A step takes its time: it shows as running. */
  record StepStarted(
      Claim claim, String stepKey, int attempt, StepKind kind, @Nullable Payload input, long ranMs)
      implements Report {}

  /** A step gave a result. */
  record StepDone(
      Claim claim,
      String stepKey,
      int attempt,
      StepKind kind,
      @Nullable Payload input,
      Payload output,
      long ranMs)
      implements Report {}

  /**
   * An attempt of a step failed.
   *
   * @param policy the step's own; null: the run's, else the server's
   * @param keepClaim the run goes on elsewhere in its code, whatever the delay
   */
  record StepFailed(
      Claim claim,
      String stepKey,
      int attempt,
      @Nullable Payload input,
      Failure failure,
      @Nullable RetryPolicy policy,
      boolean keepClaim,
      long ranMs)
      implements Report {}

  /** The run sleeps, for a duration or until an instant; exactly one of them is set. */
  record Sleep(
      Claim claim,
      String stepKey,
      @Nullable Long durationMs,
      @Nullable Instant until,
      boolean keepClaim)
      implements Report {}

  /** The run is done. */
  record Done(Claim claim, @Nullable Payload output) implements Report {}

  /** The run's code gave up. */
  record Failed(Claim claim, Failure failure) implements Report {}

  /**
   * The run is given back unfinished; that counts nowhere.
   *
   * @param blockedBy why it cannot go on with the worker's code, if that is so
   */
  record Released(Claim claim, long delayMs, @Nullable Failure blockedBy) implements Report {}
}
