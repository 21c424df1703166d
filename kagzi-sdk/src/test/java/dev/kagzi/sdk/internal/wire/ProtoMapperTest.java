package dev.kagzi.sdk.internal.wire;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.protocol.v1.ErrorDetail;
import dev.kagzi.protocol.v1.Workflow;
import dev.kagzi.protocol.v1.WorkflowStatus;
import dev.kagzi.sdk.Failure;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ProtoMapperTest {
  private static final ErrorDetail ERROR =
      ErrorDetail.newBuilder().setMessage("card declined").build();
  private static final ErrorDetail BLOCKED =
      ErrorDetail.newBuilder().setMessage("step pay: another kind").build();

  @Test
  void a_blocked_run_shows_why_even_if_an_earlier_attempt_failed() {
    assertThat(failureOf(pending().setError(ERROR).setBlockedBy(BLOCKED)))
        .map(Failure::message)
        .hasValue("step pay: another kind");
  }

  @Test
  void a_retried_run_shows_the_error_of_its_last_attempt() {
    assertThat(failureOf(pending().setError(ERROR)))
        .map(Failure::message)
        .hasValue("card declined");
  }

  @Test
  void a_run_without_error_and_block_reason_shows_no_failure() {
    assertThat(failureOf(pending())).isEmpty();
  }

  /** A worker continues the run; the stored reason is removed when its claim ends. */
  @Test
  void a_running_run_is_not_blocked() {
    assertThat(
            failureOf(
                pending().setBlockedBy(BLOCKED).setStatus(WorkflowStatus.WORKFLOW_STATUS_RUNNING)))
        .isEmpty();
  }

  private static Workflow.Builder pending() {
    return Workflow.newBuilder().setStatus(WorkflowStatus.WORKFLOW_STATUS_PENDING);
  }

  private static Optional<Failure> failureOf(Workflow.Builder run) {
    return ProtoMapper.runInfo(run.build(), Optional.empty()).failure();
  }
}
