package dev.kagzi.cli;

import dev.kagzi.protocol.v1.ListWorkersRequest;
import dev.kagzi.protocol.v1.ListWorkersResponse;
import dev.kagzi.protocol.v1.ListWorkflowTypesRequest;
import dev.kagzi.protocol.v1.ListWorkflowTypesResponse;
import dev.kagzi.protocol.v1.PageRequest;
import dev.kagzi.protocol.v1.SetDefaultVersionRequest;
import dev.kagzi.protocol.v1.SetDefaultVersionResponse;
import dev.kagzi.protocol.v1.TypeVersion;
import dev.kagzi.protocol.v1.WorkerStatus;
import dev.kagzi.protocol.v1.WorkflowTypeInfo;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

@Command(
    name = "type",
    description = "Lists workflow types and sets their default versions.",
    synopsisSubcommandLabel = "COMMAND",
    footer = "")
final class TypeCommand extends CommandGroup {

  private static String version(String version) {
    return version.isEmpty() ? "-" : version;
  }

  static ListPart<WorkflowTypeInfo> page(RemoteServer server, PageRequest page) {
    ListWorkflowTypesRequest request =
        ListWorkflowTypesRequest.newBuilder()
            .setNamespace(server.namespace())
            .setPage(page)
            .build();
    ListWorkflowTypesResponse found = server.call(() -> server.admin().listWorkflowTypes(request));
    return ListPart.of(found.getWorkflowTypesList(), found.getPage());
  }

  @Command(
      name = "list",
      description = "Lists types that have runs, with their unfinished runs by version.")
  static final class All extends ListCommand<WorkflowTypeInfo> {

    All() {
      super("workflowTypes");
    }

    @Override
    Function<PageRequest, ListPart<WorkflowTypeInfo>> pages(RemoteServer server) {
      return page -> TypeCommand.page(server, page);
    }

    @Override
    String text(List<WorkflowTypeInfo> types) {
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
  }

  @Command(
      name = "set-default",
      description = {
        "Sets the version of runs that are started without one.",
        "Started runs keep their version."
      })
  static final class SetDefault extends RemoteCommand {
    private static final int PAGE = 100;

    @Parameters(index = "0", paramLabel = "TYPE", description = "The workflow type.")
    private String type = "";

    @Parameters(
        index = "1",
        paramLabel = "VERSION",
        description = "The version; \"\" for that of workers without a version.")
    private String version = "";

    @Override
    int run(RemoteServer server, Output output) {
      SetDefaultVersionRequest request =
          SetDefaultVersionRequest.newBuilder()
              .setNamespace(server.namespace())
              .setWorkflowType(type)
              .setVersion(version)
              .build();
      SetDefaultVersionResponse set = server.call(() -> server.admin().setDefaultVersion(request));
      output.print(
          set,
          () ->
              "type %s: new runs have version %s (before: %s)"
                  .formatted(type, version(version), version(set.getFormerVersion())));
      if (!isServed(server)) {
        output.printNote(
            "no worker online serves %s: new runs wait for one"
                .formatted(RunText.type(type, version)));
      }
      return ExitCode.DONE;
    }

    private boolean isServed(RemoteServer server) {
      String token = "";
      do {
        ListWorkersRequest request =
            ListWorkersRequest.newBuilder()
                .setNamespace(server.namespace())
                .setStatusFilter(WorkerStatus.WORKER_STATUS_ONLINE)
                .setPage(PageRequest.newBuilder().setPageSize(PAGE).setPageToken(token))
                .build();
        ListWorkersResponse page = server.call(() -> server.admin().listWorkers(request));
        if (page.getWorkersList().stream()
            .flatMap(worker -> worker.getServedList().stream())
            .anyMatch(this::isAsked)) {
          return true;
        }
        token = page.getPage().getNextPageToken();
      } while (!token.isEmpty());
      return false;
    }

    private boolean isAsked(TypeVersion served) {
      return served.getWorkflowType().equals(type)
          && (served.getVersion().equals(version) || served.getVersion().equals("*"));
    }
  }
}
