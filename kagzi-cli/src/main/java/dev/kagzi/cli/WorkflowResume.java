package dev.kagzi.cli;

import dev.kagzi.protocol.v1.ResumeWorkflowRequest;
import dev.kagzi.protocol.v1.ResumeWorkflowResponse;
import dev.kagzi.protocol.v1.Workflow;
import dev.kagzi.protocol.v1.WorkflowOrigin;
import dev.kagzi.sdk.RunStatus;
import java.util.Set;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
    name = "resume",
    description = {
      "Continues a run that has FAILED or TIMED_OUT where it stopped.",
      "Completed steps keep their results; the failed step gets new attempts.",
      "Failures that the code caught and continued from stay. Refused for terminated runs,",
      "and for runs with nothing left to do because they undid their work."
    },
    footer = {
      "",
      "Examples:",
      "  kagzi workflow resume order-42",
      "  kagzi workflow resume --all-matching --type order --of-version 2 --yes"
    })
final class WorkflowResume extends RunAction {

  WorkflowResume() {
    super("resume", Set.of(RunStatus.FAILED, RunStatus.TIMED_OUT));
  }

  @Option(
      names = "--force",
      description = {
        "Also resume these: a terminated run continues, and in a failed run all failed steps",
        "are executed again, also those whose failures were caught."
      })
  private boolean force;

  /**
   * Sends the attempt that the user has seen, so that a run that was resumed in the meantime is not
   * resumed again.
   */
  @Override
  Outcome act(RemoteServer server, Workflow run) {
    ResumeWorkflowRequest.Builder request =
        ResumeWorkflowRequest.newBuilder()
            .setNamespace(server.namespace())
            .setRunId(run.getRunId())
            .setForce(force);
    if (run.getAttempts() > 0) {
      request.setAttempt(run.getAttempts());
    }
    ResumeWorkflowResponse response = server.workflows().resumeWorkflow(request.build());
    return response.getResumed()
        ? new Outcome(true, "resumed", response)
        : new Outcome(
            false, "not resumed: it is " + RunText.status(response.getStatus()), response);
  }

  /**
   * Skips a child whose parent also matches: the resumed parent starts the failed child again as a
   * new run, and both would do the same work.
   */
  @Override
  Outcome actOnMatching(RemoteServer server, Workflow run, MatchingRuns matching) {
    boolean isRestarted =
        run.getOrigin() == WorkflowOrigin.WORKFLOW_ORIGIN_CHILD
            && !run.getDetached()
            && matching.contains(run.getParentRunId());
    return isRestarted
        ? Outcome.skipped(
            "is left out: its parent run %s also matches, and decides about its children"
                .formatted(run.getParentRunId()))
        : act(server, run);
  }
}
