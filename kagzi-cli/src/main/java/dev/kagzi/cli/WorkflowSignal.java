package dev.kagzi.cli;

import dev.kagzi.protocol.v1.SignalWorkflowRequest;
import dev.kagzi.protocol.v1.SignalWorkflowResponse;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
    name = "signal",
    description = "Sends a signal to an open run.",
    footer = {
      "",
      "The signal is stored when the command ends, and stays buffered until the code of the",
      "run receives it. With --id the command can be repeated: the signal is stored once.",
      "",
      "Example:",
      "  kagzi workflow signal order-42 approval --input '{\"by\": \"ann\", \"approved\": true}'"
    })
final class WorkflowSignal extends RemoteCommand {

  @Parameters(
      index = "0",
      paramLabel = "RUN",
      description = "The run id, or the external id of its start.")
  private String run = "";

  @Parameters(index = "1", paramLabel = "NAME", description = "The name of the signal.")
  private String name = "";

  @Option(
      names = "--input",
      paramLabel = "JSON|@FILE",
      required = true,
      description = "The value of the signal: JSON, or @ and a file with JSON.")
  private String input = "";

  @Option(names = "--id", paramLabel = "ID", description = "Your own id for the signal.")
  private @Nullable String id;

  @Override
  int run(RemoteServer server, Output output) {
    SignalWorkflowRequest.Builder request =
        SignalWorkflowRequest.newBuilder()
            .setNamespace(server.namespace())
            .setRunId(server.runId(run))
            .setName(name)
            .setPayload(JsonInput.read(this, input));
    if (id != null) {
      if (id.isEmpty()) {
        throw usageError("--id", "\"\"", "at least one character");
      }
      request.setSignalId(id);
    }
    SignalWorkflowResponse sent =
        server.call(() -> server.workflows().signalWorkflow(request.build()));
    output.print(sent, sent::getSignalId);
    return ExitCode.DONE;
  }
}
