package dev.kagzi.cli;

import dev.kagzi.protocol.v1.ExplainWorkflowRequest;
import dev.kagzi.protocol.v1.ExplainWorkflowResponse;
import dev.kagzi.protocol.v1.WaitCause;
import dev.kagzi.protocol.v1.WaitRef;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

@Command(
    name = "why",
    description = {
      "Explains why a run does not continue, or what it is doing.",
      "The most important cause comes first; docs/why-a-run-waits.md lists all of them."
    })
final class WorkflowWhy extends RemoteCommand {
  private static final int WIDTH = 96;
  private static final String INDENT = "  ";

  /** Kinds that the text of a cause does not already name in a form that a user can copy. */
  private static final Set<String> COPIED = Set.of("RUN", "WORKER", "SCHEDULE");

  @Parameters(paramLabel = "RUN", description = "The run id, or the id given at its start.")
  private String run = "";

  @Override
  int run(RemoteServer server, Output output) {
    ExplainWorkflowResponse explained =
        RemoteServer.isRunId(run)
            ? server.call(
                () ->
                    RemoteServer.ifFound(() -> request(server, run.toLowerCase(Locale.ROOT)))
                        .orElseGet(() -> request(server, server.runId(run))))
            : explain(server, server.runId(run));
    return print(output, "run " + run, explained);
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
