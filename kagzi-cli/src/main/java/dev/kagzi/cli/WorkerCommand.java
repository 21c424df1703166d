package dev.kagzi.cli;

import dev.kagzi.protocol.v1.DrainWorkerRequest;
import dev.kagzi.protocol.v1.DrainWorkerResponse;
import dev.kagzi.protocol.v1.ListWorkersRequest;
import dev.kagzi.protocol.v1.ListWorkersResponse;
import dev.kagzi.protocol.v1.Worker;
import dev.kagzi.protocol.v1.WorkerStatus;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
    name = "worker",
    description = "Lists and drains workers.",
    synopsisSubcommandLabel = "COMMAND",
    footer = "")
final class WorkerCommand extends CommandGroup {

  /** The protocol's values without the prefix. */
  enum Status {
    ONLINE,
    DRAINING,
    OFFLINE
  }

  @Command(name = "list", description = "Lists workers.")
  static final class All extends RemoteCommand {

    @Option(
        names = "--queue",
        paramLabel = "NAME",
        description = "Only workers of this task queue.")
    private @Nullable String queue;

    @Option(
        names = "--status",
        paramLabel = "STATUS",
        description = "Only these: ${COMPLETION-CANDIDATES}.")
    private @Nullable Status status;

    @Mixin private ListOptions part = new ListOptions();

    @Override
    int run(RemoteServer server, Output output) {
      ListWorkersRequest.Builder filter =
          ListWorkersRequest.newBuilder().setNamespace(server.namespace());
      if (queue != null) {
        filter.setTaskQueue(queue);
      }
      if (status != null) {
        filter.setStatusFilter(WorkerStatus.valueOf("WORKER_STATUS_" + status));
      }
      ListPart<Worker> workers =
          part.read(
              page -> {
                ListWorkersRequest request = filter.setPage(page).build();
                ListWorkersResponse found = server.call(() -> server.admin().listWorkers(request));
                return ListPart.of(found.getWorkersList(), found.getPage());
              });
      output.print("workers", workers, () -> table(workers).text(""));
      return ExitCode.DONE;
    }

    private static Table table(ListPart<Worker> workers) {
      Table table = new Table().row("WORKER", "QUEUE", "STATUS", "RUNS", "HOST", "SEEN", "TYPES");
      for (Worker worker : workers.items()) {
        table.row(
            worker.getWorkerId(),
            worker.getTaskQueue(),
            worker.getStatus().name().replaceFirst("^WORKER_STATUS_", ""),
            Integer.toString(worker.getActiveWorkflowCount()),
            worker.getHostname(),
            RunText.time(worker.getLastHeartbeatAt()),
            served(worker));
      }
      return table;
    }

    private static String served(Worker worker) {
      return worker.getServedCount() == 0
          ? String.join(", ", worker.getWorkflowTypesList())
          : worker.getServedList().stream()
              .map(type -> RunText.type(type.getWorkflowType(), type.getVersion()))
              .collect(Collectors.joining(", "));
    }
  }

  @Command(
      name = "drain",
      description = "Drains a worker: it finishes its runs and gets no new ones.")
  static final class Drain extends RemoteCommand {

    @Parameters(paramLabel = "WORKER", description = "The worker's id.")
    private String worker = "";

    @Override
    int run(RemoteServer server, Output output) {
      DrainWorkerRequest request =
          DrainWorkerRequest.newBuilder()
              .setNamespace(server.namespace())
              .setWorkerId(worker)
              .build();
      DrainWorkerResponse drained = server.call(() -> server.admin().drainWorker(request));
      String line = "worker " + worker + ": " + drained.getMessage();
      output.print(drained, () -> drained.getSuccess() ? line : "");
      if (drained.getSuccess()) {
        return ExitCode.DONE;
      }
      output.printNote(line);
      return ExitCode.FAILED;
    }
  }
}
