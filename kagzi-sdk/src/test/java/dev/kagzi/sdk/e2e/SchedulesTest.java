package dev.kagzi.sdk.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.kagzi.protocol.v1.GetWorkflowScheduleRequest;
import dev.kagzi.protocol.v1.WorkflowSchedule;
import dev.kagzi.sdk.Overlap;
import dev.kagzi.sdk.RequestRefusedException;
import dev.kagzi.sdk.Retry;
import dev.kagzi.sdk.RunInfo;
import dev.kagzi.sdk.RunStatus;
import dev.kagzi.sdk.Schedule;
import dev.kagzi.sdk.ScheduleBuilder;
import dev.kagzi.sdk.ScheduleChange;
import dev.kagzi.sdk.ScheduleInfo;
import dev.kagzi.sdk.WorkflowFailedEvent;
import dev.kagzi.sdk.WorkflowType;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** Schedules through the client, on a real server. */
class SchedulesTest extends RealServerTest {

  @Test
  void a_schedule_of_every_second_starts_a_run_for_each_and_they_end() {
    Schedule schedule = kagzi.schedule(queue);
    try (var worker = kagzi.worker().workflow(type, (ctx, name) -> "hello " + name).start()) {
      schedule.workflow(type).cron("* * * * * *").input("Ada").create();

      Awaitility.await()
          .atMost(SOON)
          .until(() -> schedule.runs().status(RunStatus.COMPLETED).stream().count() >= 3);
      schedule.pause();

      List<RunInfo> runs = schedule.runs().stream().toList();
      assertThat(kagzi.run(runs.getLast().runId(), type).result(SOON)).isEqualTo("hello Ada");
      assertThat(runs.stream().map(RunInfo::workflowId)).doesNotHaveDuplicates();
      assertThat(worker).isNotNull();
    }
    assertThat(schedule.get().totalRuns()).isGreaterThanOrEqualTo(3);
    assertThat(schedule.get().successfulRuns()).isGreaterThanOrEqualTo(3);
  }

  @Test
  void all_options_of_a_schedule_are_stored() {
    WorkflowType<WorkflowFailedEvent, Void> handler =
        WorkflowType.of("cleanup", WorkflowFailedEvent.class, Void.class);
    ScheduleInfo made =
        kagzi
            .schedule(queue)
            .workflow(type)
            .cron("0 9 * * MON-FRI")
            .zone(ZoneId.of("Europe/Berlin"))
            .queue("elsewhere")
            .overlap(Overlap.BUFFER_ONE)
            .maxCatchup(3)
            .jitter(Duration.ofSeconds(30))
            .retry(Retry.exponential(2))
            .executionTimeout(Duration.ofHours(1))
            .stepTimeout(Duration.ofMinutes(1))
            .onFailure(handler)
            .paused()
            .create();

    assertThat(made.name()).isEqualTo(queue);
    assertThat(made.type()).isEqualTo("greet");
    assertThat(made.queue()).isEqualTo("elsewhere");
    assertThat(made.cron()).isEqualTo("0 9 * * MON-FRI");
    assertThat(made.zone()).isEqualTo(ZoneId.of("Europe/Berlin"));
    assertThat(made.enabled()).isFalse();
    assertThat(made.overlap()).isEqualTo(Overlap.BUFFER_ONE);
    assertThat(made.maxCatchup()).isEqualTo(3);
    assertThat(made.jitter()).isEqualTo(Duration.ofSeconds(30));
    assertThat(made.nextFireAt()).isPresent();
    assertThat(made.lastFiredAt()).isEmpty();
    assertThat(kagzi.schedules().queue("elsewhere").enabled(false).type(type).stream())
        .containsExactly(made);

    ScheduleInfo changed =
        kagzi
            .schedule(queue)
            .change()
            .cron("@hourly")
            .zone("UTC")
            .overlap(Overlap.SKIP)
            .maxCatchup(0)
            .save();
    assertThat(changed.cron()).isEqualTo("@hourly");
    assertThat(changed.maxCatchup()).isZero();
    assertThat(changed.queue()).isEqualTo("elsewhere");
    assertThat(changed.enabled()).isFalse();
    assertThat(kagzi.schedule(queue).resume().enabled()).isTrue();
  }

  @Test
  void a_handler_with_a_version_is_refused() {
    WorkflowType<WorkflowFailedEvent, Void> handler =
        WorkflowType.of("cleanup", WorkflowFailedEvent.class, Void.class).version("2");
    ScheduleBuilder<String> created = kagzi.schedule(queue).workflow(type).cron("@yearly");
    created.input("Ada").create();
    ScheduleChange change = kagzi.schedule(queue).change();

    assertThatExceptionOfType(IllegalArgumentException.class)
        .isThrownBy(() -> created.onFailure(handler))
        .withMessageContaining("(expected: a type without a version)");
    assertThatExceptionOfType(IllegalArgumentException.class)
        .isThrownBy(() -> change.onFailure(handler))
        .withMessageContaining("(expected: a type without a version)");
  }

  @Test
  void handler_retry_policy_and_timeouts_are_changed_and_cleared() {
    WorkflowType<WorkflowFailedEvent, Void> handler =
        WorkflowType.of("cleanup", WorkflowFailedEvent.class, Void.class);
    Schedule schedule = kagzi.schedule(queue);
    schedule.workflow(type).cron("@yearly").input("Ada").create();

    schedule
        .change()
        .onFailure(handler)
        .retry(Retry.exponential(2))
        .executionTimeout(Duration.ofHours(1))
        .stepTimeout(Duration.ofMinutes(1))
        .save();
    WorkflowSchedule set = storedSchedule();
    schedule
        .change()
        .clearOnFailure()
        .clearRetry()
        .clearExecutionTimeout()
        .clearStepTimeout()
        .save();

    assertThat(set.getOnFailureWorkflow()).isEqualTo("cleanup");
    assertThat(set.getRetryPolicy().getMaximumAttempts()).isEqualTo(2);
    assertThat(set.getExecutionTimeoutMs()).isEqualTo(3_600_000);
    assertThat(set.getStepTimeoutMs()).isEqualTo(60_000);
    WorkflowSchedule cleared = storedSchedule();
    assertThat(cleared.getOnFailureWorkflow()).isEmpty();
    assertThat(cleared.hasRetryPolicy()).isFalse();
    assertThat(cleared.getExecutionTimeoutMs()).isZero();
    assertThat(cleared.getStepTimeoutMs()).isZero();
  }

  private WorkflowSchedule storedSchedule() {
    return server
        .schedules()
        .getWorkflowSchedule(
            GetWorkflowScheduleRequest.newBuilder().setNamespace("default").setName(queue).build())
        .getSchedule();
  }

  @Test
  void an_application_creates_or_updates_its_schedules_at_every_start() {
    Schedule schedule = kagzi.schedule(queue);
    ScheduleInfo first = schedule.workflow(type).cron("@daily").input("Ada").createOrUpdate();
    ScheduleInfo again = schedule.workflow(type).cron("@daily").input("Bob").createOrUpdate();

    assertThat(again.id()).isEqualTo(first.id());
    assertThat(again.nextFireAt()).isEqualTo(first.nextFireAt());
    assertThatExceptionOfType(RequestRefusedException.class)
        .isThrownBy(() -> schedule.workflow(type).cron("@daily").create())
        .satisfies(refused -> assertThat(refused.code()).isEqualTo("ALREADY_EXISTS"));
    schedule.delete();
    assertThatExceptionOfType(RequestRefusedException.class)
        .isThrownBy(schedule::get)
        .satisfies(refused -> assertThat(refused.code()).isEqualTo("NOT_FOUND"));
  }

  @Test
  void runs_are_triggered_and_back_filled() {
    Schedule schedule = kagzi.schedule(queue);
    schedule.workflow(type).cron("* * * * *").input("Ada").paused().create();
    Instant minute = Instant.now().truncatedTo(ChronoUnit.MINUTES);

    String triggered = schedule.trigger();
    int filled = schedule.backfill(minute.minusSeconds(300), minute);

    assertThat(filled).isEqualTo(5);
    assertThat(schedule.runs().stream().map(RunInfo::runId)).hasSize(6).contains(triggered);
  }

  @Test
  void the_next_times_are_known_before_anything_is_saved() {
    List<Instant> next = kagzi.schedule(queue).workflow(type).cron("0 0 1 1 *").next(3);

    assertThat(next).hasSize(3);
    assertThat(kagzi.schedules().next("0 0 1 1 *", "UTC", 3)).isEqualTo(next);
    assertThatExceptionOfType(RequestRefusedException.class)
        .isThrownBy(() -> kagzi.schedules().next("0 0 30 2 *", "UTC", 3))
        .withMessageContaining("never fires again");
  }
}
