package dev.kagzi.examples.docs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.Overlap;
import dev.kagzi.sdk.Schedule;
import dev.kagzi.sdk.WorkflowType;
import dev.kagzi.testkit.KagziEnv;
import dev.kagzi.testkit.KagziExtension;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The code of docs/schedules.md. */
@ExtendWith(KagziExtension.class)
class SchedulesDocsTest {
  record ReportInput(String what) {}

  static final WorkflowType<ReportInput, String> REPORT =
      WorkflowType.of("report", ReportInput.class, String.class).queue("reports");

  static void create(Kagzi kagzi) {
    // docs: schedules.md
    kagzi
        .schedule("daily-report")
        .workflow(REPORT)
        .cron("0 9 * * MON-FRI")
        .zone("Europe/Berlin")
        .input(new ReportInput("sales"))
        .overlap(Overlap.SKIP)
        .createOrUpdate();
    // end
  }

  static int act(Kagzi kagzi) {
    // docs: schedules.md
    Schedule report = kagzi.schedule("daily-report");
    report.pause();
    report.change().cron("0 8 * * *").save();
    String runId = report.trigger();
    Instant from = Instant.parse("2026-01-01T00:00:00Z");
    Instant to = Instant.parse("2026-02-01T00:00:00Z");
    int made = report.backfill(from, to);
    long runs = report.runs().stream().count();
    report.resume();
    // end
    assertThat(runId).isNotEmpty();
    assertThat(runs).isEqualTo(made + 1);
    return made;
  }

  @Test
  void a_schedule_is_created_changed_triggered_and_backfilled(KagziEnv env) {
    create(env.kagzi());

    assertThat(act(env.kagzi())).isEqualTo(31);
    assertThat(env.kagzi().schedule("daily-report").get().enabled()).isTrue();
  }
}
