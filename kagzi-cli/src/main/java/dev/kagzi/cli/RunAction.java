package dev.kagzi.cli;

import com.google.protobuf.Message;
import dev.kagzi.protocol.v1.Workflow;
import dev.kagzi.protocol.v1.WorkflowStatus;
import dev.kagzi.sdk.RunStatus;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.node.ObjectNode;

/**
 * A command that acts on the given runs, or on all runs that match its filters, and reports whether
 * it took effect.
 */
abstract class RunAction extends RemoteCommand {
  private static final int SAMPLE_MAX = 10;

  static final Set<RunStatus> OPEN =
      Set.of(RunStatus.PENDING, RunStatus.RUNNING, RunStatus.SLEEPING);

  @Parameters(
      paramLabel = "RUN",
      arity = "0..*",
      description = "The run id, or the external id of its start; several are possible.")
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

    /** The run was left out, and no call was made. */
    static Outcome skipped(String why) {
      return new Outcome(false, why, Workflow.getDefaultInstance());
    }
  }

  /**
   * Acts on a run, as it was when the command began. Called by several threads at once if the
   * command acts on several runs.
   */
  abstract Outcome act(RemoteServer server, Workflow run);

  /**
   * Acts on a run that matches the filters, unless the action on another matching run makes it
   * unnecessary.
   */
  Outcome actOnMatching(RemoteServer server, Workflow run, MatchingRuns matching) {
    return act(server, run);
  }

  @Override
  final int run(RemoteServer server, Output output) {
    checkOptions();
    if (bulk.allMatching) {
      return allMatching(server, output);
    }
    Map<String, Workflow> given = new LinkedHashMap<>();
    for (String run : runs) {
      Workflow found = MatchingRuns.withoutPayloads(server.run(run));
      given.putIfAbsent(found.getRunId(), found);
    }
    List<Workflow> found = List.copyOf(given.values());
    return runs.size() > 1
        ? all(output, found, run -> server.call(() -> act(server, run)))
        : one(server, output, found.getFirst());
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

  private int one(RemoteServer server, Output output, Workflow run) {
    Outcome outcome = server.call(() -> act(server, run));
    String line = "run " + run.getRunId() + " " + outcome.text();
    output.print(outcome.response(), () -> outcome.done() ? line : "");
    if (outcome.done()) {
      return ExitCode.DONE;
    }
    output.printNote(line);
    return ExitCode.FAILED;
  }

  private int allMatching(RemoteServer server, Output output) {
    MatchingRuns matching = MatchingRuns.read(server, filter.request(this, server, actsOn));
    List<Workflow> found = matching.list();
    if (found.isEmpty()) {
      server.requireNamespace();
    }
    if (bulk.dryRun) {
      printSample(output, found);
      return ExitCode.DONE;
    }
    String question =
        "%s%s %s in namespace %s?"
            .formatted(
                verb.substring(0, 1).toUpperCase(Locale.ROOT),
                verb.substring(1),
                Plural.of(found.size(), "run"),
                server.namespace());
    if (!found.isEmpty() && !confirmation.isGiven(output, question)) {
      output.printNote("nothing was changed");
      return ExitCode.FAILED;
    }
    return all(output, found, run -> server.call(() -> actIfUnchanged(server, run, matching)));
  }

  /**
   * Reads the run again just before the call, because the server's calls cannot check an expected
   * status.
   */
  private Outcome actIfUnchanged(RemoteServer server, Workflow run, MatchingRuns matching) {
    return matching
        .change(server, run)
        .map(Outcome::skipped)
        .orElseGet(() -> actOnMatching(server, run, matching));
  }

  private void printSample(Output output, List<Workflow> found) {
    List<Workflow> sample = found.subList(0, Math.min(SAMPLE_MAX, found.size()));
    ObjectNode json = new ListPart<>(sample, "").json("sample");
    json.remove("nextPageToken");
    json.put("matching", found.size());
    output.print(
        json,
        () ->
            "%s without --dry-run the command would %s\n%s"
                .formatted(
                    Plural.of(found.size(), "run") + (found.size() == 1 ? " matches;" : " match;"),
                    verb + (found.size() == 1 ? " it" : " them"),
                    sample.isEmpty() ? "" : RunText.list(sample)));
  }

  private int all(Output output, List<Workflow> found, Function<Workflow, Outcome> action) {
    return new BulkRun(found, bulk.concurrency, action).run(output);
  }
}
