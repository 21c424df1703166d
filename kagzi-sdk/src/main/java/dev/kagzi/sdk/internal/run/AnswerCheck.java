package dev.kagzi.sdk.internal.run;

import dev.kagzi.protocol.v1.ErrorDetail;
import dev.kagzi.protocol.v1.RecordedStep;
import dev.kagzi.protocol.v1.ReportItem;
import dev.kagzi.protocol.v1.ReportResult;
import dev.kagzi.sdk.internal.log.EventLog;
import org.jspecify.annotations.Nullable;

/** Checks the answer to a report for which the code did not wait. */
final class AnswerCheck {
  private static final EventLog log = EventLog.of(AnswerCheck.class);

  private AnswerCheck() {}

  /**
   * Stops the execution if the report was not accepted. The code received the value before it was
   * recorded. If another value is recorded, the code has continued from a wrong value, so the run
   * starts over.
   */
  static void check(WorkflowThread thread, ReportItem item, ReportResult result) {
    switch (result.getResultCase()) {
      case ACCEPTED -> {}
      case CLAIM_LOST -> throw thread.end(new StopReason.Lost());
      case ALREADY_RECORDED -> {
        ReportItem.StepDone done = done(item);
        if (done != null && !isSame(done, result.getAlreadyRecorded())) {
          log.warn(
                  "another result of the step is already recorded, the run starts over from its history")
              .about(thread.state().logged())
              .with("step", done.getStepKey())
              .write();
          throw thread.end(new StopReason.StartOver());
        }
      }
      case REFUSED -> throw failRefused(thread, item, result.getRefused());
      default -> throw thread.end(new StopReason.StartOver());
    }
  }

  private static ReportItem.@Nullable StepDone done(ReportItem item) {
    if (item.hasReceivesStopped() && item.getReceivesStopped().hasWinner()) {
      return item.getReceivesStopped().getWinner();
    }
    return item.hasStepDone() ? item.getStepDone() : null;
  }

  private static boolean isSame(ReportItem.StepDone own, RecordedStep recorded) {
    return recorded.hasOutput() && recorded.getOutput().equals(own.getOutput());
  }

  // A step's result that cannot be stored, because it is too large, becomes a final failure of the
  // step. The run starts over, so that its code receives this failure. Any other refused report
  // fails the run.
  private static SuspendedError failRefused(
      WorkflowThread thread, ReportItem item, ErrorDetail why) {
    if (!item.hasStepDone()) {
      throw thread.end(new StopReason.Refused(ofChild(item, why).setNonRetryable(true).build()));
    }
    ReportItem.StepDone done = item.getStepDone();
    ReportItem.StepFailed failed =
        ReportItem.StepFailed.newBuilder()
            .setStepKey(done.getStepKey())
            .setAttempt(done.getAttempt())
            .setError(why.toBuilder().setNonRetryable(true))
            .setRanUs(done.getRanUs())
            .build();
    ReportResult result = thread.reports().report(thread.item().setStepFailed(failed).build());
    throw thread.end(
        result.hasFinalFailure() ? new StopReason.StartOver() : new StopReason.Refused(why));
  }

  private static ErrorDetail.Builder ofChild(ReportItem item, ErrorDetail why) {
    return item.hasChildStarted()
        ? why.toBuilder()
            .setMessage(
                "child %s: %s".formatted(item.getChildStarted().getStepKey(), why.getMessage()))
        : why.toBuilder();
  }
}
