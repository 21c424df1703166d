package dev.kagzi.cli;

import dev.kagzi.protocol.v1.PageRequest;
import dev.kagzi.protocol.v1.Step;
import dev.kagzi.protocol.v1.Workflow;
import dev.kagzi.sdk.internal.history.HistoryFile;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Ignores {@code -o}: the test kit reads this one format. */
@Command(
    name = "export",
    description =
        "Writes the history of a run as one JSON document, for a test to replay: "
            + "workflow export RUN > order.json.")
final class WorkflowExport extends RemoteCommand {

  @Parameters(paramLabel = "RUN", description = "The run id, or the id given at its start.")
  private String run = "";

  @Override
  int run(RemoteServer server, Output output) {
    // Reads the run before its steps, so that the steps are complete if the run has ended.
    Workflow found = WorkflowGet.find(server, server.runId(run));
    List<Step> steps =
        WorkflowSteps.of(server, found.getRunId(), WorkflowExport::withPayloads).items();
    output.out().println(new HistoryFile(found, steps).json());
    output.out().flush();
    return ExitCode.DONE;
  }

  private static PageRequest withPayloads(PageRequest page) {
    return page.toBuilder().setIncludePayloads(true).build();
  }
}
