package dev.kagzi.cli;

import dev.kagzi.protocol.v1.GetOverviewResponse;
import dev.kagzi.protocol.v1.GetStatsResponse;
import dev.kagzi.protocol.v1.TypeDuration;
import dev.kagzi.protocol.v1.Worker;

/** Formats the state of a namespace as one screen. */
final class TopText {
  private static final int QUEUES_MAX = 10;
  private static final int WORKERS_MAX = 10;
  private static final int TYPES_MAX = 8;

  private TopText() {}

  static String frame(String namespace, GetOverviewResponse overview, Rates rates) {
    GetStatsResponse stats = overview.getStats();
    return "kagzi top, namespace %s\n".formatted(PlainLine.of(namespace))
        + "runs: %d pending, %d running, %d sleeping; %d workers online\n"
            .formatted(
                stats.getPendingWorkflows(),
                stats.getRunningWorkflows(),
                stats.getWorkflowsByStatusOrDefault("SLEEPING", 0),
                stats.getOnlineWorkers())
        + "per second: %s started, %s ended, %s failed\n"
            .formatted(rates.starts(), rates.ends(), rates.failures())
        + "\n"
        + QueueCommand.table(overview.getQueuesList().stream().limit(QUEUES_MAX).toList()).text("")
        + more(overview.getQueuesCount(), QUEUES_MAX, "queues")
        + "\n"
        + workers(overview).text("")
        + more(overview.getWorkersCount(), WORKERS_MAX, "workers")
        + "\n"
        + types(overview).text("");
  }

  private static String more(int all, int shown, String what) {
    return all > shown ? "and %d more %s\n".formatted(all - shown, what) : "";
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
