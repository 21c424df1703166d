package dev.kagzi.cli;

import dev.kagzi.protocol.v1.ListStepsRequest;
import dev.kagzi.protocol.v1.ListStepsResponse;
import dev.kagzi.protocol.v1.Step;
import dev.kagzi.protocol.v1.Workflow;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

@Command(name = "steps", description = "Lists every attempt of every step of a run.")
final class WorkflowSteps extends RemoteCommand {

  @Parameters(paramLabel = "RUN", description = "The run id, or the external id of its start.")
  private String run = "";

  @Override
  int run(RemoteServer server, Output output) {
    Workflow found = WorkflowGet.find(server, server.runId(run));
    ListPart<Step> steps = of(server, found.getRunId());
    output.print("steps", steps, () -> RunText.steps(found, steps.items()));
    return ExitCode.DONE;
  }

  static ListPart<Step> of(RemoteServer server, String runId) {
    return ListOptions.readAll(
        page -> {
          ListStepsRequest request =
              ListStepsRequest.newBuilder()
                  .setNamespace(server.namespace())
                  .setRunId(runId)
                  .setPage(page)
                  .build();
          ListStepsResponse response = server.call(() -> server.admin().listSteps(request));
          return ListPart.of(response.getStepsList(), response.getPage());
        });
  }
}
