package dev.kagzi.engine.internal.schedule;

import static dev.kagzi.engine.TestEngine.NAMESPACE;
import static dev.kagzi.engine.TestEngine.payload;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kagzi.engine.TestSchedules;
import dev.kagzi.engine.page.Page;
import dev.kagzi.engine.page.PageSpec;
import dev.kagzi.engine.retry.RetryPolicy;
import dev.kagzi.engine.schedule.Overlap;
import dev.kagzi.engine.schedule.ScheduleSpec;
import dev.kagzi.engine.schedule.ScheduleUpdate;
import dev.kagzi.engine.schedule.ScheduleView;
import dev.kagzi.engine.schedule.Schedules;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.Shard;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Schedules as rows: create, update, delete, list. */
class SchedulesTest extends FirerFixture {
  @Test
  void a_name_is_unique_and_create_or_update_updates_it() {
    ScheduleView first = create(minutely("daily"));

    assertThat(create(minutely("daily"))).isEqualTo(first);
    assertThatThrownBy(() -> create(with("daily", Overlap.SKIP, 7)))
        .hasMessageContaining("daily is taken");
    schedules.setEnabled(NAMESPACE, first.id(), false, null);
    ScheduleView same =
        schedules.create(
            new Schedules.Creation(
                NAMESPACE, with("daily", Overlap.SKIP, 7), null, null, true, null));
    ScheduleView other =
        schedules.create(
            new Schedules.Creation(
                NAMESPACE,
                TestSchedules.spec("daily", "q2", "report2", "0 9 * * *"),
                null,
                true,
                true,
                null));

    assertThat(same.id()).isEqualTo(first.id());
    assertThat(same.enabled()).isFalse();
    assertThat(same.nextFireAt()).isEqualTo(first.nextFireAt());
    assertThat(same.spec()).isEqualTo(with("daily", Overlap.SKIP, 7));
    assertThat(other.id()).isEqualTo(first.id());
    assertThat(other.enabled()).isTrue();
    assertThat(other.spec()).isEqualTo(TestSchedules.spec("daily", "q2", "report2", "0 9 * * *"));
    assertThat(other.nextFireAt()).isNotEqualTo(first.nextFireAt());
    assertThat(
            schedules.create(
                new Schedules.Creation("default", minutely(""), null, null, false, null)))
        .isNotNull();
    create(minutely(""));
  }

  @Test
  void create_or_update_with_an_existing_id_is_an_update() {
    RunId id = RunId.next(Shard.of(NAMESPACE, "mine"));
    schedules.create(new Schedules.Creation(NAMESPACE, minutely("mine"), id, null, true, null));

    ScheduleView changed =
        schedules.create(
            new Schedules.Creation(NAMESPACE, with("mine", Overlap.SKIP, 7), id, null, true, null));

    assertThat(changed.spec()).isEqualTo(with("mine", Overlap.SKIP, 7));
    assertThat(changed.id()).isEqualTo(id);
  }

  @Test
  void a_slot_that_is_due_is_not_lost_by_a_change_of_the_expression() {
    ScheduleView schedule = create(minutely("due"));
    ScheduleView old = create(minutely("old"));
    Instant slot = next(schedule);
    clock.at(slot.plusMillis(200));

    ScheduleView changed = schedules.update(NAMESPACE, schedule.id(), cron("0-59 * * * *"), null);
    clock.at(slot.plusSeconds(50));
    ScheduleView later = schedules.update(NAMESPACE, old.id(), cron("0-59 * * * *"), null);

    assertThat(changed.nextFireAt()).isEqualTo(slot);
    assertThat(later.nextFireAt()).isEqualTo(slot.plusSeconds(60));
    firer.fireDue(() -> {});
    assertThat(schedules.update(NAMESPACE, schedule.id(), cron("* * * * *"), null).nextFireAt())
        .isEqualTo(slot.plusSeconds(60));
  }

  @Test
  void an_unchanged_input_is_not_written_again() {
    ScheduleView schedule = create(with("input", Overlap.ALLOW, 7));
    String written = inputVersion();

    schedules.setEnabled(NAMESPACE, schedule.id(), false, null);
    schedules.create(
        new Schedules.Creation(NAMESPACE, with("input", Overlap.SKIP, 9), null, null, true, null));
    String same = inputVersion();
    schedules.create(
        new Schedules.Creation(
            NAMESPACE, with("input", Overlap.SKIP, 9, payload("2")), null, null, true, null));

    assertThat(same).isEqualTo(written);
    assertThat(view(schedule).spec().input()).isEqualTo(payload("2"));
  }

  private String inputVersion() {
    return stored.text("SELECT ctid::text AS value FROM kagzi.workflow_payloads");
  }

  @Test
  void a_deleted_schedule_leaves_its_runs_as_they_are() {
    ScheduleView schedule = create(minutely("gone"));
    ahead(Duration.ofMinutes(2));
    firer.fireDue(() -> {});

    boolean deleted = schedules.delete(NAMESPACE, schedule.id(), null);
    boolean again = schedules.delete(NAMESPACE, schedule.id(), null);
    ahead(Duration.ofMinutes(4));
    firer.fireDue(() -> {});

    assertThat(List.of(deleted, again)).containsExactly(true, false);
    assertThat(slots(schedule)).hasSize(2);
    assertThat(stored.count("SELECT count(*) AS value FROM kagzi.workflow_payloads")).isZero();
    assertThatThrownBy(() -> view(schedule)).hasMessageContaining("schedule not found");
  }

  @Test
  void runs_and_schedules_of_other_namespaces_are_not_found() {
    ScheduleView schedule = create(minutely("mine"));
    RunId run = starts.trigger(NAMESPACE, schedule.id(), null);

    for (RunId wrong : List.of(run, RunId.next())) {
      assertThatThrownBy(() -> schedules.setEnabled(NAMESPACE, wrong, false, null))
          .hasMessageContaining("not found");
      assertThatThrownBy(() -> starts.trigger(NAMESPACE, wrong, null))
          .hasMessageContaining("not found");
      assertThat(schedules.delete(NAMESPACE, wrong, null)).isFalse();
    }
    namespaces.create("other", "", "", null, null);
    assertThatThrownBy(() -> schedules.get("other", schedule.id()))
        .hasMessageContaining("not found");
    assertThatThrownBy(() -> schedules.setEnabled("other", schedule.id(), false, null))
        .hasMessageContaining("not found");
    assertThat(schedules.delete("other", schedule.id(), null)).isFalse();
    assertThat(stored.count("SELECT count(*) AS value FROM kagzi.workflow_runs")).isEqualTo(2);
  }

  @Test
  void an_expression_that_never_fires_again_is_refused() {
    assertThatThrownBy(() -> create(TestSchedules.spec("n", "q", "t", "0 0 30 2 *")))
        .hasMessageContaining("never fires again");
    assertThatThrownBy(() -> schedules.preview("0 0 0 1 1 * 2020", "UTC", 3, null))
        .hasMessageContaining("never fires again");
    assertThat(schedules.preview("0 0 0 1 1 * 2030", "UTC", 3, null))
        .containsExactly(Instant.parse("2030-01-01T00:00:00Z"));
    assertThat(schedules.preview("@daily", "UTC", 0, Instant.parse("2026-01-01T00:00:00Z")))
        .hasSize(5)
        .startsWith(Instant.parse("2026-01-02T00:00:00Z"));
  }

  @Test
  void an_update_changes_only_the_fields_that_it_sets() {
    ScheduleView schedule = create(with("daily", Overlap.ALLOW, 7));
    Instant wanted = Instant.parse("2030-05-05T05:05:05Z");
    Instant asked = Instant.parse("2030-05-05T05:05:04.1Z");

    ScheduleView moved =
        schedules.update(
            NAMESPACE,
            schedule.id(),
            new ScheduleUpdate(
                null, null, null, null, null, null, null, null, null, null, null, false, null, null,
                null, null, null, asked),
            null);
    ScheduleView changed =
        schedules.update(
            NAMESPACE,
            schedule.id(),
            new ScheduleUpdate(
                "weekly",
                "q9",
                "t9",
                "v9",
                "0 9 * * 1",
                "Asia/Tokyo",
                payload("9"),
                Overlap.SKIP,
                9,
                9_000L,
                RetryPolicy.DEFAULT,
                false,
                99L,
                999L,
                "h",
                "hq",
                false,
                null),
            null);

    assertThat(moved.spec()).isEqualTo(schedule.spec());
    assertThat(moved.nextFireAt()).isEqualTo(wanted);
    assertThat(changed.spec())
        .isEqualTo(
            new ScheduleSpec(
                "weekly",
                "q9",
                "t9",
                "v9",
                "0 9 * * 1",
                "Asia/Tokyo",
                payload("9"),
                Overlap.SKIP,
                9,
                9_000L,
                RetryPolicy.DEFAULT,
                99L,
                999L,
                "h",
                "hq"));
    assertThat(changed.enabled()).isFalse();
    assertThat(changed.nextFireAt()).isBefore(wanted);
    ScheduleView alone =
        schedules.update(
            NAMESPACE,
            schedule.id(),
            new ScheduleUpdate(
                null, null, null, null, null, null, null, null, null, null, null, false, null, null,
                "", null, null, null),
            null);
    assertThat(alone.spec().onFailureWorkflow()).isEmpty();
    assertThat(alone.spec().onFailureTaskQueue()).isEmpty();
  }

  @Test
  void lists_are_paged_and_filtered() {
    for (int i = 0; i < 5; i++) {
      // The test clock stands still: move it, so that creation times differ.
      ahead(Duration.ofMillis(i));
      create(TestSchedules.spec("s" + i, i % 2 == 0 ? "even" : "odd", "t" + i, "@daily"));
    }
    schedules.setEnabled(NAMESPACE, schedules.byName(NAMESPACE, "s2").id(), false, null);

    Page<ScheduleView> first =
        schedules.list(NAMESPACE, null, null, null, new PageSpec(3, "", true, false));
    Page<ScheduleView> second =
        schedules.list(
            NAMESPACE, null, null, null, new PageSpec(3, first.nextToken(), false, false));
    Page<ScheduleView> back =
        schedules.list(
            NAMESPACE, null, null, null, new PageSpec(3, second.prevToken(), false, false));

    assertThat(names(first)).containsExactly("s4", "s3", "s2");
    assertThat(first.totalCount()).isEqualTo(5);
    assertThat(names(second)).containsExactly("s1", "s0");
    assertThat(second.hasMore()).isFalse();
    assertThat(names(back)).isEqualTo(names(first));
    assertThat(names(schedules.list(NAMESPACE, "odd", null, null, PageSpec.FIRST)))
        .containsExactly("s3", "s1");
    assertThat(names(schedules.list(NAMESPACE, null, "t2", null, PageSpec.FIRST)))
        .containsExactly("s2");
    assertThat(names(schedules.list(NAMESPACE, null, null, false, PageSpec.FIRST)))
        .containsExactly("s2");
    assertThat(names(schedules.list(NAMESPACE, null, null, true, PageSpec.FIRST))).hasSize(4);
  }

  private static List<String> names(Page<ScheduleView> page) {
    return page.items().stream().map(view -> view.spec().name()).toList();
  }
}
