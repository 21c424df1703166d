package dev.kagzi.engine.report;

import dev.kagzi.engine.step.RecordedStep;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunStatus;
import java.time.Instant;

/** What the engine answers to a report. All of them are normal. */
public sealed interface ReportResult {
  /** It is so, durably; the status is the run's after the report. */
  record Accepted(RunStatus status) implements ReportResult {}

  /** The step had a result before: this one. */
  record AlreadyRecorded(RecordedStep step) implements ReportResult {}

  /** Another attempt is due; the worker waits in place if it kept the claim. */
  record RetryScheduled(int nextAttempt, long delayMs, Instant at, boolean claimKept)
      implements ReportResult {}

  /** No attempt is left: the failure belongs to the workflow's code now. */
  record FinalFailure() implements ReportResult {}

  /** The sleep is recorded; the worker waits in place if it kept the claim. */
  record Sleeping(long remainingMs, boolean claimKept) implements ReportResult {}

  /** Somebody else holds the run, or it has ended; nothing was changed. */
  record ClaimLost(RunStatus status) implements ReportResult {}

  /** The report itself is wrong; nothing was stored. */
  record Refused(Refusal refusal) implements ReportResult {}
}
