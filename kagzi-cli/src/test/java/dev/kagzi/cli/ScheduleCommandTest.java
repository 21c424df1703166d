package dev.kagzi.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ScheduleCommandTest extends ServedCommandTest {

  /** Runs {@code kagzi schedule ...} on that server; returns the exit code. */
  private int schedule(String... args) {
    return kagzi("schedule", args);
  }

  private int create(String name, String... more) {
    return schedule(
        Stream.concat(
                Stream.of(
                    "create",
                    "--name",
                    name,
                    "--workflow",
                    "report",
                    "--queue",
                    "reports",
                    "--cron",
                    "0 9 * * *"),
                Stream.of(more))
            .toArray(String[]::new));
  }

  @Test
  void a_schedule_is_created_with_all_its_options_and_shown() {
    assertThat(
            create(
                "full",
                "--zone",
                "Europe/Berlin",
                "--input",
                "{\"a\":1}",
                "--overlap",
                "BUFFER_ONE",
                "--max-catchup",
                "7",
                "--jitter",
                "30s",
                "--paused"))
        .as(err.toString())
        .isZero();
    assertThat(schedule("get", "full")).isZero();

    assertThat(out.toString().lines())
        .anyMatch(line -> line.matches("name +full"))
        .anyMatch(line -> line.matches("cron +0 9 \\* \\* \\* \\(Europe/Berlin\\)"))
        .anyMatch(line -> line.matches("next +paused"))
        .anyMatch(line -> line.matches("overlap +BUFFER_ONE"))
        .anyMatch(line -> line.matches("max catch-up +7"))
        .anyMatch(line -> line.matches("jitter +30s"))
        .anyMatch(line -> line.matches("input +\\{\"a\":1\\}"));
  }

  @Test
  void a_taken_name_is_refused_and_or_update_updates_it(@TempDir Path folder) throws Exception {
    Path input = Files.writeString(folder.resolve("input.json"), "[1, 2]");
    assertThat(create("taken")).isZero();

    assertThat(create("taken")).isZero();
    assertThat(create("taken", "--jitter", "5s")).isEqualTo(1);
    assertThat(err.toString()).contains("name: taken is taken by the schedule").hasLineCount(1);
    assertThat(create("taken", "--or-update", "--input", "@" + input)).isZero();
    assertThat(out.toString()).containsPattern("input +\\[1,2\\]");
  }

  @Test
  void a_schedule_is_updated_paused_resumed_triggered_back_filled_and_deleted() {
    assertThat(create("life", "--cron", "* * * * *")).isEqualTo(2);
    assertThat(create("life")).isZero();

    // Paused first: otherwise it would fire if a minute ends now.
    assertThat(schedule("pause", "life")).isZero();
    assertThat(out.toString()).containsPattern("next +paused");
    assertThat(schedule("update", "life", "--cron", "* * * * *", "--name", "second-life")).isZero();
    assertThat(out.toString()).containsPattern("cron +\\* \\* \\* \\* \\*");
    assertThat(schedule("list", "--enabled", "false", "-o", "json")).isZero();
    assertThat(json().at("/schedules").findValuesAsString("name")).contains("second-life");
    assertThat(schedule("trigger", "second-life", "-o", "json")).isZero();
    String run = json().at("/runId").asString();
    Instant minute = Instant.now().truncatedTo(ChronoUnit.MINUTES);
    assertThat(
            schedule(
                "backfill",
                "second-life",
                "--from",
                minute.minusSeconds(120).toString(),
                "--to",
                minute.toString()))
        .isZero();
    assertThat(out.toString()).startsWith("2 runs started, 0 slots already had a run");
    assertThat(schedule("get", "second-life", "-o", "json")).isZero();
    String id = json().at("/scheduleId").asString();
    assertThat(json().at("/totalRuns").asInt()).isEqualTo(3);
    assertThat(json().at("/failedRuns").isNumber()).isTrue();
    assertThat(json().at("/missedRuns").isNumber()).isTrue();
    assertThat(json().has("executionTimeoutMs")).isFalse();
    assertThat(schedule("resume", id)).isZero();
    assertThat(schedule("delete", "second-life")).isZero();
    assertThat(schedule("runs", id)).isZero();
    assertThat(out.toString().lines())
        .anyMatch(line -> line.startsWith(run) && line.contains("triggered"))
        .anyMatch(line -> line.contains(minute.minusSeconds(60).toString()));
    assertThat(schedule("get", "second-life")).isEqualTo(3);
    assertThat(err.toString()).contains("schedule not found: second-life").hasLineCount(1);
  }

  @Test
  void the_next_times_of_an_expression_are_shown_without_saving() {
    assertThat(schedule("next", "--cron", "30 2 * * *", "--zone", "Asia/Kolkata", "--count", "3"))
        .isZero();

    assertThat(out.toString().lines().toList())
        .hasSize(3)
        .allMatch(line -> line.contains("T21:00:00Z") && line.contains(" 02:30:00 +05:30"));
    assertThat(schedule("next", "--cron", "61 * * * *")).isEqualTo(1);
    assertThat(err.toString()).contains("field minute is \"61\"").hasLineCount(1);
  }

  @Test
  void wrong_usage_is_exit_code_2() {
    assertThat(schedule("create", "--name", "x")).isEqualTo(2);
    assertThat(create("x", "--input", "{")).isEqualTo(2);
    assertThat(err.toString()).contains("--input: { (expected: JSON");
    assertThat(create("x", "--jitter", "soon")).isEqualTo(2);
    assertThat(schedule("backfill", "x", "--from", "yesterday", "--to", "2026-01-01")).isEqualTo(2);
    assertThat(err.toString()).contains("--from: yesterday");
    assertThat(schedule("list", "--limit", "0")).isEqualTo(2);
  }
}
