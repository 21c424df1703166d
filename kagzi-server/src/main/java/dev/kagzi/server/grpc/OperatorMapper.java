package dev.kagzi.server.grpc;

import dev.kagzi.engine.diagnosis.Finding;
import dev.kagzi.engine.page.Page;
import dev.kagzi.engine.query.Overview;
import dev.kagzi.engine.query.QueueView;
import dev.kagzi.engine.query.TypeDuration;
import dev.kagzi.protocol.v1.DiagnoseResponse;
import dev.kagzi.protocol.v1.FindingStatus;
import dev.kagzi.protocol.v1.FoundRun;
import dev.kagzi.protocol.v1.GetOverviewResponse;
import dev.kagzi.protocol.v1.ListQueuesResponse;
import dev.kagzi.protocol.v1.Queue;
import java.util.List;

/** Responses of the calls that operators make. */
final class OperatorMapper {
  private OperatorMapper() {}

  static ListQueuesResponse queues(Page<QueueView> page) {
    return ListQueuesResponse.newBuilder()
        .setPage(ResponseMapper.page(page))
        .addAllQueues(ResponseMapper.items(page, OperatorMapper::queue))
        .build();
  }

  private static Queue queue(QueueView queue) {
    Queue.Builder message =
        Queue.newBuilder()
            .setTaskQueue(queue.queue())
            .setPendingRuns(queue.pending())
            .setRunningRuns(queue.running())
            .setSleepingRuns(queue.sleeping())
            .setOnlineWorkers(queue.workersOnline())
            .setTotalSlots(queue.slots())
            .setFreeSlots(queue.slotsFree());
    Long oldestDueMs = queue.oldestDueMs();
    if (oldestDueMs != null) {
      message.setOldestDueMs(oldestDueMs);
    }
    return message.build();
  }

  static GetOverviewResponse overview(Overview overview) {
    GetOverviewResponse.Builder message =
        GetOverviewResponse.newBuilder().setStats(StatsMapper.stats(overview.stats()));
    overview.queues().forEach(queue -> message.addQueues(queue(queue)));
    overview.workers().forEach(worker -> message.addWorkers(ResponseMapper.worker(worker)));
    overview.durations().forEach(duration -> message.addDurations(duration(duration)));
    return message.build();
  }

  private static dev.kagzi.protocol.v1.TypeDuration duration(TypeDuration duration) {
    return dev.kagzi.protocol.v1.TypeDuration.newBuilder()
        .setWorkflowType(duration.type())
        .setEndedRuns(duration.endedRuns())
        .setAverageMs(duration.averageMs())
        .setP95Ms(duration.p95Ms())
        .build();
  }

  static DiagnoseResponse findings(List<Finding> findings) {
    DiagnoseResponse.Builder message = DiagnoseResponse.newBuilder();
    findings.forEach(finding -> message.addFindings(finding(finding)));
    return message.build();
  }

  private static dev.kagzi.protocol.v1.Finding finding(Finding finding) {
    dev.kagzi.protocol.v1.Finding.Builder message =
        dev.kagzi.protocol.v1.Finding.newBuilder()
            .setCheck(finding.check().name())
            .setStatus(status(finding.status()))
            .setMessage(finding.message())
            .setAdvice(finding.advice());
    for (Finding.FoundRun run : finding.runs()) {
      message.addRuns(
          FoundRun.newBuilder()
              .setNamespace(run.namespace())
              .setRunId(run.runId().toString())
              .setWhy(run.why()));
    }
    return message.build();
  }

  private static FindingStatus status(Finding.Status status) {
    return switch (status) {
      case OK -> FindingStatus.FINDING_STATUS_OK;
      case WARNING -> FindingStatus.FINDING_STATUS_WARNING;
      case FAILURE -> FindingStatus.FINDING_STATUS_FAILURE;
    };
  }
}
