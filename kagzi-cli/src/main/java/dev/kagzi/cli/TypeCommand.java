package dev.kagzi.cli;

import dev.kagzi.protocol.v1.ListWorkflowTypesRequest;
import dev.kagzi.protocol.v1.ListWorkflowTypesResponse;
import dev.kagzi.protocol.v1.PageRequest;
import dev.kagzi.protocol.v1.SetDefaultVersionRequest;
import dev.kagzi.protocol.v1.SetDefaultVersionResponse;
import dev.kagzi.protocol.v1.WorkflowTypeInfo;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** Looks at workflow types and chooses their default versions. */
@Command(
    name = "type",
    description = "Looks at workflow types and chooses their default versions.",
    synopsisSubcommandLabel = "COMMAND")
final class TypeCommand implements Runnable {
  private static final int PAGE_SIZE = 100;
  private static final int DONE = 0;

  @Spec private CommandSpec spec = CommandSpec.create();

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "Which command? See below.");
  }

  @Command(
      name = "list",
      description = "Lists types that have runs, with their unfinished runs by version.")
  int list(@Mixin ServerOptions options) {
    try (RemoteServer server = options.connect()) {
      List<WorkflowTypeInfo> types = types(server);
      if (options.json()) {
        ArrayNode array = JsonNodeFactory.instance.arrayNode();
        types.forEach(type -> array.add(MessageJson.of(type)));
        print(MessageJson.text(array));
      } else {
        print(text(types));
      }
      return DONE;
    }
  }

  private static List<WorkflowTypeInfo> types(RemoteServer server) {
    List<WorkflowTypeInfo> types = new ArrayList<>();
    String token = "";
    do {
      ListWorkflowTypesRequest request =
          ListWorkflowTypesRequest.newBuilder()
              .setNamespace(server.namespace())
              .setPage(PageRequest.newBuilder().setPageSize(PAGE_SIZE).setPageToken(token))
              .build();
      ListWorkflowTypesResponse page = server.call(() -> server.admin().listWorkflowTypes(request));
      types.addAll(page.getWorkflowTypesList());
      token = page.getPage().getNextPageToken();
    } while (!token.isEmpty());
    return types;
  }

  private static String text(List<WorkflowTypeInfo> types) {
    Table table = new Table().row("TYPE", "DEFAULT", "RUNS", "OPEN", "OPEN BY VERSION");
    for (WorkflowTypeInfo type : types) {
      List<String> versions = new ArrayList<>();
      for (Map.Entry<String, Long> open :
          new TreeMap<>(type.getActiveRunsByVersionMap()).entrySet()) {
        versions.add(version(open.getKey()) + ": " + open.getValue());
      }
      table.row(
          type.getWorkflowType(),
          version(type.getDefaultVersion()),
          Long.toString(type.getTotalRuns()),
          Long.toString(type.getActiveRuns()),
          String.join(", ", versions));
    }
    return table.text("");
  }

  private static String version(String version) {
    return version.isEmpty() ? "-" : version;
  }

  @Command(
      name = "set-default",
      description = {
        "Chooses the version of runs that are started without one.",
        "What has started stays on its version."
      })
  int setDefault(
      @Mixin ServerOptions options,
      @Parameters(paramLabel = "TYPE") String type,
      @Parameters(
              paramLabel = "VERSION",
              description = "\"\" for the version of workers that name none.")
          String version) {
    try (RemoteServer server = options.connect()) {
      SetDefaultVersionRequest request =
          SetDefaultVersionRequest.newBuilder()
              .setNamespace(server.namespace())
              .setWorkflowType(type)
              .setVersion(version)
              .build();
      SetDefaultVersionResponse response =
          server.call(() -> server.admin().setDefaultVersion(request));
      print(
          options.json()
              ? MessageJson.text(MessageJson.of(response))
              : "type %s: new runs have version %s (before: %s)"
                  .formatted(type, version(version), version(response.getFormerVersion())));
      return DONE;
    }
  }

  private void print(String text) {
    PrintWriter out = spec.commandLine().getOut();
    out.println(text.stripTrailing());
    out.flush();
  }
}
