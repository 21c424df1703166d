package dev.kagzi.cli;

import dev.kagzi.protocol.v1.ResumeWorkflowRequest;
import dev.kagzi.protocol.v1.ResumeWorkflowResponse;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
    name = "resume",
    description = {
      "Lets a run that has FAILED or TIMED_OUT go on where it was.",
      "Completed steps keep their results; the failed one gets fresh attempts.",
      "A failure that the code caught and went on from stays. A run that has nothing left",
      "to do, because it undid its work, and one that was terminated are refused."
    })
final class WorkflowResume extends RunAction {

  @Option(
      names = "--force",
      description = {
        "Refuses neither: what was terminated goes on, and in a run that failed by itself",
        "all failed steps are executed again, also those whose failures were caught."
      })
  private boolean force;

  @Override
  Outcome act(RemoteServer server, String runId) {
    ResumeWorkflowRequest request =
        ResumeWorkflowRequest.newBuilder()
            .setNamespace(server.namespace())
            .setRunId(runId)
            .setAttempt(WorkflowGet.find(server, runId).getAttempts())
            .setForce(force)
            .build();
    ResumeWorkflowResponse answer = server.workflows().resumeWorkflow(request);
    return answer.getResumed()
        ? new Outcome(true, "resumed", answer)
        : new Outcome(false, "not resumed: it is " + RunText.status(answer.getStatus()), answer);
  }
}
