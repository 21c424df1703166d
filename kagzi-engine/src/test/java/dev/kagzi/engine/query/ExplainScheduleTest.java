package dev.kagzi.engine.query;

import static dev.kagzi.engine.TestEngine.NAMESPACE;
import static dev.kagzi.engine.TestEngine.TYPE;
import static dev.kagzi.engine.TestEngine.payload;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.engine.TestSchedules;
import dev.kagzi.engine.config.ScheduleConfig;
import dev.kagzi.engine.internal.schedule.ScheduleFirer;
import dev.kagzi.engine.page.PageSpec;
import dev.kagzi.engine.query.WaitCause.Code;
import dev.kagzi.engine.query.WaitCause.RefKind;
import dev.kagzi.engine.schedule.Overlap;
import dev.kagzi.engine.schedule.ScheduleSpec;
import dev.kagzi.engine.schedule.ScheduleView;
import dev.kagzi.engine.schedule.SilentEvents;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Why a schedule starts no run now. */
class ExplainScheduleTest extends ExplainFixture {

  private RunId create() {
    ScheduleSpec spec =
        new ScheduleSpec(
            queue,
            queue,
            TYPE,
            "",
            "0 0 * * *",
            "UTC",
            payload("1"),
            Overlap.BUFFER_ONE,
            100,
            0,
            null,
            null,
            null,
            "",
            "");
    return engine.engine().schedules().create(TestSchedules.creation(NAMESPACE, spec)).id();
  }

  private void set(RunId schedule, String columns) {
    database.execute(
        "UPDATE kagzi.workflow_runs SET " + columns + " WHERE run_id = '" + schedule + "'");
  }

  @Test
  void a_schedule_names_its_next_slot() {
    RunId schedule = create();

    WaitCause cause = first(schedule, Code.SCHEDULE_NEXT);

    assertThat(cause.text()).matches("Schedule " + queue + " fires next at \\S+ \\(in .*\\)\\.");
    assertThat(cause.refs()).containsExactly(ref(RefKind.SCHEDULE, schedule));
    assertThat(explain(schedule).status()).isEqualTo(RunStatus.SCHEDULED);
  }

  @Test
  void a_slot_that_has_passed_is_due_and_not_the_next_one() {
    RunId schedule = create();
    set(schedule, "fire_at = kagzi.clock() - interval '1 hour'");

    assertThat(first(schedule, Code.SCHEDULE_NEXT).text())
        .startsWith("Schedule " + queue + " is due: its slot is 20")
        .containsPattern("\\(1 h( \\d+ \\w+)? ago\\)")
        .endsWith("check that a server runs, and its log.");
  }

  @Test
  void a_paused_schedule_is_named() {
    RunId schedule = create();
    engine.engine().schedules().setEnabled(NAMESPACE, schedule, false, null);

    assertThat(first(schedule, Code.SCHEDULE_PAUSED).text())
        .isEqualTo(
            "Schedule %s is paused. `kagzi schedule resume %<s` lets it fire again."
                .formatted(queue));
    assertThat(codes(schedule)).containsExactly(Code.SCHEDULE_PAUSED);
  }

  @Test
  void a_slot_is_buffered_behind_an_open_run() {
    ScheduleView schedule = engine.engine().schedules().get(NAMESPACE, create());
    try (ScheduleFirer firer =
        new ScheduleFirer(
            database.open(),
            ScheduleConfig.defaults(),
            Duration.ofSeconds(1),
            new SilentEvents())) {
      clock.ahead(Duration.ofDays(1));
      firer.fireDue(() -> {});
      clock.ahead(Duration.ofDays(2));
      firer.fireDue(() -> {});
    }
    RunId open =
        engine
            .engine()
            .queries()
            .runs(RunFilter.ofSchedule(NAMESPACE, schedule.id().value()), PageSpec.FIRST)
            .items()
            .getFirst()
            .runId();

    WaitCause cause = first(schedule.id(), Code.SCHEDULE_BUFFERED);

    assertThat(cause.text())
        .contains("of schedule " + queue + " waits for the end of run " + open + " (PENDING, since")
        .contains("because the overlap policy is BUFFER_ONE");
    assertThat(cause.refs())
        .containsExactly(ref(RefKind.SCHEDULE, schedule.id()), ref(RefKind.RUN, open));
    assertThat(codes(schedule.id())).containsExactly(Code.SCHEDULE_BUFFERED, Code.SCHEDULE_NEXT);
  }

  @Test
  void a_schedule_that_cannot_fire_names_the_problem() {
    RunId schedule = create();
    set(schedule, "error = '{\"message\": \"time_zone: Mars (expected: a zone)\"}'");

    assertThat(first(schedule, Code.SCHEDULE_PROBLEM).text())
        .contains("cannot fire: time_zone: Mars (expected: a zone).");
    assertThat(codes(schedule)).containsExactly(Code.SCHEDULE_PROBLEM);
  }

  @Test
  void a_schedule_without_a_further_time_is_over() {
    RunId schedule = create();
    set(schedule, "available_at = 'infinity', fire_at = 'infinity'");

    first(schedule, Code.SCHEDULE_OVER);
  }

  @Test
  void nothing_fires_in_a_disabled_namespace() {
    RunId schedule = create();
    engine.engine().namespaces().setEnabled(NAMESPACE, false, null);
    try {
      assertThat(codes(schedule)).containsExactly(Code.NAMESPACE_DISABLED);
    } finally {
      engine.engine().namespaces().setEnabled(NAMESPACE, true, null);
    }
  }
}
