package dev.kagzi.cli;

import dev.kagzi.protocol.v1.GetPublishedRequest;
import dev.kagzi.protocol.v1.GetPublishedResponse;
import dev.kagzi.protocol.v1.PublishedValue;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

@Command(
    name = "published",
    description = "Shows what a run has published: of each name the last value.",
    footer = {
      "",
      "With a NAME only its value is printed, and the exit code is 3 if the run has not",
      "published it.",
      "",
      "Example:",
      "  kagzi workflow published order-42 progress --watch"
    })
final class WorkflowPublished extends RemoteCommand {

  @Parameters(
      index = "0",
      paramLabel = "RUN",
      description = "The run id, or the id given at its start.")
  private String run = "";

  @Parameters(
      index = "1",
      arity = "0..1",
      paramLabel = "NAME",
      description = "Only the value of this name.")
  private @Nullable String name;

  @Mixin private WatchOption watch = new WatchOption();

  @Override
  int run(RemoteServer server, Output output) {
    String runId = server.runId(run);
    return watch.run(output, each -> show(server, runId, each));
  }

  private int show(RemoteServer server, String runId, Output output) {
    if (name == null) {
      ListPart<PublishedValue> values = new ListPart<>(of(server, runId, ""), "");
      output.print("values", values, () -> table(values.items()));
      return ExitCode.DONE;
    }
    List<PublishedValue> found = of(server, runId, name);
    if (found.isEmpty()) {
      throw new CliException(
          ExitCode.NOT_FOUND,
          "run %s: %s was not published (expected: a name that `kagzi workflow published RUN` lists)"
              .formatted(runId, name),
          null);
    }
    PublishedValue value = found.getFirst();
    output.print(value, () -> RunText.wholePayload(value.getValue()));
    return ExitCode.DONE;
  }

  static List<PublishedValue> of(RemoteServer server, String runId, String name) {
    GetPublishedRequest request =
        GetPublishedRequest.newBuilder()
            .setNamespace(server.namespace())
            .setRunId(runId)
            .setName(name)
            .build();
    GetPublishedResponse response = server.call(() -> server.workflows().getPublished(request));
    return response.getValuesList();
  }

  private static String table(List<PublishedValue> values) {
    Table table = new Table().row("NAME", "PUBLISHED", "VALUE");
    for (PublishedValue value : values) {
      table.row(
          value.getName(),
          RunText.time(value.getPublishedAt()),
          RunText.shortPayload(value.getValue()));
    }
    return table.text("");
  }
}
