package dev.kagzi.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.sdk.Overlap;
import dev.kagzi.sdk.RunInfo;
import dev.kagzi.sdk.RunStatus;
import dev.kagzi.sdk.Schedule;
import dev.kagzi.sdk.WorkflowType;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(KagziExtension.class)
class ScheduleClockTest {
  private static final WorkflowType<String, String> REPORT =
      WorkflowType.of("report", String.class, String.class).queue("q");

  @Test
  void every_slot_that_the_clock_passes_starts_a_run_at_its_time(KagziEnv env) {
    env.worker().workflow(REPORT, (ctx, name) -> "about " + name).start();
    Schedule schedule = env.kagzi().schedule("daily");
    Instant first =
        schedule
            .workflow(REPORT)
            .cron("0 9 * * *")
            .zone("Europe/Berlin")
            .input("sales")
            .create()
            .nextFireAt()
            .orElseThrow();

    env.advance(Duration.between(env.now(), first).plusDays(2).plusHours(2));

    List<RunInfo> runs = schedule.runs().stream().toList().reversed();
    assertThat(runs).hasSize(3).allMatch(run -> run.status() == RunStatus.COMPLETED);
    assertThat(runs.getFirst().createdAt()).isBetween(first, first.plusSeconds(60));
    assertThat(Duration.between(first, runs.getLast().createdAt()))
        .isBetween(Duration.ofHours(47), Duration.ofHours(50));
    assertThat(schedule.get().missedRuns()).isZero();
  }

  @Test
  void a_waiting_slot_starts_when_the_previous_run_ends(KagziEnv env) {
    env.worker()
        .workflow(
            REPORT,
            (ctx, name) -> {
              ctx.sleep("long", Duration.ofMinutes(90));
              return name;
            })
        .start();
    Schedule schedule = env.kagzi().schedule("hourly");
    Instant first =
        schedule
            .workflow(REPORT)
            .cron("@hourly")
            .overlap(Overlap.BUFFER_ONE)
            .input("sales")
            .create()
            .nextFireAt()
            .orElseThrow();

    env.advance(Duration.between(env.now(), first).plusMinutes(80));
    assertThat(schedule.get().waitingSlot()).contains(first.plus(Duration.ofHours(1)));
    assertThat(schedule.get().totalRuns()).isEqualTo(1);
    env.advance(Duration.ofMinutes(20));

    List<RunInfo> runs = schedule.runs().stream().toList().reversed();
    assertThat(runs)
        .extracting(RunInfo::status)
        .containsExactly(RunStatus.COMPLETED, RunStatus.SLEEPING);
    assertThat(runs.getLast().createdAt()).isEqualTo(runs.getFirst().finishedAt().orElseThrow());
  }
}
