package dev.kagzi.sdk.internal.run;

import dev.kagzi.protocol.v1.ErrorCode;
import dev.kagzi.protocol.v1.ErrorDetail;
import dev.kagzi.protocol.v1.RecordedStep;
import dev.kagzi.protocol.v1.ReportItem;
import dev.kagzi.protocol.v1.ReportResult;
import dev.kagzi.protocol.v1.StepKind;
import dev.kagzi.sdk.RunCancelledException;

/**
 * How the code of a run learns that its run is cancelled: at a call without a recorded result. The
 * call's step is recorded as failed by the cancel before the code sees the exception, so a replay
 * throws it at the same call. Each workflow thread learns it at a call of its own.
 */
final class Cancellation {
  /**
   * Metadata of an error that records a cancel of the run, and not a failure of the step itself.
   */
  private static final String CANCEL_REQUESTED = "cancel_requested";

  private Cancellation() {}

  static boolean isSeen(RecordedStep step) {
    return step.hasFinalFailure() && isSeen(step.getFinalFailure());
  }

  static boolean isSeen(ErrorDetail error) {
    return error.containsMetadata(CANCEL_REQUESTED);
  }

  /**
   * Returns the error of a branch, or of the run's main code, that ends with {@link
   * RunCancelledException}.
   */
  static ErrorDetail error() {
    return ErrorDetail.newBuilder()
        .setCode(ErrorCode.ERROR_CODE_PRECONDITION_FAILED)
        .setMessage("a cancel of the run was requested")
        .setNonRetryable(true)
        .putMetadata(CANCEL_REQUESTED, "true")
        .build();
  }

  /** Whether the code ends because its own run is cancelled. */
  static boolean isOf(String runId, Throwable thrown) {
    return thrown instanceof RunCancelledException cancelled && cancelled.runId().equals(runId);
  }

  /**
   * Records that the calling thread learns of the cancel at this step, and throws the exception.
   * Returns the recorded step if it has a result meanwhile.
   *
   * @param kind the kind of the step; used only if the step has not begun
   */
  static RecordedStep see(WorkflowThread thread, String key, StepKind kind) {
    ReportItem.CancelSeen seen =
        ReportItem.CancelSeen.newBuilder()
            .setStepKey(key)
            .setKind(kind)
            .setScope(thread.context().scope())
            .build();
    ReportResult result = thread.reports().report(thread.item().setCancelSeen(seen).build());
    return switch (result.getResultCase()) {
      case ACCEPTED -> throw thread.context().cancelled();
      case ALREADY_RECORDED -> result.getAlreadyRecorded();
      case REFUSED -> throw thread.end(new StopReason.Refused(result.getRefused()));
      default -> throw thread.end(new StopReason.StartOver());
    };
  }
}
