package dev.kagzi.cli;

import com.google.protobuf.Message;
import dev.kagzi.protocol.v1.ListWorkflowsRequest;
import dev.kagzi.protocol.v1.Workflow;
import dev.kagzi.protocol.v1.WorkflowStatus;
import dev.kagzi.sdk.RunStatus;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.node.ObjectNode;

/**
 * A command that acts on runs and reports whether it took effect: on the given runs, or on all that
 * match its filters.
 */
abstract class RunAction extends RemoteCommand {
  private static final int SAMPLE_MAX = 10;

  static final Set<RunStatus> OPEN =
      Set.of(RunStatus.PENDING, RunStatus.RUNNING, RunStatus.SLEEPING);

  @Parameters(
      paramLabel = "RUN",
      arity = "0..*",
      description = "The run id, or the id given at its start; several are possible.")
  private List<String> runs = List.of();

  @Mixin private BulkOptions bulk = new BulkOptions();

  @Mixin private Confirmation confirmation = new Confirmation();

  @Mixin private RunFilterOptions filter = new RunFilterOptions();

  private final String verb;
  private final Set<RunStatus> actsOn;

  /**
   * @param verb what the command does: "cancel"
   * @param actsOn the statuses of the runs that it can act on, unless the user gives others
   */
  RunAction(String verb, Set<RunStatus> actsOn) {
    this.verb = verb;
    this.actsOn = actsOn;
  }

  record Outcome(boolean done, String text, Message response) {

    static Outcome of(boolean done, String text, WorkflowStatus status, Message response) {
      String late = "had already ended as " + RunText.status(status);
      return new Outcome(done, done ? text : late, response);
    }
  }

  /** Called by several threads at once if the command acts on several runs. */
  abstract Outcome act(RemoteServer server, String runId);

  @Override
  final int run(RemoteServer server, Output output) {
    checkOptions();
    if (bulk.allMatching) {
      return allMatching(server, output);
    }
    if (runs.size() > 1) {
      return all(server, output, runs.stream().map(server::runId).distinct().toList());
    }
    return one(server, output, server.runId(runs.getFirst()));
  }

  private void checkOptions() {
    if (bulk.concurrency < 1 || bulk.concurrency > BulkOptions.CONCURRENCY_MAX) {
      throw usageError("--concurrency", Integer.toString(bulk.concurrency), "1 to 64");
    }
    if (bulk.allMatching && (filter.isEmpty() || !runs.isEmpty())) {
      throw usageError(
          "--all-matching",
          runs.isEmpty() ? "no filter" : "together with RUN",
          "at least one filter such as --type, and no RUN");
    }
    if (!bulk.allMatching && (runs.isEmpty() || !filter.isEmpty() || bulk.dryRun)) {
      throw usageError(
          "RUN",
          runs.isEmpty() ? "none" : "together with a filter or --dry-run",
          "run ids alone, or --all-matching with filters");
    }
  }

  private int one(RemoteServer server, Output output, String id) {
    Outcome outcome = server.call(() -> act(server, id));
    String line = "run " + id + " " + outcome.text();
    output.print(outcome.response(), () -> outcome.done() ? line : "");
    if (outcome.done()) {
      return ExitCode.DONE;
    }
    output.printNote(line);
    return ExitCode.FAILED;
  }

  /** Reads all ids before the first call, so that the command changes exactly what it counted. */
  private int allMatching(RemoteServer server, Output output) {
    ListWorkflowsRequest.Builder request = filter.request(this, server, actsOn);
    List<Workflow> found =
        ListOptions.readAll(
                page -> WorkflowList.page(server, request.setPage(page).build()),
                RunAction::withoutPayloads)
            .items();
    if (found.isEmpty()) {
      server.requireNamespace();
    }
    if (bulk.dryRun) {
      printSample(output, found);
      return ExitCode.DONE;
    }
    String question =
        "%s%s %d runs in namespace %s?"
            .formatted(
                verb.substring(0, 1).toUpperCase(Locale.ROOT),
                verb.substring(1),
                found.size(),
                server.namespace());
    if (!found.isEmpty() && !confirmation.isGiven(output, question)) {
      output.printNote("nothing was changed");
      return ExitCode.FAILED;
    }
    return all(server, output, found.stream().map(Workflow::getRunId).toList());
  }

  /** A command may hold a million of them. */
  private static Workflow withoutPayloads(Workflow run) {
    return Workflow.newBuilder()
        .setRunId(run.getRunId())
        .setWorkflowType(run.getWorkflowType())
        .setStatus(run.getStatus())
        .setExternalId(run.getExternalId())
        .setAttempts(run.getAttempts())
        .setCreatedAt(run.getCreatedAt())
        .build();
  }

  private void printSample(Output output, List<Workflow> found) {
    List<Workflow> sample = found.subList(0, Math.min(SAMPLE_MAX, found.size()));
    ObjectNode json = new ListPart<>(sample, "").json("sample");
    json.remove("nextPageToken");
    json.put("matching", found.size());
    output.print(
        json,
        () ->
            "%d runs match; without --dry-run the command would %s them\n%s"
                .formatted(found.size(), verb, sample.isEmpty() ? "" : RunText.list(sample)));
  }

  private int all(RemoteServer server, Output output, List<String> ids) {
    BulkRun work = new BulkRun(ids, bulk.concurrency, id -> server.call(() -> act(server, id)));
    return work.run(output);
  }
}
