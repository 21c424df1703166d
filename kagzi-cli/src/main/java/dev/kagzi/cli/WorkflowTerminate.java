package dev.kagzi.cli;

import dev.kagzi.protocol.v1.TerminateWorkflowRequest;
import dev.kagzi.protocol.v1.TerminateWorkflowResponse;
import dev.kagzi.protocol.v1.Workflow;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
    name = "terminate",
    description = "Ends a run at once as FAILED; its running code is interrupted.",
    footer = {
      "",
      "Examples:",
      "  kagzi workflow terminate order-42 --reason \"wrong customer\"",
      "  kagzi workflow terminate --all-matching --queue old --yes"
    })
final class WorkflowTerminate extends RunAction {

  WorkflowTerminate() {
    super("terminate", OPEN);
  }

  @Option(
      names = "--reason",
      paramLabel = "TEXT",
      defaultValue = "terminated from the command line",
      description = "Shown as the run's error (default: ${DEFAULT-VALUE}).")
  private String reason = "";

  @Override
  Outcome act(RemoteServer server, Workflow run) {
    TerminateWorkflowRequest request =
        TerminateWorkflowRequest.newBuilder()
            .setNamespace(server.namespace())
            .setRunId(run.getRunId())
            .setReason(reason)
            .build();
    TerminateWorkflowResponse response = server.workflows().terminateWorkflow(request);
    return Outcome.of(response.getTerminated(), "terminated", response.getStatus(), response);
  }
}
