package dev.kagzi.sdk.internal.wire;

import dev.kagzi.protocol.v1.GetQueueDepthResponse;
import dev.kagzi.protocol.v1.GetStatsResponse;
import dev.kagzi.protocol.v1.Queue;
import dev.kagzi.protocol.v1.Worker;
import dev.kagzi.sdk.NamespaceStats;
import dev.kagzi.sdk.QueueDepth;
import dev.kagzi.sdk.QueueInfo;
import dev.kagzi.sdk.RunStatus;
import dev.kagzi.sdk.WorkerEvent;
import dev.kagzi.sdk.WorkerInfo;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;

/** Translates the responses of the calls that operators make. */
public final class AdminMapper {
  private AdminMapper() {}

  public static NamespaceStats stats(GetStatsResponse stats) {
    Map<RunStatus, Long> byStatus = new EnumMap<>(RunStatus.class);
    for (RunStatus status : RunStatus.values()) {
      byStatus.put(status, stats.getWorkflowsByStatusOrDefault(status.name(), 0));
    }
    return new NamespaceStats(
        stats.getTotalWorkflows(),
        byStatus,
        stats.getWorkflowsByTypeMap(),
        stats.getTotalWorkers(),
        stats.getOnlineWorkers(),
        stats.getTotalSchedules(),
        stats.getEnabledSchedules());
  }

  public static QueueDepth depth(GetQueueDepthResponse depth) {
    return new QueueDepth(
        depth.getPendingCount(),
        depth.getRunningCount(),
        depth.getSleepingCount(),
        depth.getDepthByQueueMap());
  }

  public static QueueInfo queue(Queue queue) {
    return new QueueInfo(
        queue.getTaskQueue(),
        queue.getPendingRuns(),
        queue.getRunningRuns(),
        queue.getSleepingRuns(),
        queue.hasOldestDueMs()
            ? Optional.of(Duration.ofMillis(queue.getOldestDueMs()))
            : Optional.empty(),
        queue.getOnlineWorkers(),
        queue.getTotalSlots(),
        queue.getFreeSlots());
  }

  public static WorkerInfo worker(Worker worker) {
    return new WorkerInfo(
        worker.getWorkerId(),
        worker.getTaskQueue(),
        workerStatus(worker.getStatus().name().replaceFirst("^WORKER_STATUS_", "")),
        worker.getVersion(),
        worker.getWorkflowTypesList(),
        worker.getHostname(),
        worker.getPid(),
        worker.getActiveWorkflowCount(),
        worker.hasQueueConcurrencyLimit()
            ? Optional.of(worker.getQueueConcurrencyLimit())
            : Optional.empty(),
        worker.getTotalCompleted(),
        worker.getTotalFailed(),
        worker.getLabelsMap(),
        ProtoMapper.instant(worker.getRegisteredAt()),
        ProtoMapper.instant(worker.getLastHeartbeatAt()));
  }

  public static WorkerEvent workerEvent(dev.kagzi.protocol.v1.WorkerEvent event) {
    return new WorkerEvent(
        workerStatus(event.getEvent()), event.getReason(), ProtoMapper.instant(event.getAt()));
  }

  // One worker with a new status must not make the list of all workers unreadable.
  private static WorkerInfo.Status workerStatus(String name) {
    return Arrays.stream(WorkerInfo.Status.values())
        .filter(status -> status.name().equals(name))
        .findFirst()
        .orElse(WorkerInfo.Status.UNKNOWN);
  }
}
