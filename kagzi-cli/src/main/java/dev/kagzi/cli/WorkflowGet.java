package dev.kagzi.cli;

import dev.kagzi.protocol.v1.GetWorkflowRequest;
import dev.kagzi.protocol.v1.PublishedValue;
import dev.kagzi.protocol.v1.Step;
import dev.kagzi.protocol.v1.WaitCause;
import dev.kagzi.protocol.v1.Workflow;
import java.util.List;
import java.util.function.Supplier;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

@Command(
    name = "get",
    description = "Shows a run with every attempt of its steps, and why it does not continue.")
final class WorkflowGet extends RemoteCommand {

  @Parameters(paramLabel = "RUN", description = "The run id, or the external id of its start.")
  private String run = "";

  @Override
  int run(RemoteServer server, Output output) {
    Workflow found = find(server, server.runId(run));
    List<Step> steps = WorkflowSteps.of(server, found.getRunId()).items();
    ObjectNode json = MessageJson.of(found);
    ArrayNode array = json.putArray("steps");
    steps.forEach(step -> array.add(MessageJson.of(step)));
    List<PublishedValue> values =
        orNote(
            output,
            "what it has published",
            () -> WorkflowPublished.of(server, found.getRunId(), ""));
    ArrayNode published = json.putArray("published");
    values.forEach(value -> published.add(MessageJson.of(value)));
    List<Workflow> handlers =
        orNote(output, "the runs that handle its failure", () -> FailureHandlers.of(server, found));
    ArrayNode handling = json.putArray("handlers");
    handlers.forEach(
        handler ->
            handling
                .addObject()
                .put("runId", handler.getRunId())
                .put("workflowType", handler.getWorkflowType())
                .put("status", RunText.status(handler.getStatus())));
    List<Workflow> started =
        orNote(
            output,
            "the runs that its steps have started",
            () -> StartedRuns.of(server, found, steps));
    ArrayNode starts = json.putArray("started");
    started.forEach(
        run ->
            starts
                .addObject()
                .put("runId", run.getRunId())
                .put("workflowType", run.getWorkflowType())
                .put("step", run.getParentStepId())
                .put("status", RunText.status(run.getStatus())));
    List<WaitCause> causes =
        found.hasFinishedAt()
            ? List.of()
            : orNote(
                output,
                "why the run does not continue",
                () -> WorkflowWhy.explain(server, found.getRunId()).getCausesList());
    ArrayNode why = json.putArray("why");
    causes.forEach(cause -> why.add(MessageJson.of(cause)));
    output.print(
        json,
        () -> RunText.details(found, handlers, causes, values, steps) + StartedRuns.text(started));
    return ExitCode.DONE;
  }

  static Workflow find(RemoteServer server, String runId) {
    return server.call(() -> request(server, runId));
  }

  static Workflow request(RemoteServer server, String runId) {
    GetWorkflowRequest request =
        GetWorkflowRequest.newBuilder().setNamespace(server.namespace()).setRunId(runId).build();
    return server.workflows().getWorkflow(request).getWorkflow();
  }

  /**
   * Prints a note and returns an empty list if data that belongs to a run cannot be read, so that
   * the run itself is still shown.
   */
  private static <T> List<T> orNote(Output output, String what, Supplier<List<T>> read) {
    try {
      return read.get();
    } catch (CliException failed) {
      output.printNote("%s could not be read: %s".formatted(what, failed.getMessage()));
      return List.of();
    }
  }
}
