package dev.kagzi.server.grpc;

import dev.kagzi.engine.page.Page;
import dev.kagzi.engine.query.Health;
import dev.kagzi.engine.query.QueueDepth;
import dev.kagzi.engine.query.Stats;
import dev.kagzi.engine.query.TypeView;
import dev.kagzi.engine.query.WorkerEvent;
import dev.kagzi.engine.run.Versions;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.protocol.v1.DatabaseHealth;
import dev.kagzi.protocol.v1.GetHealthResponse;
import dev.kagzi.protocol.v1.GetQueueDepthResponse;
import dev.kagzi.protocol.v1.GetStatsResponse;
import dev.kagzi.protocol.v1.HealthStatus;
import dev.kagzi.protocol.v1.ListWorkerEventsResponse;
import dev.kagzi.protocol.v1.ListWorkflowTypesResponse;
import dev.kagzi.protocol.v1.WorkerHealth;
import dev.kagzi.protocol.v1.WorkflowTypeInfo;

final class StatsMapper {
  private StatsMapper() {}

  static GetStatsResponse stats(Stats stats) {
    GetStatsResponse.Builder message =
        GetStatsResponse.newBuilder()
            .setTotalWorkflows(stats.runs())
            .setPendingWorkflows(stats.runs(RunStatus.PENDING))
            .setRunningWorkflows(stats.runs(RunStatus.RUNNING))
            .setCompletedWorkflows(stats.runs(RunStatus.COMPLETED))
            .setFailedWorkflows(stats.runs(RunStatus.FAILED))
            .setTotalWorkers(stats.workers())
            .setOnlineWorkers(stats.workersOnline())
            .setTotalSchedules(stats.schedules())
            .setEnabledSchedules(stats.schedulesEnabled())
            .putAllWorkflowsByType(stats.byType());
    stats.byStatus().forEach((status, runs) -> message.putWorkflowsByStatus(status.name(), runs));
    return message.build();
  }

  static GetQueueDepthResponse depth(QueueDepth depth) {
    return GetQueueDepthResponse.newBuilder()
        .setPendingCount(depth.pending())
        .setRunningCount(depth.running())
        .setSleepingCount(depth.sleeping())
        .putAllDepthByQueue(depth.pendingByQueue())
        .build();
  }

  static ListWorkflowTypesResponse types(Page<TypeView> page, String namespace, Versions versions) {
    ListWorkflowTypesResponse.Builder message =
        ListWorkflowTypesResponse.newBuilder().setPage(ResponseMapper.page(page));
    for (TypeView type : page.items()) {
      message.addWorkflowTypes(
          WorkflowTypeInfo.newBuilder()
              .setWorkflowType(type.type())
              .setTotalRuns(type.runs())
              .setActiveRuns(type.openRuns())
              .addAllTaskQueues(type.taskQueues())
              .putAllActiveRunsByVersion(type.openByVersion())
              .setDefaultVersion(versions.resolve(namespace, type.type(), "")));
    }
    return message.build();
  }

  static ListWorkerEventsResponse workerEvents(Page<WorkerEvent> page) {
    ListWorkerEventsResponse.Builder message =
        ListWorkerEventsResponse.newBuilder().setPage(ResponseMapper.page(page));
    for (WorkerEvent event : page.items()) {
      message.addEvents(
          dev.kagzi.protocol.v1.WorkerEvent.newBuilder()
              .setEventId(event.eventId())
              .setWorkerId(event.workerId().toString())
              .setEvent(event.event())
              .setReason(event.reason())
              .setAt(ResponseMapper.timestamp(event.at())));
    }
    return message.build();
  }

  static GetHealthResponse health(Health health) {
    GetHealthResponse.Builder message =
        GetHealthResponse.newBuilder()
            .setStatus(level(health.overallLevel()))
            .setDatabase(
                DatabaseHealth.newBuilder()
                    .setStatus(level(health.database()))
                    .setMessage(health.message())
                    .setLatencyMs(health.latencyMs()))
            .setHealthyWorkers(health.workers(Health.Level.HEALTHY))
            .setDegradedWorkers(health.workers(Health.Level.DEGRADED))
            .setUnhealthyWorkers(health.workers(Health.Level.UNHEALTHY));
    for (Health.Worker worker : health.workers()) {
      message.addWorkers(
          WorkerHealth.newBuilder()
              .setWorkerId(worker.id().toString())
              .setNamespace(worker.namespace())
              .setTaskQueue(worker.taskQueue())
              .setWorkerStatus(ResponseMapper.status(worker.status()))
              .setStatus(level(worker.level()))
              .setSilentMs(worker.silentMs()));
    }
    return message.build();
  }

  private static HealthStatus level(Health.Level level) {
    return switch (level) {
      case HEALTHY -> HealthStatus.HEALTH_STATUS_HEALTHY;
      case DEGRADED -> HealthStatus.HEALTH_STATUS_DEGRADED;
      case UNHEALTHY -> HealthStatus.HEALTH_STATUS_UNHEALTHY;
    };
  }
}
