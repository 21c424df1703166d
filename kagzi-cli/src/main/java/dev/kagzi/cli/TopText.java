package dev.kagzi.cli;

import dev.kagzi.protocol.v1.GetOverviewResponse;
import dev.kagzi.protocol.v1.GetStatsResponse;
import dev.kagzi.protocol.v1.TypeDuration;
import dev.kagzi.protocol.v1.Worker;
import org.jspecify.annotations.Nullable;

/** Formats the state of a namespace as one screen. */
final class TopText {
  private static final int QUEUES_MAX = 10;

  /** How many queues a server returns at most. */
  private static final int QUEUES_RECEIVED_MAX = 50;

  private static final int WORKERS_MAX = 10;
  private static final int TYPES_MAX = 8;

  private TopText() {}

  /**
   * @param rates null if they are not measured yet
   */
  static String frame(String namespace, GetOverviewResponse overview, @Nullable Rates rates) {
    GetStatsResponse stats = overview.getStats();
    return "kagzi top, namespace %s\n".formatted(PlainLine.of(namespace))
        + "runs: %d pending, %d running, %d sleeping; %s online\n"
            .formatted(
                stats.getPendingWorkflows(),
                stats.getRunningWorkflows(),
                stats.getWorkflowsByStatusOrDefault("SLEEPING", 0),
                Plural.of(stats.getOnlineWorkers(), "worker"))
        + "per second: %s started, %s ended, %s failed\n"
            .formatted(
                rates == null ? "-" : rates.starts(),
                rates == null ? "-" : rates.ends(),
                rates == null ? "-" : rates.failures())
        + "\n"
        + QueueCommand.table(overview.getQueuesList().stream().limit(QUEUES_MAX).toList()).text("")
        + moreQueues(overview.getQueuesCount())
        + "\n"
        + workers(overview).text("")
        + more("", stats.getOnlineWorkers() - WORKERS_MAX, "worker")
        + "\n"
        + types(overview).text("");
  }

  /** The server counts all workers, but returns a limited number of queues. */
  private static String moreQueues(int received) {
    return more(received < QUEUES_RECEIVED_MAX ? "" : "at least ", received - QUEUES_MAX, "queue");
  }

  private static String more(String atLeast, long number, String one) {
    return number > 0 ? "and %s%s\n".formatted(atLeast, Plural.of(number, "more " + one)) : "";
  }

  private static Table workers(GetOverviewResponse overview) {
    Table table = new Table().row("WORKER", "QUEUE", "LOAD", "COMPLETED", "FAILED", "HOST");
    for (Worker worker : overview.getWorkersList().stream().limit(WORKERS_MAX).toList()) {
      table.row(
          worker.getWorkerId(),
          worker.getTaskQueue(),
          worker.hasQueueConcurrencyLimit()
              ? worker.getActiveWorkflowCount() + " of " + worker.getQueueConcurrencyLimit()
              : Integer.toString(worker.getActiveWorkflowCount()),
          Long.toString(worker.getTotalCompleted()),
          Long.toString(worker.getTotalFailed()),
          worker.getHostname());
    }
    return table;
  }

  private static Table types(GetOverviewResponse overview) {
    Table table = new Table().row("SLOWEST TYPES", "ENDED", "AVERAGE", "P95");
    for (TypeDuration type : overview.getDurationsList().stream().limit(TYPES_MAX).toList()) {
      table.row(
          type.getWorkflowType(),
          Long.toString(type.getEndedRuns()),
          RunText.time(type.getAverageMs()),
          RunText.time(type.getP95Ms()));
    }
    return table;
  }
}
