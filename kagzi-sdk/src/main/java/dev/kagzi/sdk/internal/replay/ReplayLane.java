package dev.kagzi.sdk.internal.replay;

import dev.kagzi.protocol.v1.ErrorDetail;
import dev.kagzi.protocol.v1.Payload;
import dev.kagzi.protocol.v1.ReportItem;
import dev.kagzi.protocol.v1.ReportResult;
import dev.kagzi.protocol.v1.WorkflowStatus;
import dev.kagzi.sdk.internal.report.ReportLane;
import dev.kagzi.sdk.internal.report.ReportListener;
import java.util.List;

/** Takes the place of the server: stores nothing, keeps how the code ended. Thread-safe. */
final class ReplayLane implements ReportLane {
  private final String runId;
  private volatile End end = new End.Waiting();

  ReplayLane(String runId) {
    this.runId = runId;
  }

  sealed interface End {
    /** The code has not ended: it waits for something that is not recorded. */
    record Waiting() implements End {}

    record Returned(Payload output) implements End {}

    record Threw(ErrorDetail error) implements End {}

    /** The code continues as a new run. */
    record Continued() implements End {}

    /** The code cannot continue with the recorded history. */
    record Blocked(ErrorDetail why) implements End {}
  }

  End end() {
    return end;
  }

  @Override
  public String runId() {
    return runId;
  }

  @Override
  public ReportItem.Builder item() {
    return ReportItem.newBuilder().setRunId(runId).setEpoch(1);
  }

  @Override
  public void sendAll(List<ReportItem> messages, List<ReportListener> listeners) {
    for (int i = 0; i < messages.size(); i++) {
      listeners.get(i).answered(answer(messages.get(i)));
    }
  }

  // No step, sleep or child starts here: the observer stops the code first.
  private ReportResult answer(ReportItem item) {
    ReportResult.Builder result = ReportResult.newBuilder();
    switch (item.getWhatCase()) {
      case STEP_FAILED -> result.getFinalFailureBuilder();
      case AWAITED -> result.getAwaitedBuilder().setClaimKept(item.getAwaited().getKeepClaim());
      case SLEEP -> result.getSleepingBuilder();
      case WORKFLOW_DONE -> {
        end = new End.Returned(item.getWorkflowDone().getOutput());
        result.getAcceptedBuilder().setStatus(WorkflowStatus.WORKFLOW_STATUS_COMPLETED);
      }
      case WORKFLOW_FAILED -> {
        end = new End.Threw(item.getWorkflowFailed().getError());
        result.getAcceptedBuilder().setStatus(WorkflowStatus.WORKFLOW_STATUS_FAILED);
      }
      case RELEASED -> {
        if (item.getReleased().hasBlockedBy()) {
          end = new End.Blocked(item.getReleased().getBlockedBy());
        }
        result.getAcceptedBuilder();
      }
      case RECEIVE -> result.getReceivingBuilder();
      case CONTINUE_AS_NEW -> {
        end = new End.Continued();
        result.getAcceptedBuilder().setStatus(WorkflowStatus.WORKFLOW_STATUS_COMPLETED);
      }
      case STEP_STARTED,
          STEP_DONE,
          CHILD_STARTED,
          RECEIVES_STOPPED,
          VALUES_PUBLISHED,
          CALLBACK,
          CANCEL_SEEN,
          WHAT_NOT_SET ->
          result.getAcceptedBuilder();
    }
    return result.build();
  }
}
