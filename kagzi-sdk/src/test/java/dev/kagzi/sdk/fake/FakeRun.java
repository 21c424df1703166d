package dev.kagzi.sdk.fake;

import com.google.protobuf.Timestamp;
import dev.kagzi.protocol.v1.ErrorDetail;
import dev.kagzi.protocol.v1.Payload;
import dev.kagzi.protocol.v1.RecordedStep;
import dev.kagzi.protocol.v1.StartWorkflowRequest;
import dev.kagzi.protocol.v1.WorkflowStatus;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** One run of the fake server. Guarded by the state's lock. */
public final class FakeRun {
  public static final Timestamp CREATED_AT =
      Timestamp.newBuilder().setSeconds(1_700_000_000).build();

  public final StartWorkflowRequest start;
  public WorkflowStatus status = WorkflowStatus.WORKFLOW_STATUS_PENDING;
  public int epoch;
  public int attempt = 1;
  public long dueNanos = System.nanoTime();
  public String workerId = "";
  public @Nullable Payload output;
  public @Nullable ErrorDetail error;
  public @Nullable ErrorDetail blockedBy;

  /** Reports are answered as if the run did not exist. */
  public boolean deleted;

  public final Map<String, RecordedStep> steps = new LinkedHashMap<>();
  public final Map<String, Long> wakeNanos = new LinkedHashMap<>();
  public final List<Long> releasedDelaysMs = new ArrayList<>();
  public final List<String> startedSteps = new ArrayList<>();

  FakeRun(StartWorkflowRequest start) {
    this.start = start;
  }

  public String id() {
    return start.getRunId();
  }

  boolean isFinished() {
    return switch (status) {
      case WORKFLOW_STATUS_COMPLETED,
          WORKFLOW_STATUS_FAILED,
          WORKFLOW_STATUS_CANCELLED,
          WORKFLOW_STATUS_TIMED_OUT ->
          true;
      default -> false;
    };
  }

  boolean isDue(long now) {
    return !isFinished() && workerId.isEmpty() && dueNanos - now <= 0;
  }

  void giveBack(WorkflowStatus status, long delayMs) {
    this.status = status;
    this.workerId = "";
    this.dueNanos = System.nanoTime() + delayMs * 1_000_000L;
  }

  public void finish(WorkflowStatus status) {
    this.status = status;
    this.workerId = "";
  }
}
