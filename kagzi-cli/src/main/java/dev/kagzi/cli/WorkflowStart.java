package dev.kagzi.cli;

import dev.kagzi.protocol.v1.StartWorkflowRequest;
import dev.kagzi.protocol.v1.StartWorkflowResponse;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
    name = "start",
    description = "Starts a run and prints its id.",
    footer = {
      "",
      "If a run with this --id is already active, its id is printed and no run is started,",
      "so that the command can be repeated."
    })
final class WorkflowStart extends RemoteCommand {

  @Parameters(paramLabel = "TYPE", description = "The type of the workflow.")
  private String type = "";

  @Option(
      names = "--queue",
      paramLabel = "NAME",
      required = true,
      description = "The task queue of its workers.")
  private String queue = "";

  @Option(
      names = "--id",
      paramLabel = "ID",
      description = "Your own id for the run: its external id.")
  private @Nullable String id;

  @Option(
      names = "--input",
      paramLabel = "JSON|@FILE",
      description = "The workflow's input: JSON, or @ and a file with JSON.")
  private @Nullable String input;

  @Option(
      names = "--workflow-version",
      paramLabel = "VERSION",
      description = "The version of the run (default: the type's default version).")
  private @Nullable String version;

  @Option(
      names = "--header",
      paramLabel = "NAME=VALUE",
      description = "A text that is stored with the run and sent to its workers; may be repeated.")
  private List<String> headers = new ArrayList<>();

  @Override
  int run(RemoteServer server, Output output) {
    StartWorkflowRequest.Builder request =
        StartWorkflowRequest.newBuilder()
            .setNamespace(server.namespace())
            .setWorkflowType(type)
            .setTaskQueue(queue);
    if (id != null) {
      if (id.isEmpty()) {
        throw usageError("--id", "\"\"", "at least one character");
      }
      request.setExternalId(id);
    }
    if (version != null) {
      request.setVersion(version);
    }
    headers.forEach(header -> addHeader(request, header));
    if (input != null) {
      request.setInput(JsonInput.read(this, input));
    }
    StartWorkflowResponse started =
        server.call(() -> server.workflows().startWorkflow(request.build()));
    String other = started.getWorkflowType();
    if (started.getAlreadyExists() && !other.isEmpty() && !other.equals(type)) {
      throw new CliException(
          "--id: %s is the id of run %s of type %s (expected: one of type %s, or none)"
              .formatted(id, started.getRunId(), other, type));
    }
    output.print(started, started::getRunId);
    if (started.getAlreadyExists() && !output.isJson()) {
      output.printNote("run " + started.getRunId() + " already exists with this id");
    }
    return ExitCode.DONE;
  }

  private void addHeader(StartWorkflowRequest.Builder request, String header) {
    int equals = header.indexOf('=');
    if (equals < 1) {
      throw usageError("--header", header, "NAME=VALUE");
    }
    request.putHeaders(header.substring(0, equals), header.substring(equals + 1));
  }
}
