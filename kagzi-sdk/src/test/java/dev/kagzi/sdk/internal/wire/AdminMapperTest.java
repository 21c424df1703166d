package dev.kagzi.sdk.internal.wire;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.protocol.v1.Worker;
import dev.kagzi.protocol.v1.WorkerEvent;
import dev.kagzi.protocol.v1.WorkerStatus;
import dev.kagzi.sdk.RunStatus;
import dev.kagzi.sdk.WorkerInfo;
import org.junit.jupiter.api.Test;

class AdminMapperTest {
  private static WorkerInfo.Status read(int number) {
    return AdminMapper.worker(Worker.newBuilder().setStatusValue(number).build()).status();
  }

  private static WorkerInfo.Status read(String event) {
    return AdminMapper.workerEvent(WorkerEvent.newBuilder().setEvent(event).build()).status();
  }

  @Test
  void every_status_of_a_worker_is_read_and_that_of_a_newer_server_is_unknown() {
    assertThat(read(WorkerStatus.WORKER_STATUS_DRAINING_VALUE))
        .isEqualTo(WorkerInfo.Status.DRAINING);
    assertThat(read(0)).isEqualTo(WorkerInfo.Status.UNKNOWN);
    assertThat(read(99)).isEqualTo(WorkerInfo.Status.UNKNOWN);
  }

  @Test
  void every_event_of_a_worker_is_read_and_that_of_a_newer_server_is_unknown() {
    assertThat(read("OFFLINE")).isEqualTo(WorkerInfo.Status.OFFLINE);
    assertThat(read("QUARANTINED")).isEqualTo(WorkerInfo.Status.UNKNOWN);
  }

  @Test
  void a_child_that_ended_with_a_status_of_a_newer_server_has_failed() {
    assertThat(ProtoMapper.failedStatus("TIMED_OUT")).isEqualTo(RunStatus.TIMED_OUT);
    assertThat(ProtoMapper.failedStatus("EVICTED")).isEqualTo(RunStatus.FAILED);
    assertThat(ProtoMapper.failedStatus("")).isEqualTo(RunStatus.FAILED);
  }
}
