package dev.kagzi.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.protocol.v1.ErrorDetail;
import dev.kagzi.protocol.v1.Payload;
import dev.kagzi.protocol.v1.Step;
import dev.kagzi.protocol.v1.StepKind;
import dev.kagzi.protocol.v1.StepStatus;
import dev.kagzi.protocol.v1.Workflow;
import dev.kagzi.protocol.v1.WorkflowStatus;
import java.util.List;
import org.junit.jupiter.api.Test;

class RunTextTest {

  @Test
  void crashes_are_shown_while_there_are_any() {
    Workflow run = Workflow.newBuilder().setRunId("r").setAttempts(1).setCrashes(2).build();

    assertThat(RunText.details(run, List.of(), List.of(), List.of(), List.of()).lines())
        .anyMatch(line -> line.matches("crashes +2"));
  }

  /** A worker continues the run; the stored reason is removed when its claim ends. */
  @Test
  void only_a_pending_run_is_shown_as_blocked() {
    Workflow.Builder run =
        Workflow.newBuilder()
            .setRunId("r")
            .setBlockedBy(ErrorDetail.newBuilder().setMessage("step moved"));

    assertThat(details(run.setStatus(WorkflowStatus.WORKFLOW_STATUS_PENDING)))
        .contains("blocked by", "step moved");
    assertThat(details(run.setStatus(WorkflowStatus.WORKFLOW_STATUS_RUNNING)))
        .doesNotContain("blocked by", "step moved");
  }

  @Test
  void an_open_step_that_no_worker_executes_is_interrupted() {
    Workflow.Builder run = Workflow.newBuilder().setRunId("r").setEpoch(7);
    Step step =
        Step.newBuilder()
            .setStepId("r/transcode@1.7")
            .setStepKey("transcode")
            .setKind(StepKind.STEP_KIND_FUNCTION)
            .setStatus(StepStatus.STEP_STATUS_RUNNING)
            .build();

    assertThat(steps(run.setStatus(WorkflowStatus.WORKFLOW_STATUS_RUNNING), step))
        .contains(" RUNNING ");
    assertThat(steps(run.setEpoch(8), step)).contains(" INTERRUPTED ").doesNotContain("RUNNING");
    assertThat(steps(run.setEpoch(7).setStatus(WorkflowStatus.WORKFLOW_STATUS_PENDING), step))
        .contains(" INTERRUPTED ");
  }

  @Test
  void a_wait_for_a_signal_that_received_nothing_has_timed_out() {
    Step.Builder step =
        Step.newBuilder()
            .setStepKey("approval")
            .setKind(StepKind.STEP_KIND_SIGNAL)
            .setStatus(StepStatus.STEP_STATUS_COMPLETED);
    Workflow.Builder run = Workflow.newBuilder().setRunId("r");

    assertThat(steps(run, step.build())).contains(" TIMED_OUT ").doesNotContain("COMPLETED");
    assertThat(steps(run, step.setOutput(Payload.getDefaultInstance()).build()))
        .contains(" COMPLETED ");
  }

  private static String steps(Workflow.Builder run, Step step) {
    return RunText.steps(run.build(), List.of(step));
  }

  private static String details(Workflow.Builder run) {
    return RunText.details(run.build(), List.of(), List.of(), List.of(), List.of());
  }
}
