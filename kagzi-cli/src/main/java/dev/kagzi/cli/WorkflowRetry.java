package dev.kagzi.cli;

import dev.kagzi.protocol.v1.RetryWorkflowRequest;
import dev.kagzi.protocol.v1.RetryWorkflowResponse;
import dev.kagzi.sdk.RunStatus;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
    name = "retry",
    description = "Starts a new run with the input and options of an ended one.",
    footer = {
      "",
      "Examples:",
      "  kagzi workflow retry order-42",
      "  kagzi workflow retry --all-matching --type order --status FAILED --since 1d"
    })
final class WorkflowRetry extends RunAction {

  WorkflowRetry() {
    super("retry", Set.of(RunStatus.FAILED, RunStatus.TIMED_OUT, RunStatus.CANCELLED));
  }

  @Option(
      names = "--workflow-version",
      paramLabel = "VERSION",
      description =
          "The version of the new run (default: that of the old run); '' for the type's default.")
  private @Nullable String version;

  @Override
  Outcome act(RemoteServer server, String runId) {
    RetryWorkflowRequest.Builder request =
        RetryWorkflowRequest.newBuilder().setNamespace(server.namespace()).setRunId(runId);
    if (version != null) {
      request.setVersion(version);
    }
    RetryWorkflowResponse response = server.workflows().retryWorkflow(request.build());
    String other = "run " + response.getNewRunId();
    return response.getAlreadyRunning()
        ? new Outcome(false, "not retried: " + other + " is active", response)
        : new Outcome(true, "retried as " + other, response);
  }
}
