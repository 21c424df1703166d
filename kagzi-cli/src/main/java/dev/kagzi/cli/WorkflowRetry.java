package dev.kagzi.cli;

import dev.kagzi.protocol.v1.RetryWorkflowRequest;
import dev.kagzi.protocol.v1.RetryWorkflowResponse;
import picocli.CommandLine.Command;

@Command(
    name = "retry",
    description = "Starts a new run like one that has ended, with the same input and options.")
final class WorkflowRetry extends RunAction {

  @Override
  Outcome act(RemoteServer server, String runId) {
    RetryWorkflowRequest request =
        RetryWorkflowRequest.newBuilder().setNamespace(server.namespace()).setRunId(runId).build();
    RetryWorkflowResponse answer = server.workflows().retryWorkflow(request);
    String other = "run " + answer.getNewRunId();
    return answer.getAlreadyRunning()
        ? new Outcome(false, "not retried: " + other + " is active", answer)
        : new Outcome(true, "retried as " + other, answer);
  }
}
