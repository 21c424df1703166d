package dev.kagzi.cli;

import dev.kagzi.protocol.v1.GetStatsRequest;
import dev.kagzi.protocol.v1.GetStatsResponse;
import java.util.Comparator;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
    name = "stats",
    description = "Shows how many runs, workers and schedules a namespace has.",
    footer = {
      "",
      "Runs are counted until they are purged, after their retention.",
      "",
      "Example:",
      "  kagzi stats --all-namespaces"
    })
final class StatsCommand extends RemoteCommand {
  private static final int TYPES_MAX = 20;

  @Option(names = "--all-namespaces", description = "Counts those of all namespaces together.")
  private boolean allNamespaces;

  @Mixin private WatchOption watch = new WatchOption();

  @Override
  int run(RemoteServer server, Output output) {
    if (!allNamespaces) {
      server.requireNamespace();
    }
    return watch.run(output, each -> show(server, each));
  }

  private int show(RemoteServer server, Output output) {
    GetStatsRequest.Builder request = GetStatsRequest.newBuilder();
    if (!allNamespaces) {
      request.setNamespace(server.namespace());
    }
    GetStatsResponse stats = server.call(() -> server.admin().getStats(request.build()));
    output.print(stats, () -> text(stats));
    return ExitCode.DONE;
  }

  private static String text(GetStatsResponse stats) {
    Table table = new Table().row("runs", Long.toString(stats.getTotalWorkflows()));
    sorted(stats.getWorkflowsByStatusMap(), Integer.MAX_VALUE, table);
    table.row(
        "workers", "%d, %d online".formatted(stats.getTotalWorkers(), stats.getOnlineWorkers()));
    table.row(
        "schedules",
        "%d, %d enabled".formatted(stats.getTotalSchedules(), stats.getEnabledSchedules()));
    if (stats.getWorkflowsByTypeCount() > 0) {
      table.row("runs by type", "");
      sorted(stats.getWorkflowsByTypeMap(), TYPES_MAX, table);
    }
    int others = stats.getWorkflowsByTypeCount() - TYPES_MAX;
    return table.text("")
        + (others > 0
            ? "  and %s; -o json shows all\n".formatted(Plural.of(others, "more type"))
            : "");
  }

  /** Adds the largest numbers, largest first. */
  private static void sorted(Map<String, Long> numbers, int max, Table table) {
    numbers.entrySet().stream()
        .sorted(
            Map.Entry.<String, Long>comparingByValue(Comparator.reverseOrder())
                .thenComparing(Map.Entry.comparingByKey()))
        .limit(max)
        .forEach(entry -> table.row("  " + entry.getKey(), Long.toString(entry.getValue())));
  }
}
