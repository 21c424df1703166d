package dev.kagzi.engine.transition;

import dev.kagzi.engine.retry.RetryPolicy;
import dev.kagzi.engine.run.StartRequest;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.Failure;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.StepKind;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One thing that a worker says happened in a run that it holds. */
public sealed interface Report {
  /** By which right. */
  Claim claim();

  /**
   * A step takes its time: it shows as running.
   *
   * @param timeoutMs how long it may take in all; 0: the run's time-out, else the server's
   * @param inputHash of the step's input, as its worker computes it; empty for none
   * @param progress how far it is, as its code says; such a report may come again
   * @param policy the step's own, for the case that the server ends the attempt
   */
  record StepStarted(
      Claim claim,
      String stepKey,
      int attempt,
      StepKind kind,
      @Nullable Payload input,
      long ranMs,
      long timeoutMs,
      @Nullable RetryPolicy policy,
      String inputHash,
      @Nullable Payload progress)
      implements Report {

    /** With the time-out and the policy of the run. */
    public StepStarted(
        Claim claim,
        String stepKey,
        int attempt,
        StepKind kind,
        @Nullable Payload input,
        long ranMs) {
      this(claim, stepKey, attempt, kind, input, ranMs, 0, null);
    }

    /** Without progress and an input that is compared. */
    public StepStarted(
        Claim claim,
        String stepKey,
        int attempt,
        StepKind kind,
        @Nullable Payload input,
        long ranMs,
        long timeoutMs,
        @Nullable RetryPolicy policy) {
      this(claim, stepKey, attempt, kind, input, ranMs, timeoutMs, policy, "", null);
    }
  }

  /** A step gave a result. */
  record StepDone(
      Claim claim,
      String stepKey,
      int attempt,
      StepKind kind,
      @Nullable Payload input,
      Payload output,
      long ranMs,
      String inputHash)
      implements Report {

    /** Without an input that is compared. */
    public StepDone(
        Claim claim,
        String stepKey,
        int attempt,
        StepKind kind,
        @Nullable Payload input,
        Payload output,
        long ranMs) {
      this(claim, stepKey, attempt, kind, input, output, ranMs, "");
    }
  }

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
      long ranMs,
      String inputHash,
      @Nullable Payload progress)
      implements Report {

    /** Without progress and an input that is compared. */
    public StepFailed(
        Claim claim,
        String stepKey,
        int attempt,
        @Nullable Payload input,
        Failure failure,
        @Nullable RetryPolicy policy,
        boolean keepClaim,
        long ranMs) {
      this(claim, stepKey, attempt, input, failure, policy, keepClaim, ranMs, "", null);
    }
  }

  /** The run sleeps, for a duration or until an instant; exactly one of them is set. */
  record Sleep(
      Claim claim,
      String stepKey,
      @Nullable Long durationMs,
      @Nullable Instant until,
      boolean keepClaim)
      implements Report {}

  /**
   * The run is done.
   *
   * @param openSteps steps may be shown as running that the run's code has left behind: they are
   *     closed. Only the worker knows that for nothing; to look for them costs each run a statement
   */
  record Done(Claim claim, @Nullable Payload output, boolean openSteps) implements Report {
    public Done(Claim claim, @Nullable Payload output) {
      this(claim, output, false);
    }
  }

  /** The run's code gave up. */
  record Failed(Claim claim, Failure failure) implements Report {}

  /**
   * The run is given back unfinished; that counts nowhere.
   *
   * @param blockedBy why it cannot go on with the worker's code, if that is so
   */
  record Released(Claim claim, long delayMs, @Nullable Failure blockedBy) implements Report {}

  /**
   * The run starts another as one of its steps.
   *
   * @param start what to start; it gets its id and its namespace here
   * @param detached the step is done with the start
   */
  record ChildStarted(
      Claim claim, String stepKey, int attempt, StartRequest start, boolean detached)
      implements Report {}

  /**
   * The run waits for messages to its steps, and at most for a while: it is given back until then,
   * unless they are there.
   *
   * @param steps the steps that it waits for
   * @param all whether it waits for all of them, or for any
   * @param durationMs how long at most; null: as long as it takes
   * @param keepClaim parts of the run are at work: it only asks
   */
  record Awaited(
      Claim claim, List<String> steps, boolean all, @Nullable Long durationMs, boolean keepClaim)
      implements Report {
    public Awaited {
      steps = List.copyOf(steps);
    }

    public Awaited(Claim claim, List<String> steps, boolean all, @Nullable Long durationMs) {
      this(claim, steps, all, durationMs, false);
    }
  }

  /** How much of a budget this report takes. */
  default int bytes() {
    return switch (this) {
      case StepStarted r -> r.stepKey.length() + size(r.input) + size(r.progress);
      case StepDone r -> r.stepKey.length() + size(r.input) + size(r.output);
      case StepFailed r ->
          r.stepKey.length() + size(r.input) + size(r.progress) + r.failure.bytes();
      case Sleep r -> r.stepKey.length();
      case Done r -> size(r.output);
      case Failed r -> r.failure.bytes();
      case Released r -> r.blockedBy == null ? 0 : r.blockedBy.bytes();
      case ChildStarted r -> r.stepKey.length() + r.start.input().bytes();
      case Awaited r -> r.steps.size() * 100;
    };
  }

  private static int size(@Nullable Payload payload) {
    return payload == null ? 0 : payload.bytes();
  }
}
