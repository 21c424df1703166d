package dev.kagzi.cli;

import dev.kagzi.protocol.v1.ExplainWorkflowRequest;
import dev.kagzi.protocol.v1.ExplainWorkflowResponse;
import dev.kagzi.protocol.v1.WaitCause;
import dev.kagzi.protocol.v1.WaitRef;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

@Command(
    name = "why",
    description = {
      "Explains why runs do not continue, or what they are doing.",
      "The most important cause comes first, with its code in brackets."
    },
    footer = {
      "",
      "The most frequent codes; docs/why-a-run-waits.md explains all of them:",
      "  CRASHED_BEFORE         its workers were lost: read their logs first",
      "  CRASH_BACKOFF          the same, and it waits until its next try",
      "  NO_WORKER              no worker is online on the queue of the run",
      "  NO_WORKER_FOR_TYPE     no worker of the queue has registered its type",
      "  NO_WORKER_FOR_VERSION  the workers serve other versions of its type",
      "  SLOTS_TAKEN            all workers are busy with other runs, which are named",
      "  BLOCKED                its code does not match what is recorded of it",
      "  STEP_RETRY, RUN_RETRY  it failed and is tried again at the named time",
      "  SIGNAL, CHILDREN       it waits for a signal or for the end of child runs",
      "  SLEEPING               its code sleeps until the named time",
      "  RUNNING_STEP           a worker executes a step; if it hangs, read a thread dump",
      "  LEASE_ENDING           its worker is silent; another one takes the run over soon",
      "",
      "Exit code: 0 explained, 3 a run was not found, 4 server not reachable.",
      "",
      "Example:",
      "  kagzi workflow why order-42 order-43"
    })
final class WorkflowWhy extends RemoteCommand {
  private static final int WIDTH = 96;
  private static final String INDENT = "  ";

  /**
   * Kinds of references whose ids are printed below a cause, because its text does not contain them
   * in a form that a user can copy.
   */
  private static final Set<String> COPIED = Set.of("RUN", "WORKER", "SCHEDULE");

  @Parameters(
      paramLabel = "RUN",
      arity = "1..*",
      description = "The run id, or the external id of its start; several are possible.")
  private List<String> runs = List.of();

  @Override
  int run(RemoteServer server, Output output) {
    return runs.size() == 1
        ? print(output, "run " + runs.getFirst(), find(server, runs.getFirst()))
        : all(server, output);
  }

  /** Explains each run that can be explained; returns the exit code of the worst. */
  private int all(RemoteServer server, Output output) {
    int worst = ExitCode.DONE;
    Map<String, ExplainWorkflowResponse> explained = new LinkedHashMap<>();
    for (String run : new LinkedHashSet<>(runs)) {
      try {
        explained.put(run, find(server, run));
      } catch (CliException failed) {
        if (failed.exitCode() == ExitCode.UNREACHABLE) {
          throw failed;
        }
        worst = Math.max(worst, failed.exitCode());
        output.printNote(String.valueOf(failed.getMessage()));
      }
    }
    output.print(json(explained), () -> text(explained));
    return worst;
  }

  private static ObjectNode json(Map<String, ExplainWorkflowResponse> explained) {
    ObjectNode json = MessageJson.empty();
    ArrayNode array = json.putArray("runs");
    explained.forEach(
        (run, each) -> {
          ObjectNode one = MessageJson.empty().put("run", run);
          one.setAll(MessageJson.of(each));
          array.add(one);
        });
    return json;
  }

  private static String text(Map<String, ExplainWorkflowResponse> explained) {
    return explained.entrySet().stream()
        .map(each -> text("run " + each.getKey(), each.getValue()))
        .collect(Collectors.joining("\n"));
  }

  private static ExplainWorkflowResponse find(RemoteServer server, String run) {
    return RemoteServer.isRunId(run)
        ? server.call(
            () ->
                RemoteServer.ifFound(() -> request(server, run.toLowerCase(Locale.ROOT)))
                    .orElseGet(() -> request(server, server.runId(run))))
        : explain(server, server.runId(run));
  }

  static ExplainWorkflowResponse explain(RemoteServer server, String runId) {
    return server.call(() -> request(server, runId));
  }

  private static ExplainWorkflowResponse request(RemoteServer server, String runId) {
    return server
        .workflows()
        .explainWorkflow(
            ExplainWorkflowRequest.newBuilder()
                .setNamespace(server.namespace())
                .setRunId(runId)
                .build());
  }

  static int print(Output output, String subject, ExplainWorkflowResponse explained) {
    output.print(explained, () -> text(subject, explained));
    return ExitCode.DONE;
  }

  private static String text(String subject, ExplainWorkflowResponse explained) {
    String status = RunText.status(explained.getStatus());
    String first = status.equals("UNSPECIFIED") ? subject : subject + " is " + status;
    return first
        + "\n"
        + explained.getCausesList().stream().map(WorkflowWhy::text).collect(Collectors.joining());
  }

  private static String text(WaitCause cause) {
    String refs =
        Stream.concat(
                Stream.of(cause.getCode()),
                cause.getRefsList().stream()
                    .filter(ref -> COPIED.contains(ref.getKind()))
                    .map(WorkflowWhy::text))
            .collect(Collectors.joining(", "));
    return "\n" + wrapped(cause.getText()) + wrapped("[" + refs + "]");
  }

  private static String text(WaitRef ref) {
    return ref.getKind().toLowerCase(Locale.ROOT) + " " + ref.getId();
  }

  /** Breaks lines between words; a longer word keeps its own line. */
  private static String wrapped(String text) {
    StringBuilder lines = new StringBuilder();
    StringBuilder line = new StringBuilder();
    for (String word : List.of(PlainLine.of(text).split(" ", -1))) {
      if (!line.isEmpty() && line.length() + 1 + word.length() > WIDTH) {
        lines.append(INDENT).append(line).append('\n');
        line.setLength(0);
      }
      line.append(line.isEmpty() ? "" : " ").append(word);
    }
    return lines.append(INDENT).append(line).append('\n').toString();
  }
}
