package dev.kagzi.cli;

import dev.kagzi.protocol.v1.ListStepsRequest;
import dev.kagzi.protocol.v1.ListStepsResponse;
import dev.kagzi.protocol.v1.Step;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

@Command(name = "steps", description = "Lists every attempt of every step of a run.")
final class WorkflowSteps extends RemoteCommand {

  @Parameters(paramLabel = "RUN", description = "The run id, or the external id of its start.")
  private String run = "";

  @Override
  int run(RemoteServer server, Output output) {
    ListPart<Step> steps = of(server, server.runId(run));
    output.print("steps", steps, () -> RunText.steps(steps.items()));
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
