package dev.kagzi.engine.transition;

import dev.kagzi.engine.step.RecordedStep;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import java.time.Instant;
import java.util.List;

/** What the engine answers to a report. All of them are normal. */
public sealed interface ReportResult {
  /** It is so, durably; the status is the run's after the report. */
  record Accepted(RunStatus status) implements ReportResult {}

  /** The step is a run of its own from now on. */
  record ChildAccepted(RunId child) implements ReportResult {}

  /** What has come of what the run waits for; the run is given back if the claim is not kept. */
  record Came(List<RecordedStep> steps, boolean claimKept) implements ReportResult {
    public Came {
      steps = List.copyOf(steps);
    }
  }

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
