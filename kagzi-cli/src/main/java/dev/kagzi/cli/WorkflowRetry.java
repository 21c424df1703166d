package dev.kagzi.cli;

import dev.kagzi.protocol.v1.RetryWorkflowRequest;
import dev.kagzi.protocol.v1.RetryWorkflowResponse;
import dev.kagzi.protocol.v1.Workflow;
import dev.kagzi.sdk.RunStatus;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
    name = "retry",
    description = "Starts a new run with the input and options of an ended one.",
    footer = {
      "",
      "With --all-matching each failure is retried once, however often the command is repeated.",
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

  /** Starts a new run even if the run was retried before: the user has named it. */
  @Override
  Outcome act(RemoteServer server, Workflow run) {
    boolean retriedBefore = find(server, RetryId.of(run)).isPresent();
    return retry(server, run, retriedBefore ? "" : RetryId.of(run));
  }

  /** Retries each failure once, however often the command is repeated. */
  @Override
  Outcome actOnMatching(RemoteServer server, Workflow run, MatchingRuns matching) {
    Optional<String> ancestor = ancestor(server, run, matching);
    if (ancestor.isPresent()) {
      return Outcome.skipped(
          "is left out: the retry of run %s, which also matches, starts its work again"
              .formatted(ancestor.get()));
    }
    Optional<Workflow> retry = matching.retryOf(run).or(() -> find(server, RetryId.of(run)));
    return retry
        .map(each -> Outcome.skipped("was already retried as run " + each.getRunId()))
        .orElseGet(() -> retry(server, run, RetryId.of(run)));
  }

  /**
   * Returns the nearest run that matches among the run's parent, its parent's parent, and so on.
   */
  private static Optional<String> ancestor(
      RemoteServer server, Workflow run, MatchingRuns matching) {
    Optional<Workflow> child = Optional.of(run);
    while (child.isPresent() && child.get().hasParentRunId()) {
      String parent = child.get().getParentRunId();
      if (matching.contains(parent)) {
        return Optional.of(parent);
      }
      child = find(server, parent);
    }
    return Optional.empty();
  }

  private static Optional<Workflow> find(RemoteServer server, String runId) {
    return RemoteServer.ifFound(() -> WorkflowGet.request(server, runId));
  }

  /** If the new id is empty, the client's channel sets a random one. */
  private Outcome retry(RemoteServer server, Workflow run, String newId) {
    RetryWorkflowRequest.Builder request =
        RetryWorkflowRequest.newBuilder()
            .setNamespace(server.namespace())
            .setRunId(run.getRunId())
            .setNewRunId(newId);
    setIfGiven(version, request::setVersion);
    RetryWorkflowResponse response = server.workflows().retryWorkflow(request.build());
    String other = "run " + response.getNewRunId();
    return response.getAlreadyRunning()
        ? new Outcome(false, "not retried: " + other + " is active", response)
        : new Outcome(true, "retried as " + other, response);
  }
}
