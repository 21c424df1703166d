package dev.kagzi.engine.query;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.engine.query.WaitCause.Code;
import dev.kagzi.engine.query.WaitFacts.Child;
import dev.kagzi.engine.query.WaitFacts.Held;
import dev.kagzi.engine.retry.RetryPolicy;
import dev.kagzi.engine.value.ErrorCode;
import dev.kagzi.engine.value.Failure;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.StepKind;
import dev.kagzi.engine.value.StepRef;
import dev.kagzi.engine.value.StepStatus;
import dev.kagzi.engine.value.TypeVersion;
import dev.kagzi.engine.value.WorkerId;
import dev.kagzi.engine.value.WorkerStatus;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Decisions that need no database: limits, counts and texts. */
class WaitCausesTest {
  private static final Instant NOW = Instant.parse("2026-03-01T12:00:00Z");
  private static final RunId RUN = RunId.next();
  private static final Failure FAILURE = Failure.of(ErrorCode.INTERNAL, "boom");
  private static final QueryRules RULES =
      new QueryRules(new Health.Rules(6_000, 10_000), 60_000, 6_000, 10, RetryPolicy.DEFAULT);

  private static WaitFacts.Run run(RunStatus status, @Nullable Instant due, List<String> waits) {
    return new WaitFacts.Run(
        "default",
        true,
        RUN,
        "orders",
        "order",
        "",
        status,
        NOW.minusSeconds(100),
        null,
        1,
        null,
        null,
        null,
        null,
        due,
        waits,
        true,
        1,
        0,
        null,
        null,
        null,
        null,
        null,
        null,
        WaitFacts.Signals.NONE,
        null,
        null);
  }

  /** A run that failed once as a whole and is tried again at {@code due}. */
  private static WaitFacts.Run retried(Instant due) {
    return new WaitFacts.Run(
        "default",
        true,
        RUN,
        "orders",
        "order",
        "",
        RunStatus.PENDING,
        NOW.minusSeconds(100),
        null,
        1,
        null,
        null,
        null,
        null,
        due,
        List.of(),
        false,
        2,
        0,
        RetryPolicy.DEFAULT,
        FAILURE,
        null,
        null,
        null,
        null,
        WaitFacts.Signals.NONE,
        null,
        null);
  }

  private static WaitFacts.Step failedStep(Instant due) {
    return new WaitFacts.Step(
        new StepRef(RUN, "charge", 1, 1),
        null,
        StepKind.FUNCTION,
        StepStatus.FAILED,
        NOW.minusSeconds(10),
        1,
        FAILURE,
        RetryPolicy.DEFAULT,
        due,
        null,
        null,
        null,
        null);
  }

  @Test
  void the_retry_of_a_step_does_not_hide_that_of_the_whole_run() {
    Instant due = NOW.plusSeconds(60);

    List<WaitCause> ofRun =
        explain(facts(retried(due), List.of(failedStep(NOW.plusSeconds(5))), Map.of()));
    List<WaitCause> ofStep = explain(facts(retried(due), List.of(failedStep(due)), Map.of()));

    assertThat(ofRun).extracting(WaitCause::code).containsExactly(Code.RUN_RETRY);
    assertThat(ofRun.getFirst().at()).isEqualTo(due);
    assertThat(ofStep).extracting(WaitCause::code).containsExactly(Code.STEP_RETRY);
  }

  @Test
  void children_that_have_ended_are_not_counted() {
    RunId child = RunId.next();
    List<WaitFacts.Step> open = List.of(step("c#2", StepKind.CHILD_WORKFLOW, null, child));
    Map<RunId, Child> children = Map.of(child, new Child(child, "pack", RunStatus.RUNNING, NOW));

    WaitCause cause =
        explain(
                facts(
                    run(RunStatus.SLEEPING, Instant.MAX, List.of("c#0", "c#1", "c#2")),
                    open,
                    children))
            .getFirst();

    assertThat(cause.text())
        .startsWith("The run waits for child run " + child + " (step c#2, type pack, RUNNING). ");
  }

  private static WaitFacts facts(
      WaitFacts.Run run, List<WaitFacts.Step> steps, Map<RunId, Child> children) {
    return new WaitFacts(NOW, run, steps, children, null, null, null, List.of(), null);
  }

  private static WaitFacts.Step step(
      String key, StepKind kind, @Nullable Instant due, @Nullable RunId child) {
    return new WaitFacts.Step(
        new StepRef(RUN, key, 1, 1),
        null,
        kind,
        StepStatus.RUNNING,
        NOW.minusSeconds(10),
        0,
        null,
        null,
        due,
        null,
        child,
        null,
        null);
  }

  private static List<WaitCause> explain(WaitFacts facts) {
    return WaitCauses.explain(facts, RULES).causes();
  }

  private static WorkerView worker(@Nullable Integer limit, Instant heartbeat) {
    return new WorkerView(
        WorkerId.next(),
        "default",
        "orders",
        WorkerStatus.ONLINE,
        "",
        List.of("order"),
        "host",
        1,
        limit,
        Map.of(),
        0,
        NOW,
        heartbeat,
        Map.of(),
        0,
        0,
        null,
        List.of(new TypeVersion("order", "")));
  }

  private static WaitCause dispatched(WaitFacts.Queue queue) {
    WaitFacts.Run run = run(RunStatus.PENDING, NOW.minusSeconds(60), List.of());
    return explain(new WaitFacts(NOW, run, List.of(), Map.of(), null, null, queue, List.of(), null))
        .getFirst();
  }

  @Test
  void times_are_absolute_and_relative() {
    WaitText text = new WaitText(NOW, "default");

    assertThat(text.at(NOW.plus(Duration.ofHours(3)))).isEqualTo("2026-03-01T15:00:00Z (in 3 h)");
    assertThat(text.at(NOW.minusSeconds(125))).isEqualTo("2026-03-01T11:57:55Z (2 min 5 s ago)");
    assertThat(text.since(NOW.minusSeconds(60)))
        .isEqualTo("since 2026-03-01T11:59:00Z (for 1 min)");
    assertThat(WaitText.span(Duration.ofMillis(350))).isEqualTo("350 ms");
    assertThat(WaitText.span(Duration.ofHours(49))).isEqualTo("2 d 1 h");
  }

  @Test
  void a_command_names_a_namespace_that_is_not_the_default_one() {
    assertThat(new WaitText(NOW, "default").command("workflow why order-7"))
        .isEqualTo("`kagzi workflow why order-7`");
    assertThat(new WaitText(NOW, "shop-eu").command("workflow why order-7"))
        .isEqualTo("`kagzi workflow why order-7 --namespace shop-eu`");
  }

  @Test
  void errors_are_one_short_line() {
    assertThat(WaitText.brief("a\n\tb " + "c".repeat(400)))
        .startsWith("a b ccc")
        .endsWith("c...")
        .hasSize(303);
    assertThat(WaitText.sentence("was it changed?")).isEqualTo("was it changed?");
    assertThat(WaitText.sentence("boom")).isEqualTo("boom.");
  }

  @Test
  void ten_children_are_named_and_the_others_counted() {
    List<WaitFacts.Step> steps = new ArrayList<>();
    Map<RunId, Child> children = new HashMap<>();
    IntStream.range(0, 25)
        .forEach(
            i -> {
              RunId child = RunId.next();
              steps.add(step("c#" + i, StepKind.CHILD_WORKFLOW, null, child));
              children.put(child, new Child(child, "pack", RunStatus.RUNNING, NOW));
            });
    List<String> keys = steps.stream().map(step -> step.ref().stepKey()).toList();

    WaitCause cause =
        explain(facts(run(RunStatus.SLEEPING, Instant.MAX, keys), steps, children)).getFirst();

    assertThat(cause.code()).isEqualTo(Code.CHILDREN);
    assertThat(cause.refs()).hasSize(10);
    assertThat(cause.text())
        .startsWith("The run waits for 25 child runs: ")
        .contains(", type pack, RUNNING) and 15 more.");
  }

  @Test
  void children_that_the_run_does_not_await_are_no_cause() {
    List<WaitFacts.Step> steps =
        List.of(
            step("other", StepKind.CHILD_WORKFLOW, null, RunId.next()),
            step("nap", StepKind.SLEEP, NOW.plusSeconds(60), null));

    List<WaitCause> causes =
        explain(facts(run(RunStatus.SLEEPING, NOW.plusSeconds(60), List.of()), steps, Map.of()));

    assertThat(causes).extracting(WaitCause::code).containsExactly(Code.SLEEPING);
  }

  @Test
  void a_suspended_run_without_known_steps_still_has_a_cause() {
    assertThat(
            explain(facts(run(RunStatus.SLEEPING, Instant.MAX, List.of("x")), List.of(), Map.of())))
        .singleElement()
        .satisfies(cause -> assertThat(cause.text()).contains("end of: steps x"));
    assertThat(
            explain(
                facts(run(RunStatus.SLEEPING, NOW.plusSeconds(5), List.of()), List.of(), Map.of())))
        .singleElement()
        .satisfies(cause -> assertThat(cause.at()).isEqualTo(NOW.plusSeconds(5)));
  }

  @Test
  void a_position_that_was_not_counted_to_the_end_is_a_lower_bound() {
    WaitFacts.Run run = run(RunStatus.PENDING, NOW, List.of());
    WaitFacts.Queue queue =
        new WaitFacts.Queue(List.of(), Map.of(), List.of(), WaitQueries.AHEAD_MAX, List.of(), "");

    WaitCause cause =
        explain(new WaitFacts(NOW, run, List.of(), Map.of(), null, null, queue, List.of(), null))
            .getLast();

    assertThat(cause.text()).startsWith("At least 10000 other runs of order");
  }

  @Test
  void silent_workers_count_only_if_no_other_is_alive() {
    WorkerView silent = worker(5, NOW.minusSeconds(8));
    WorkerView alive = worker(5, NOW);

    assertThat(
            dispatched(
                    new WaitFacts.Queue(
                        List.of(silent, alive), Map.of(), List.of(), 0, List.of(), ""))
                .code())
        .isEqualTo(Code.DUE);
    assertThat(
            dispatched(new WaitFacts.Queue(List.of(silent), Map.of(), List.of(), 0, List.of(), ""))
                .code())
        .isEqualTo(Code.WORKERS_SILENT);
  }

  @Test
  void slots_are_taken_since_the_last_of_them_was() {
    WorkerView one = worker(2, NOW);
    WorkerView two = worker(3, NOW);
    Map<WorkerId, Held> held =
        Map.of(
            one.workerId(), new Held(2, 2, NOW.minusSeconds(30)),
            two.workerId(), new Held(3, 3, NOW.minusSeconds(20)));

    WaitCause cause =
        dispatched(new WaitFacts.Queue(List.of(one, two), held, List.of(), 0, List.of(), ""));

    assertThat(cause.code()).isEqualTo(Code.SLOTS_TAKEN);
    assertThat(cause.at()).isEqualTo(NOW.minusSeconds(20));
    assertThat(cause.text()).startsWith("All 5 slots of the 2 workers that serve order");
  }

  @Test
  void a_run_that_is_due_for_long_although_slots_are_free_is_suspicious() {
    WaitCause cause =
        dispatched(
            new WaitFacts.Queue(List.of(worker(5, NOW)), Map.of(), List.of(), 0, List.of(), ""));

    assertThat(cause.text()).contains("It has been due since 2026-03-01T11:59:00Z (for 1 min)");
  }
}
