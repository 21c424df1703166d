package dev.kagzi.cli;

import dev.kagzi.protocol.v1.PageRequest;
import dev.kagzi.protocol.v1.Step;
import dev.kagzi.protocol.v1.Workflow;
import dev.kagzi.sdk.internal.history.HistoryFile;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** There is one form only, whatever {@code -o} says: it is for the test kit to read. */
@Command(
    name = "export",
    description =
        "Writes what is recorded of a run as one JSON document, for a test to replay: "
            + "workflow export RUN > order.json.")
final class WorkflowExport extends RemoteCommand {

  @Parameters(paramLabel = "RUN", description = "The run's id, or the id of its start.")
  private String run = "";

  @Override
  int run(RemoteServer server, Output answer) {
    // The run first: what it says of its end holds for all steps that are read after it.
    Workflow found = WorkflowGet.find(server, server.runId(run));
    List<Step> steps =
        WorkflowSteps.of(server, found.getRunId(), WorkflowExport::withPayloads).items();
    answer.out().println(new HistoryFile(found, steps).json());
    answer.out().flush();
    return ExitCode.DONE;
  }

  private static PageRequest withPayloads(PageRequest page) {
    return page.toBuilder().setIncludePayloads(true).build();
  }
}
