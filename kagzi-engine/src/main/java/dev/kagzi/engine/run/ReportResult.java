package dev.kagzi.engine.run;

import dev.kagzi.engine.value.RecordedStep;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The result of a report. */
public sealed interface ReportResult {
  /** The report is durable. {@code status} is the run's status after it. */
  record Accepted(RunStatus status) implements ReportResult {}

  record ChildAccepted(RunId child) implements ReportResult {}

  /** The awaited steps that have ended, up to a byte limit. */
  record AwaitedSteps(List<RecordedStep> steps, boolean claimKept) implements ReportResult {
    public AwaitedSteps {
      steps = List.copyOf(steps);
    }
  }

  /** The step already had this result; the reported one was dropped. */
  record AlreadyRecorded(RecordedStep step) implements ReportResult {}

  /** Another attempt is scheduled. With {@code claimKept} the worker executes it itself. */
  record RetryScheduled(int nextAttempt, long delayMs, Instant at, boolean claimKept)
      implements ReportResult {}

  /** No attempt is left: the workflow code receives the failure. */
  record FinalFailure() implements ReportResult {}

  /** The sleep is recorded. With {@code claimKept} the worker waits in memory. */
  record Sleeping(long remainingMs, boolean claimKept) implements ReportResult {}

  /**
   * No signal has arrived. With {@code claimKept} the worker waits in memory.
   *
   * @param remainingMs until the timeout; null: none
   */
  record Receiving(@Nullable Long remainingMs, boolean claimKept) implements ReportResult {}

  /** The step has received its signal, now or before, or has timed out. */
  record Received(RecordedStep step) implements ReportResult {}

  /** The run has ended, and this run has started in its place. */
  record Continued(RunId successor) implements ReportResult {}

  /** The claim, or the run, has ended, or another worker holds it. Nothing was changed. */
  record ClaimLost(RunStatus status) implements ReportResult {}

  record Refused(Refusal refusal) implements ReportResult {}
}
