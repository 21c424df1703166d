package dev.kagzi.server.web.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.engine.query.RunView;
import dev.kagzi.engine.query.StepView;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.Origin;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.StepKind;
import dev.kagzi.engine.value.StepRef;
import dev.kagzi.engine.value.StepStatus;
import dev.kagzi.server.web.page.Links;
import dev.kagzi.server.web.run.Timeline.Style;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class TimelineTest {
  private static final Instant START = Instant.parse("2026-03-01T12:00:00Z");
  private static final RunId RUN = RunId.next();

  private final List<StepView> steps = new ArrayList<>();
  private RunStatus status = RunStatus.COMPLETED;
  private int epoch = 9;
  private int crashes;
  private @Nullable Double wakeUp;

  private static Instant at(double seconds) {
    return START.plusMillis(Math.round(seconds * 1_000));
  }

  private RunView run(double end) {
    Instant finished = status.isFinal() ? at(end) : null;
    RunView.Setup setup =
        new RunView.Setup(
            null,
            null,
            null,
            null,
            "",
            "",
            null,
            null,
            null,
            false,
            null,
            Map.of(),
            0,
            RunView.Chain.NONE);
    return new RunView(
        "default",
        RUN,
        "",
        "q",
        "order",
        status,
        "",
        Payload.EMPTY,
        null,
        null,
        1,
        START,
        at(1),
        finished,
        wakeUp == null ? null : at(wakeUp),
        null,
        null,
        null,
        null,
        null,
        null,
        null,
        Origin.CLIENT,
        crashes,
        epoch,
        null,
        setup);
  }

  private Timeline timeline(double end) {
    StepLinks links = new StepLinks(new Links("default"), RUN);
    TimelineBuilder.Ends ends = new TimelineBuilder.Ends(true, true, at(end));
    return new TimelineBuilder(run(end), links, steps, ends).build();
  }

  /** A step of the given kind; created is when its row was written. */
  private record Times(
      double created, double started, @Nullable Double finished, @Nullable Double due) {}

  private void add(
      String key, int attempt, int claim, StepKind kind, StepStatus result, Times times) {
    StepRef ref = new StepRef(RUN, key, attempt, claim);
    steps.add(
        new StepView(
            "default",
            ref,
            RUN,
            ref.name(),
            kind,
            result,
            attempt,
            Payload.EMPTY,
            null,
            null,
            at(times.created),
            at(times.started),
            times.finished == null ? null : at(times.finished),
            null,
            1,
            false,
            null,
            times.due == null ? null : at(times.due),
            null));
  }

  private void done(String key, int claim, double from, double to) {
    add(key, 1, claim, StepKind.FUNCTION, StepStatus.COMPLETED, new Times(to, from, to, null));
  }

  private static List<Style> styles(Timeline timeline, int row) {
    return timeline.rows().get(row).bars().stream().map(Timeline.Bar::style).toList();
  }

  private static List<String> names(Timeline timeline) {
    return timeline.rows().stream().map(row -> row.label().toString()).toList();
  }

  @Test
  void the_first_row_is_the_run_with_its_wait_for_a_worker() {
    Timeline timeline = timeline(5);

    assertThat(names(timeline)).containsExactly("run");
    assertThat(styles(timeline, 0)).containsExactly(Style.QUEUED, Style.COMPLETED);
  }

  private void sleep(double from, @Nullable Double to, double due) {
    StepStatus result = to == null ? StepStatus.RUNNING : StepStatus.COMPLETED;
    add("rest", 1, 1, StepKind.SLEEP, result, new Times(from, from, to, due));
  }

  private static List<String> titles(Timeline timeline) {
    return timeline.rows().getFirst().bars().stream().map(Timeline.Bar::title).toList();
  }

  @Test
  void the_row_of_an_ended_run_shows_when_it_waited() {
    done("reserve", 1, 1, 3);
    sleep(3, 6.0, 6);
    done("ship", 2, 6, 9);

    assertThat(styles(timeline(9), 0))
        .containsExactly(Style.QUEUED, Style.COMPLETED, Style.WAITING, Style.COMPLETED);
  }

  @Test
  void a_run_that_sleeps_or_waits_for_a_signal_or_a_child_is_not_drawn_as_running() {
    status = RunStatus.SLEEPING;
    for (StepKind kind : List.of(StepKind.SLEEP, StepKind.SIGNAL, StepKind.CHILD_WORKFLOW)) {
      steps.clear();
      done("reserve", 1, 1, 3);
      add("wait", 1, 1, kind, StepStatus.RUNNING, new Times(3, 3, null, null));

      assertThat(styles(timeline(9), 0))
          .as(kind.name())
          .containsExactly(Style.QUEUED, Style.EXECUTED, Style.WAITING);
    }
  }

  @Test
  void a_run_that_waits_for_a_worker_again_is_not_drawn_as_running() {
    status = RunStatus.PENDING;
    done("reserve", 1, 1, 3);
    add("ship", 1, 1, StepKind.FUNCTION, StepStatus.RUNNING, new Times(4, 4, null, null));

    Timeline timeline = timeline(9);

    assertThat(styles(timeline, 0))
        .containsExactly(Style.QUEUED, Style.EXECUTED, Style.INTERRUPTED);
    assertThat(titles(timeline))
        .containsExactly(
            "waits for a worker, 1.0 s",
            "executed by a worker, 3.0 s",
            "its workers crashed, stopped or gave the run back; when is not recorded, 5.0 s");
  }

  @Test
  void nothing_is_drawn_as_executed_while_workers_crashed() {
    status = RunStatus.PENDING;
    crashes = 7;
    wakeUp = 1_300.0;
    done("download", 1, 1, 2);
    add("transcode", 1, 7, StepKind.FUNCTION, StepStatus.RUNNING, new Times(3, 600, null, null));

    Timeline timeline = timeline(1_000);

    assertThat(titles(timeline))
        .containsExactly(
            "waits for a worker, 1.0 s",
            "executed by a worker, 2.0 s",
            "its workers crashed, stopped or gave the run back; when is not recorded, 9 min 57 s",
            "its workers crashed, stopped or gave the run back; when is not recorded, 6 min 40 s");
    assertThat(styles(timeline, 2)).containsExactly(Style.INTERRUPTED, Style.INTERRUPTED);
    assertThat(timeline.marks())
        .singleElement()
        .extracting(Timeline.Mark::text)
        .asString()
        .startsWith("+10 min: the last of up to 6 further claims of the run began.");
  }

  @Test
  void a_run_whose_workers_crashed_before_any_step_was_not_seen_executed() {
    status = RunStatus.PENDING;
    crashes = 3;
    wakeUp = 60.0;

    assertThat(styles(timeline(30), 0)).containsExactly(Style.QUEUED, Style.INTERRUPTED);
  }

  @Test
  void a_run_that_is_executed_after_crashes_is_running_from_the_begin_of_its_step() {
    status = RunStatus.RUNNING;
    crashes = 6;
    epoch = 7;
    done("download", 1, 1, 2);
    add("transcode", 1, 7, StepKind.FUNCTION, StepStatus.RUNNING, new Times(3, 600, null, null));

    Timeline timeline = timeline(1_000);

    assertThat(styles(timeline, 0))
        .containsExactly(Style.QUEUED, Style.EXECUTED, Style.INTERRUPTED, Style.RUNNING);
    assertThat(styles(timeline, 2)).containsExactly(Style.INTERRUPTED, Style.RUNNING);
  }

  @Test
  void a_run_that_failed_by_crashes_is_not_drawn_as_executed_until_its_end() {
    status = RunStatus.FAILED;
    crashes = 100;
    done("download", 1, 1, 2);
    add("transcode", 1, 99, StepKind.FUNCTION, StepStatus.RUNNING, new Times(3, 600, null, null));

    assertThat(styles(timeline(1_000), 0))
        .containsExactly(
            Style.QUEUED, Style.FAILED, Style.INTERRUPTED, Style.INTERRUPTED, Style.FAILED);
  }

  @Test
  void an_open_step_is_interrupted_unless_its_claim_holds_the_run() {
    add("ship", 1, 8, StepKind.FUNCTION, StepStatus.RUNNING, new Times(1, 1, null, null));

    status = RunStatus.RUNNING;
    epoch = 8;
    assertThat(isInterrupted()).isFalse();
    epoch = 9;
    assertThat(isInterrupted()).as("another claim holds the run").isTrue();
    epoch = 8;
    status = RunStatus.PENDING;
    assertThat(isInterrupted()).isTrue();
    status = RunStatus.FAILED;
    assertThat(isInterrupted()).isTrue();

    steps.clear();
    sleep(1, null, 6);
    status = RunStatus.SLEEPING;
    assertThat(isInterrupted()).as("a sleep needs no worker").isFalse();
  }

  private boolean isInterrupted() {
    StepLinks links = new StepLinks(new Links("default"), RUN);
    return StepRow.listed(run(9), steps.getFirst(), links, 0).isInterrupted();
  }

  @Test
  void a_sleeper_whose_time_has_come_waits_for_a_worker() {
    status = RunStatus.SLEEPING;
    wakeUp = 6.0;
    done("reserve", 1, 1, 3);
    sleep(3, null, 6);

    assertThat(styles(timeline(9), 0))
        .containsExactly(Style.QUEUED, Style.EXECUTED, Style.WAITING, Style.QUEUED);
  }

  @Test
  void a_sleeper_that_was_taken_late_waited_for_a_worker() {
    done("reserve", 1, 1, 3);
    sleep(3, 6.0, 6);
    done("ship", 2, 8, 9);

    assertThat(styles(timeline(9), 0))
        .containsExactly(
            Style.QUEUED, Style.COMPLETED, Style.WAITING, Style.QUEUED, Style.COMPLETED);
  }

  @Test
  void a_run_that_waits_for_its_next_attempt_does_not_wait_for_a_worker() {
    status = RunStatus.PENDING;
    wakeUp = 20.0;
    done("reserve", 1, 1, 3);

    assertThat(styles(timeline(9), 0)).containsExactly(Style.QUEUED, Style.EXECUTED, Style.WAITING);
  }

  @Test
  void a_run_that_is_executed_is_running_only_in_its_last_part() {
    status = RunStatus.RUNNING;
    epoch = 2;
    done("reserve", 1, 1, 3);
    sleep(3, 6.0, 6);
    add("ship", 1, 2, StepKind.FUNCTION, StepStatus.RUNNING, new Times(6, 6, null, null));

    assertThat(styles(timeline(9), 0))
        .containsExactly(Style.QUEUED, Style.EXECUTED, Style.WAITING, Style.RUNNING);
  }

  @Test
  void work_in_another_branch_is_no_wait_of_the_run() {
    done("reserve", 1, 1, 9);
    sleep(3, 6.0, 6);

    assertThat(styles(timeline(9), 0)).containsExactly(Style.QUEUED, Style.COMPLETED);
  }

  @Test
  void labels_of_the_axis_differ_even_if_the_run_is_long() {
    for (double end : new double[] {0.004, 2, 61, 700, 40_000, 1_000_000}) {
      List<String> labels = timeline(end).ticks().stream().map(Timeline.Tick::label).toList();

      assertThat(labels).doesNotHaveDuplicates().hasSize(5).startsWith("0");
    }
    // A day without work is drawn shorter, so neighbouring labels are some seconds apart.
    sleep(1, 86_401.0, 86_401);
    done("ship", 2, 86_401, 86_403);
    assertThat(timeline(86_403).ticks().stream().map(Timeline.Tick::label).toList())
        .doesNotHaveDuplicates()
        .last()
        .asString()
        .isEqualTo("+1 d 3 s");
  }

  @Test
  void attempts_of_a_step_share_a_row_with_the_waits_between_them() {
    add("pay", 1, 1, StepKind.FUNCTION, StepStatus.FAILED, new Times(2, 1, 2.0, 3.0));
    add("pay", 2, 1, StepKind.FUNCTION, StepStatus.COMPLETED, new Times(5, 4, 5.0, null));

    Timeline timeline = timeline(5);

    assertThat(names(timeline)).containsExactly("run", "pay");
    assertThat(styles(timeline, 1))
        .containsExactly(Style.FAILED, Style.RETRY_WAIT, Style.COMPLETED);
    Timeline.Bar wait = timeline.rows().get(1).bars().get(1);
    assertThat(wait.x()).isEqualTo("40.00%");
    assertThat(wait.width())
        .as("until the attempt began, not until it was due")
        .isEqualTo("40.00%");
  }

  @Test
  void steps_of_a_branch_stay_together() {
    done("pack[0]/wrap", 1, 1, 2);
    done("pack[1]/wrap", 1, 1, 2);
    done("pack[0]/label", 1, 2, 3);
    done("ship", 1, 3, 4);

    assertThat(names(timeline(4)))
        .containsExactly("run", "pack[0]/wrap", "pack[0]/label", "pack[1]/wrap", "ship");
  }

  @Test
  void a_step_that_began_twice_was_handed_over() {
    done("reserve", 1, 1, 2);
    add("ship", 1, 2, StepKind.FUNCTION, StepStatus.COMPLETED, new Times(3, 7, 8.0, null));

    Timeline timeline = timeline(8);

    assertThat(styles(timeline, 2)).containsExactly(Style.INTERRUPTED, Style.COMPLETED);
    assertThat(timeline.marks()).hasSize(1);
    assertThat(timeline.marks().getFirst().text()).startsWith("+7.0 s: another claim");
  }

  @Test
  void a_new_claim_after_a_wait_is_no_hand_over() {
    done("reserve", 1, 1, 2);
    add("rest", 1, 1, StepKind.SLEEP, StepStatus.COMPLETED, new Times(2, 2, 5.0, 5.0));
    done("ship", 2, 5, 6);

    assertThat(timeline(6).marks()).isEmpty();
  }

  @Test
  void a_new_claim_without_a_wait_is_a_hand_over() {
    done("reserve", 1, 1, 2);
    done("ship", 2, 5, 6);

    assertThat(timeline(6).marks()).hasSize(1);
  }

  @Test
  void the_first_claim_after_a_failover_of_the_database_is_no_hand_over() {
    int first = Claim.epochBase(3) + 1;
    done("reserve", first, 1, 2);
    done("ship", first, 5, 6);

    assertThat(timeline(6).marks()).isEmpty();
  }

  @Test
  void an_open_step_of_a_lost_claim_is_interrupted() {
    status = RunStatus.PENDING;
    add("ship", 1, 8, StepKind.FUNCTION, StepStatus.RUNNING, new Times(1, 1, null, null));

    assertThat(styles(timeline(4), 1)).containsExactly(Style.INTERRUPTED);

    status = RunStatus.RUNNING;
    epoch = 8;
    assertThat(styles(timeline(4), 1)).containsExactly(Style.RUNNING);
  }

  @Test
  void a_sleep_that_lasts_is_drawn_until_now() {
    status = RunStatus.SLEEPING;
    done("reserve", 1, 1, 2);
    add("rest", 1, 1, StepKind.SLEEP, StepStatus.RUNNING, new Times(2, 2, null, 900_000.0));

    Timeline.Bar sleep = timeline(4).rows().get(2).bars().getFirst();

    assertThat(sleep.style()).isEqualTo(Style.SLEEP);
    assertThat(sleep.title()).endsWith("2.0 s");
  }

  @Test
  void a_callback_is_a_step_and_the_wait_for_its_answer_is_a_wait() {
    status = RunStatus.SLEEPING;
    add("pay", 1, 1, StepKind.CALLBACK, StepStatus.COMPLETED, new Times(1, 1, 1.0, null));
    add("await:pay", 1, 1, StepKind.SIGNAL, StepStatus.RUNNING, new Times(2, 2, null, null));

    Timeline timeline = timeline(4);

    assertThat(names(timeline)).containsExactly("run", "pay", "await:pay");
    assertThat(styles(timeline, 1)).containsExactly(Style.COMPLETED);
    assertThat(styles(timeline, 2)).containsExactly(Style.RECEIVE);
  }

  @Test
  void every_bar_is_inside_the_picture() {
    done("a", 1, 0, 0);
    done("b", 1, 4, 4);

    for (Timeline.Row row : timeline(4).rows()) {
      for (Timeline.Bar bar : row.bars()) {
        double x = Double.parseDouble(bar.x().replace("%", ""));
        double width = Double.parseDouble(bar.width().replace("%", ""));
        assertThat(x).isBetween(0.0, 100.0);
        assertThat(width).isGreaterThan(0);
        assertThat(x + width).isLessThanOrEqualTo(100.001);
      }
    }
  }
}
