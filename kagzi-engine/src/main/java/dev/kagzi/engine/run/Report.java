package dev.kagzi.engine.run;

import dev.kagzi.engine.retry.RetryPolicy;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.Failure;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.PublishedValue;
import dev.kagzi.engine.value.StepKind;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One event that a worker reports about a run whose claim it holds. */
public sealed interface Report {
  Claim claim();

  /**
   * A step attempt is running. Workers send it only for attempts that are still running after a
   * short time, so that queries show them.
   *
   * @param timeoutMs timeout of the whole attempt; 0: the default of the run or, if it has none, of
   *     the server
   * @param inputHash hash of the step's input, computed by the worker; empty for none
   * @param progress progress that the step's code recorded; the report is repeated for new progress
   * @param policy the step's own policy, used if the server fails the attempt
   */
  record StepStarted(
      Claim claim,
      String stepKey,
      int attempt,
      StepKind kind,
      @Nullable Payload input,
      long ranUs,
      long timeoutMs,
      @Nullable RetryPolicy policy,
      String inputHash,
      @Nullable Payload progress)
      implements Report {}

  record StepDone(
      Claim claim,
      String stepKey,
      int attempt,
      StepKind kind,
      @Nullable Payload input,
      Payload output,
      long ranUs,
      String inputHash)
      implements Report {}

  /**
   * An attempt of a step failed.
   *
   * @param policy the step's own policy; null: the policy that was sent when the step began, else
   *     the policy of the run, else the server's default
   * @param keepClaim other branches of the run continue, so the claim is kept during any delay
   */
  record StepFailed(
      Claim claim,
      String stepKey,
      int attempt,
      @Nullable Payload input,
      Failure failure,
      @Nullable RetryPolicy policy,
      boolean keepClaim,
      long ranUs,
      String inputHash,
      @Nullable Payload progress)
      implements Report {}

  /** The run sleeps. Exactly one of {@code durationMs} and {@code until} is set. */
  record Sleep(
      Claim claim,
      String stepKey,
      @Nullable Long durationMs,
      @Nullable Instant until,
      boolean keepClaim)
      implements Report {}

  /**
   * The run completed.
   *
   * @param openSteps true if steps that have not ended may be stored as RUNNING; the engine then
   *     closes them. The worker reports this because a check in the database would cost every run a
   *     statement
   */
  record Done(Claim claim, @Nullable Payload output, boolean openSteps) implements Report {}

  record Failed(Claim claim, Failure failure) implements Report {}

  /**
   * The worker releases the run unfinished. This counts neither as a failure nor as a crash.
   *
   * @param blockedBy why the worker's code cannot continue the run; null if it can
   */
  record Released(Claim claim, long delayMs, @Nullable Failure blockedBy) implements Report {}

  /**
   * The run starts a child run as one of its steps.
   *
   * @param start the child; its id and namespace are set by the engine
   * @param detached the step completes with the start; the parent does not await the child
   */
  record ChildStarted(
      Claim claim, String stepKey, int attempt, StartRequest start, boolean detached)
      implements Report {}

  /**
   * The run waits until all (or any) of these steps have ended, or until the duration is over. The
   * steps start children or receive signals. If enough of them have ended already, the claim is
   * kept and their results are returned. Otherwise the claim ends, and the run is SLEEPING. An
   * empty list waits for the duration only.
   *
   * @param all true to wait for all steps, false for any
   * @param durationMs timeout of the wait; null: none
   * @param keepClaim other branches of the run continue, so the claim is kept and the report only
   *     reads results
   */
  record Awaited(
      Claim claim, List<String> steps, boolean all, @Nullable Long durationMs, boolean keepClaim)
      implements Report {
    public Awaited {
      steps = List.copyOf(steps);
    }
  }

  /**
   * The code receives a signal as a step. The claim ends until a signal arrives or the timeout
   * passes, unless a signal is buffered.
   *
   * @param signal the name of the signal
   * @param timeoutMs counted from the first report of the step; null: none
   * @param keepClaim other branches of the run continue, so the claim is kept
   */
  record Receive(
      Claim claim, String stepKey, String signal, @Nullable Long timeoutMs, boolean keepClaim)
      implements Report {}

  /**
   * Branches have lost their race. The signals that they received can be received again.
   *
   * @param scopes the common prefixes of their step keys, each with a slash at its end
   * @param winner the step that records the winner, in the same transaction. The ended receives of
   *     the losers then stay recorded: a replay of a loser needs them to reach the undos that its
   *     code registered after them. Null: they are deleted, because the race can be decided again
   */
  record ReceivesStopped(Claim claim, List<String> scopes, @Nullable StepDone winner)
      implements Report {
    public ReceivesStopped {
      scopes = List.copyOf(scopes);
    }
  }

  /** Values that the run's code has published since the last report. */
  record ValuesPublished(Claim claim, List<PublishedValue> values) implements Report {
    public ValuesPublished {
      values = List.copyOf(values);
    }
  }

  /**
   * The run ends, and a new run with this input starts under its external id.
   *
   * @param version of the new run; null: that of this run, empty: the type's default
   * @param openSteps as in {@link Done}
   * @param stepKey the step that records that the call was refused, or that the code has learnt of
   *     a cancel at this call; empty: nothing is recorded
   */
  record ContinueAsNew(
      Claim claim, Payload input, @Nullable String version, boolean openSteps, String stepKey)
      implements Report {}

  /**
   * The code learns at this step that a cancel of its run was requested.
   *
   * @param kind the kind to record if the step has not begun yet
   * @param scope the branch whose code learns it; empty: the main code
   */
  record CancelSeen(Claim claim, String stepKey, StepKind kind, String scope) implements Report {}

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
      case Receive r -> r.stepKey.length() + r.signal.length();
      case ReceivesStopped r -> r.scopes.size() * 100 + (r.winner == null ? 0 : r.winner.bytes());
      case ValuesPublished r -> r.values.stream().mapToInt(PublishedValue::bytes).sum();
      case ContinueAsNew r -> r.stepKey.length() + r.input.bytes();
      case CancelSeen r -> r.stepKey.length() + r.scope.length();
    };
  }

  private static int size(@Nullable Payload payload) {
    return payload == null ? 0 : payload.bytes();
  }
}
