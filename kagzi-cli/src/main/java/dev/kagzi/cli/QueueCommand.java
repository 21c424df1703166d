package dev.kagzi.cli;

import dev.kagzi.protocol.v1.GetQueueDepthRequest;
import dev.kagzi.protocol.v1.GetQueueDepthResponse;
import dev.kagzi.protocol.v1.ListQueuesRequest;
import dev.kagzi.protocol.v1.ListQueuesResponse;
import dev.kagzi.protocol.v1.PageRequest;
import dev.kagzi.protocol.v1.Queue;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

@Command(
    name = "queue",
    description = "Lists task queues, and counts their open runs.",
    synopsisSubcommandLabel = "COMMAND",
    footer = "")
final class QueueCommand extends CommandGroup {

  @Command(
      name = "list",
      description = "Lists the task queues that have open runs or workers, by name.",
      footer = {
        "",
        "OLDEST is how long the run that is due for the longest time waits for a worker.",
        "SLOTS is how many runs the workers could take more, of how many, at their last",
        "heartbeats; only of workers that have a limit and report their load.",
        "",
        "Example:",
        "  kagzi queue list --watch"
      })
  static final class All extends ListCommand<Queue> {

    All() {
      super("queues");
    }

    @Override
    Function<PageRequest, ListPart<Queue>> pages(RemoteServer server) {
      ListQueuesRequest.Builder filter =
          ListQueuesRequest.newBuilder().setNamespace(server.namespace());
      return page -> {
        ListQueuesRequest request = filter.setPage(page).build();
        ListQueuesResponse found = server.call(() -> server.admin().listQueues(request));
        return ListPart.of(found.getQueuesList(), found.getPage());
      };
    }

    @Override
    String text(List<Queue> queues) {
      return table(queues).text("");
    }
  }

  @Command(
      name = "depth",
      description = {
        "Counts the open runs of a queue, or of all queues together.",
        "It reads only counts, so it costs the same with any number of runs."
      },
      footer = {
        "",
        "Without QUEUE it also shows how many runs wait for a worker in each queue, the 1,000",
        "longest ones, longest first.",
        "",
        "Example:",
        "  kagzi queue depth orders -o json"
      })
  static final class Depth extends RemoteCommand {

    @Parameters(paramLabel = "QUEUE", arity = "0..1", description = "Only this task queue.")
    private @Nullable String queue;

    @Mixin private WatchOption watch = new WatchOption();

    @Override
    int run(RemoteServer server, Output output) {
      server.requireNamespace();
      return watch.run(output, each -> show(server, each));
    }

    private int show(RemoteServer server, Output output) {
      GetQueueDepthRequest.Builder request =
          GetQueueDepthRequest.newBuilder().setNamespace(server.namespace());
      setIfGiven(queue, request::setTaskQueue);
      GetQueueDepthResponse depth =
          server.call(() -> server.admin().getQueueDepth(request.build()));
      output.print(depth, () -> text(depth));
      return ExitCode.DONE;
    }

    private String text(GetQueueDepthResponse depth) {
      Table table =
          new Table()
              .row("pending", Long.toString(depth.getPendingCount()))
              .row("running", Long.toString(depth.getRunningCount()))
              .row("sleeping", Long.toString(depth.getSleepingCount()));
      return table.text("")
          + (queue == null && depth.getDepthByQueueCount() > 0
              ? "\n" + pending(depth.getDepthByQueueMap()).text("")
              : "");
    }

    private static Table pending(Map<String, Long> byQueue) {
      Table table = new Table().row("QUEUE", "PENDING");
      byQueue.entrySet().stream()
          .sorted(
              Map.Entry.<String, Long>comparingByValue(Comparator.reverseOrder())
                  .thenComparing(Map.Entry.comparingByKey()))
          .forEach(entry -> table.row(entry.getKey(), Long.toString(entry.getValue())));
      return table;
    }
  }

  static Table table(List<Queue> queues) {
    Table table =
        new Table().row("QUEUE", "PENDING", "RUNNING", "SLEEPING", "OLDEST", "WORKERS", "SLOTS");
    for (Queue queue : queues) {
      table.row(
          queue.getTaskQueue(),
          Long.toString(queue.getPendingRuns()),
          Long.toString(queue.getRunningRuns()),
          Long.toString(queue.getSleepingRuns()),
          queue.hasOldestDueMs() ? RunText.time(queue.getOldestDueMs()) : "-",
          Integer.toString(queue.getOnlineWorkers()),
          queue.getTotalSlots() == 0 ? "-" : queue.getFreeSlots() + " of " + queue.getTotalSlots());
    }
    return table;
  }
}
