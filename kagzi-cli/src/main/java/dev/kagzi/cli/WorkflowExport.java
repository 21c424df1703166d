package dev.kagzi.cli;

import dev.kagzi.protocol.v1.Workflow;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Ignores {@code -o}: the test kit reads this one format. */
@Command(
    name = "export",
    description =
        "Writes the history of a run as one JSON document, for a test to replay: "
            + "workflow export RUN > order.json.")
final class WorkflowExport extends RemoteCommand {

  @Parameters(paramLabel = "RUN", description = "The run id, or the external id of its start.")
  private String run = "";

  @Override
  int run(RemoteServer server, Output output) {
    Workflow found = WorkflowGet.find(server, server.runId(run));
    output.out().println(server.history(found.getRunId()));
    output.out().flush();
    return ExitCode.DONE;
  }
}
