package dev.kagzi.sdk.internal.run;

import dev.kagzi.protocol.v1.ErrorCode;
import dev.kagzi.protocol.v1.ErrorDetail;
import dev.kagzi.protocol.v1.RecordedStep;
import dev.kagzi.protocol.v1.StepKind;
import org.jspecify.annotations.Nullable;

/**
 * Blocks a run whose history does not match the code. The run is released, shows why it is blocked,
 * and continues once a worker has matching code.
 */
final class HistoryMismatch {
  private HistoryMismatch() {}

  static void requireKind(WorkflowThread workflowThread, RecordedStep recorded, StepKind kind) {
    if (recorded.getKind() != kind && recorded.getKind() != StepKind.STEP_KIND_UNSPECIFIED) {
      throw blocked(
          workflowThread,
          BlockReason.STEP_KIND_CHANGED.name(),
          "step %s is recorded as a %s, but the code calls it as a %s; was the workflow changed while runs were open?"
              .formatted(recorded.getStepKey(), name(recorded.getKind()), name(kind)),
          null);
    }
  }

  static void requireInput(
      WorkflowThread workflowThread, RecordedStep recorded, @Nullable StepInput input) {
    if (input != null
        && !recorded.getInputHash().isEmpty()
        && !input.isOf().test(recorded.getInputHash())) {
      throw blocked(
          workflowThread,
          BlockReason.STEP_INPUT_CHANGED.name(),
          "step %s: the code gives it another input than the one on record; was the workflow changed while runs were open?"
              .formatted(recorded.getStepKey()),
          null);
    }
  }

  static SuspendedError unreadable(WorkflowThread workflowThread, RecordedStep recorded) {
    throw blocked(
        workflowThread,
        BlockReason.RECORD_UNREADABLE.name(),
        "step %s: the history has a %s, which this SDK cannot read; is the server newer than the SDK?"
            .formatted(recorded.getStepKey(), recorded.getResultCase()),
        null);
  }

  static SuspendedError blocked(
      WorkflowThread workflowThread, String code, String message, @Nullable Throwable cause) {
    throw workflowThread.end(
        new StopReason.Blocked(
            error(message, cause).toBuilder().putMetadata("code", code).build(), cause));
  }

  static ErrorDetail error(String message, @Nullable Throwable cause) {
    ErrorDetail.Builder error =
        ErrorDetail.newBuilder()
            .setCode(ErrorCode.ERROR_CODE_PRECONDITION_FAILED)
            .setMessage(message);
    if (cause != null) {
      error.putMetadata("type", cause.getClass().getName());
    }
    return error.build();
  }

  private static String name(StepKind kind) {
    return kind.name().replaceFirst("^STEP_KIND_", "");
  }
}
