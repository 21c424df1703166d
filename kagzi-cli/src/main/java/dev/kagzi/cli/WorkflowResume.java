package dev.kagzi.cli;

import dev.kagzi.protocol.v1.ResumeWorkflowRequest;
import dev.kagzi.protocol.v1.ResumeWorkflowResponse;
import picocli.CommandLine.Command;

@Command(
    name = "resume",
    description = "Lets a run that has FAILED or TIMED_OUT go on where it was.")
final class WorkflowResume extends RunAction {

  @Override
  Outcome act(RemoteServer server, String runId) {
    ResumeWorkflowRequest request =
        ResumeWorkflowRequest.newBuilder()
            .setNamespace(server.namespace())
            .setRunId(runId)
            .setAttempt(WorkflowGet.find(server, runId).getAttempts())
            .build();
    ResumeWorkflowResponse answer = server.workflows().resumeWorkflow(request);
    return answer.getResumed()
        ? new Outcome(true, "resumed", answer)
        : new Outcome(false, "not resumed: it is " + RunText.status(answer.getStatus()), answer);
  }
}
