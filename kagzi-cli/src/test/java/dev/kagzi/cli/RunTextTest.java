package dev.kagzi.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.protocol.v1.ErrorDetail;
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

  private static String details(Workflow.Builder run) {
    return RunText.details(run.build(), List.of(), List.of(), List.of(), List.of());
  }
}
