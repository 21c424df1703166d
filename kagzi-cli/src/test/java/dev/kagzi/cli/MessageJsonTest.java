package dev.kagzi.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor.JavaType;
import com.google.protobuf.Descriptors.FileDescriptor;
import dev.kagzi.protocol.v1.GetHealthResponse;
import dev.kagzi.protocol.v1.GetWorkflowRequest;
import dev.kagzi.protocol.v1.GetWorkflowScheduleRequest;
import dev.kagzi.protocol.v1.PollTasksRequest;
import dev.kagzi.protocol.v1.RegisterRequest;
import dev.kagzi.protocol.v1.TypeVersion;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

class MessageJsonTest {

  @Test
  void a_zero_that_means_no_limit_is_not_shown() {
    assertThat(
            MessageJson.of(TypeVersion.newBuilder().setWorkflowType("a").build()).has("maxTasks"))
        .isFalse();
    assertThat(MessageJson.of(GetHealthResponse.getDefaultInstance()).get("healthyWorkers").asInt())
        .isZero();
  }

  @Test
  void whether_a_zero_is_shown_was_decided_for_every_number() {
    Set<String> shown = new TreeSet<>();
    for (FileDescriptor file :
        List.of(
            GetWorkflowRequest.getDescriptor().getFile(),
            GetWorkflowScheduleRequest.getDescriptor().getFile(),
            RegisterRequest.getDescriptor().getFile(),
            PollTasksRequest.getDescriptor().getFile(),
            GetHealthResponse.getDescriptor().getFile())) {
      file.getMessageTypes().forEach(type -> addShown(type, shown));
    }

    assertThat(shown)
        .containsExactly(
            "active_runs",
            "active_workflow_count",
            "attempt",
            "attempt_number",
            "attempts",
            "average_ms",
            "buffered_signals",
            "completed_workflows",
            "conflicts",
            "crashes",
            "degraded_workers",
            "delay_ms",
            "enabled_schedules",
            "ended_runs",
            "epoch",
            "event_id",
            "existed",
            "failed_runs",
            "failed_workflows",
            "free_slots",
            "freed_runs",
            "healthy_workers",
            "heartbeat_interval_secs",
            "latency_ms",
            "max_catchup",
            "missed_runs",
            "number",
            "online_workers",
            "order",
            "p95_ms",
            "pending_count",
            "pending_runs",
            "pending_workflows",
            "ran_us",
            "remaining_ms",
            "run_attempt",
            "running_count",
            "running_runs",
            "running_us",
            "running_workflows",
            "sequence",
            "silent_ms",
            "sleeping_count",
            "sleeping_runs",
            "started",
            "successful_runs",
            "total_completed",
            "total_failed",
            "total_runs",
            "total_schedules",
            "total_slots",
            "total_workers",
            "total_workflows",
            "unhealthy_workers",
            "version");
  }

  private static void addShown(Descriptor type, Set<String> shown) {
    type.getNestedTypes().forEach(nested -> addShown(nested, shown));
    if (type.getName().endsWith("Request") || type.getOptions().getMapEntry()) {
      return;
    }
    for (FieldDescriptor field : type.getFields()) {
      boolean isNumber =
          Set.of(JavaType.INT, JavaType.LONG, JavaType.DOUBLE, JavaType.FLOAT)
              .contains(field.getJavaType());
      if (isNumber && !field.isRepeated() && MessageJson.isShownWhenEmpty(field)) {
        shown.add(field.getName());
      }
    }
  }
}
