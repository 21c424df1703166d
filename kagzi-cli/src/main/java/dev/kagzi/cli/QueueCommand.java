package dev.kagzi.cli;

import dev.kagzi.protocol.v1.ListQueuesRequest;
import dev.kagzi.protocol.v1.ListQueuesResponse;
import dev.kagzi.protocol.v1.Queue;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

@Command(
    name = "queue",
    description = "Lists task queues.",
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
  static final class All extends RemoteCommand {

    @Mixin private ListOptions part = new ListOptions();

    @Mixin private WatchOption watch = new WatchOption();

    @Override
    int run(RemoteServer server, Output output) {
      return watch.run(output, each -> show(server, each));
    }

    private int show(RemoteServer server, Output output) {
      ListPart<Queue> queues =
          part.read(
              page -> {
                ListQueuesRequest request =
                    ListQueuesRequest.newBuilder()
                        .setNamespace(server.namespace())
                        .setPage(page)
                        .build();
                ListQueuesResponse found = server.call(() -> server.admin().listQueues(request));
                return ListPart.of(found.getQueuesList(), found.getPage());
              });
      if (queues.items().isEmpty()) {
        // A mistyped namespace would look like one without queues.
        server.requireNamespace();
      }
      output.print("queues", queues, () -> table(queues.items()).text(""));
      return ExitCode.DONE;
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
