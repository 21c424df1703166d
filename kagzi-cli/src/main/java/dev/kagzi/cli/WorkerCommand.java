package dev.kagzi.cli;

import dev.kagzi.protocol.v1.DrainWorkerRequest;
import dev.kagzi.protocol.v1.DrainWorkerResponse;
import dev.kagzi.protocol.v1.ForceOfflineWorkerRequest;
import dev.kagzi.protocol.v1.ForceOfflineWorkerResponse;
import dev.kagzi.protocol.v1.ListWorkerEventsRequest;
import dev.kagzi.protocol.v1.ListWorkerEventsResponse;
import dev.kagzi.protocol.v1.ListWorkersRequest;
import dev.kagzi.protocol.v1.ListWorkersResponse;
import dev.kagzi.protocol.v1.PageRequest;
import dev.kagzi.protocol.v1.Worker;
import dev.kagzi.protocol.v1.WorkerEvent;
import dev.kagzi.protocol.v1.WorkerStatus;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
    name = "worker",
    description = "Lists and drains workers, shows their events, forces them offline.",
    synopsisSubcommandLabel = "COMMAND",
    footer = "")
final class WorkerCommand extends CommandGroup {

  /** The protocol's values without the prefix. */
  enum Status {
    ONLINE,
    DRAINING,
    OFFLINE
  }

  @Command(
      name = "list",
      description = {
        "Lists the workers that are online. --all also lists those that drain or are offline."
            + " With -o json, all are listed unless --status is given."
      },
      footer = {"", "Example:", "  kagzi worker list --queue orders --watch"})
  static final class All extends ListCommand<Worker> {

    All() {
      super("workers");
    }

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

    @Option(names = "--all", description = "Also workers that drain or are offline.")
    private boolean all;

    @Override
    Function<PageRequest, ListPart<Worker>> pages(RemoteServer server) {
      if (all && status != null) {
        throw usageError("--all", "together with --status", "one of them");
      }
      Status only = isOnlineOnly() && !isJson() ? Status.ONLINE : status;
      return page -> {
        ListWorkersResponse found = request(server, only, page);
        return ListPart.of(found.getWorkersList(), found.getPage());
      };
    }

    private boolean isOnlineOnly() {
      return !all && status == null;
    }

    private ListWorkersResponse request(
        RemoteServer server, @Nullable Status only, PageRequest page) {
      ListWorkersRequest.Builder filter =
          ListWorkersRequest.newBuilder().setNamespace(server.namespace()).setPage(page);
      setIfGiven(queue, filter::setTaskQueue);
      if (only != null) {
        filter.setStatusFilter(WorkerStatus.valueOf("WORKER_STATUS_" + only));
      }
      return server.call(() -> server.admin().listWorkers(filter.build()));
    }

    @Override
    String none() {
      return isOnlineOnly() ? "no workers online" : super.none();
    }

    @Override
    void addNotes(RemoteServer server, Output output) {
      if (!isOnlineOnly()) {
        return;
      }
      String others =
          Stream.of(Status.DRAINING, Status.OFFLINE)
              .map(each -> counted(server, each))
              .filter(each -> !each.isEmpty())
              .collect(Collectors.joining(" and "));
      if (!others.isEmpty()) {
        output.printNote("there are also %s: --all shows them".formatted(others));
      }
    }

    /** Returns "3 offline"; empty if there is none. */
    private String counted(RemoteServer server, Status each) {
      PageRequest counted =
          PageRequest.newBuilder().setPageSize(1).setIncludeTotalCount(true).build();
      long count = request(server, each, counted).getPage().getTotalCount();
      return count == 0 ? "" : count + " " + each.name().toLowerCase(Locale.ROOT);
    }

    @Override
    String text(List<Worker> workers) {
      Table table = new Table().row("WORKER", "QUEUE", "STATUS", "RUNS", "HOST", "SEEN", "TYPES");
      for (Worker worker : workers) {
        table.row(
            worker.getWorkerId(),
            worker.getTaskQueue(),
            worker.getStatus().name().replaceFirst("^WORKER_STATUS_", ""),
            Integer.toString(worker.getActiveWorkflowCount()),
            worker.getHostname(),
            RunText.time(worker.getLastHeartbeatAt()),
            served(worker));
      }
      return table.text("");
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

  @Command(
      name = "events",
      description = "Shows when a worker came online, was drained and left, latest first.",
      footer = {"", "Example:", "  kagzi worker events 01890a5d-ac96-774b-bcce-b302099a8057"})
  static final class Events extends ListCommand<WorkerEvent> {

    Events() {
      super("events");
    }

    @Parameters(paramLabel = "WORKER", description = "The worker's id.")
    private String worker = "";

    @Override
    Function<PageRequest, ListPart<WorkerEvent>> pages(RemoteServer server) {
      ListWorkerEventsRequest.Builder filter =
          ListWorkerEventsRequest.newBuilder().setNamespace(server.namespace()).setWorkerId(worker);
      return page -> {
        ListWorkerEventsRequest request = filter.setPage(page).build();
        ListWorkerEventsResponse found =
            server.call(() -> server.admin().listWorkerEvents(request));
        return ListPart.of(found.getEventsList(), found.getPage());
      };
    }

    @Override
    String text(List<WorkerEvent> events) {
      Table table = new Table().row("TIME", "EVENT", "REASON");
      for (WorkerEvent event : events) {
        table.row(RunText.time(event.getAt()), event.getEvent(), event.getReason());
      }
      return table.text("");
    }
  }

  @Command(
      name = "force-offline",
      description = {
        "Sets a worker offline that is dead or does not react, and gives its runs to others.",
        "What it reports later is discarded. To stop a worker that reacts, use drain."
      },
      footer = {
        "",
        "Example:",
        "  kagzi worker force-offline 01890a5d-ac96-774b-bcce-b302099a8057 --reason \"host is gone\""
      })
  static final class ForceOffline extends RemoteCommand {

    @Parameters(paramLabel = "WORKER", description = "The worker's id.")
    private String worker = "";

    @Option(
        names = "--reason",
        paramLabel = "TEXT",
        defaultValue = "forced from the command line",
        description = "Recorded in the worker's events (default: ${DEFAULT-VALUE}).")
    private String reason = "";

    @Mixin private Confirmation confirmation = new Confirmation();

    @Override
    int run(RemoteServer server, Output output) {
      String question = "Set worker %s offline and give its runs to others?".formatted(worker);
      if (!confirmation.isGiven(output, question)) {
        output.printNote("nothing was changed");
        return ExitCode.FAILED;
      }
      ForceOfflineWorkerRequest request =
          ForceOfflineWorkerRequest.newBuilder()
              .setNamespace(server.namespace())
              .setWorkerId(worker)
              .setReason(reason)
              .build();
      ForceOfflineWorkerResponse freed =
          server.call(() -> server.admin().forceOfflineWorker(request));
      output.print(
          freed,
          () ->
              "worker %s is offline; it held %s"
                  .formatted(worker, Plural.of(freed.getFreedRuns(), "run")));
      return ExitCode.DONE;
    }
  }
}
