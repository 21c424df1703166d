package dev.kagzi.cli;

import dev.kagzi.protocol.v1.CancelWorkflowRequest;
import dev.kagzi.protocol.v1.CancelWorkflowResponse;
import dev.kagzi.protocol.v1.Workflow;
import picocli.CommandLine.Command;

@Command(
    name = "cancel",
    description = {
      "Ends a run at once as CANCELLED; its running code is interrupted.",
      "If the code of its type cleans up after a cancel, the run ends when it has."
    },
    footer = {
      "",
      "Examples:",
      "  kagzi workflow cancel order-42",
      "  kagzi workflow cancel --all-matching --type order --since 1h --dry-run"
    })
final class WorkflowCancel extends RunAction {

  WorkflowCancel() {
    super("cancel", OPEN);
  }

  @Override
  Outcome act(RemoteServer server, Workflow run) {
    CancelWorkflowRequest request =
        CancelWorkflowRequest.newBuilder()
            .setNamespace(server.namespace())
            .setRunId(run.getRunId())
            .build();
    CancelWorkflowResponse response = server.workflows().cancelWorkflow(request);
    String text =
        response.hasCleanUpUntil()
            ? "is cancelled: its code cleans up, until %s at the latest"
                .formatted(RunText.time(response.getCleanUpUntil()))
            : "cancelled";
    return Outcome.of(response.getCancelled(), text, response.getStatus(), response);
  }
}
