package dev.kagzi.testkit;

import static dev.kagzi.testkit.KagziAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kagzi.sdk.Branch;
import dev.kagzi.sdk.ContextMisuseException;
import dev.kagzi.sdk.Replayer;
import dev.kagzi.sdk.Retry;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.StepInfo;
import dev.kagzi.sdk.Worker;
import dev.kagzi.sdk.Workflow;
import dev.kagzi.sdk.WorkflowContext;
import dev.kagzi.sdk.WorkflowType;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The time, random numbers and ids of workflow code are the same in every execution. */
@ExtendWith(KagziExtension.class)
class RepeatableValuesTest {
  private static final WorkflowType<String, String> ORDER =
      WorkflowType.of("order", String.class, String.class).queue("q");

  /** What each execution of the code has seen. */
  private final List<List<String>> executions = new CopyOnWriteArrayList<>();

  private final AtomicInteger failures = new AtomicInteger();

  /** Draws values before and after a sleep of a day, and in two branches. */
  private String draw(WorkflowContext ctx, String item) {
    List<String> seen = new CopyOnWriteArrayList<>();
    executions.add(seen);
    drawAll(ctx, seen);
    drawAll(ctx, seen);
    ctx.sleep("a-day", Duration.ofDays(1));
    drawAll(ctx, seen);
    seen.addAll(
        ctx.parallel(
            "branches",
            List.of(1, 2),
            (branch, i) -> {
              List<String> own = new ArrayList<>();
              drawAll(branch, own);
              branch.sleep("another-day", Duration.ofDays(i));
              drawAll(branch, own);
              return String.join(" ", own);
            }));
    ctx.step("last", () -> {});
    return String.join(" ", seen);
  }

  private static void drawAll(WorkflowContext ctx, List<String> seen) {
    seen.add(ctx.now().toString());
    seen.add(ctx.uuid().toString());
    seen.add("" + ctx.random().nextInt(1_000_000));
    seen.add("" + ctx.random().nextDouble());
  }

  @Test
  void every_execution_sees_the_same_values_on_any_worker(KagziEnv env) {
    env.crashWorkerAfter("last");
    RunHandle<String> run = env.kagzi().workflow(ORDER).start("lamp");
    for (int i = 0; i < 2; i++) {
      try (Worker worker = env.worker().workflow(ORDER, this::draw).start()) {
        env.advance(Duration.ofHours(36));
        assertThat(worker.isRegistered()).isTrue();
      }
    }
    env.worker().workflow(ORDER, this::draw).start();
    env.advance(Duration.ofDays(2));

    String result = run.result();
    assertThat(executions).hasSizeGreaterThan(3);
    for (List<String> seen : executions) {
      assertThat(result).startsWith(String.join(" ", seen));
    }
    List<String> values = List.of(result.split(" "));
    assertThat(values).hasSize(28);
    assertThat(values).filteredOn(value -> !value.endsWith("Z")).doesNotHaveDuplicates();
  }

  @Test
  void another_attempt_of_the_run_sees_the_same_values(KagziEnv env) {
    env.worker()
        .workflow(
            ORDER,
            (ctx, item) -> {
              List<String> seen = new ArrayList<>();
              drawAll(ctx, seen);
              executions.add(seen);
              ctx.step("fragile").retry(Retry.none()).run(this::failOnce);
              return "attempt " + ctx.attempt();
            })
        .start();

    RunHandle<String> run = env.kagzi().workflow(ORDER).retries(2).start("lamp");
    env.advance(Duration.ofHours(1));

    assertThat(run).completedWith("attempt 2");
    assertThat(executions).hasSizeGreaterThan(1);
    assertThat(executions.getLast()).isEqualTo(executions.getFirst());
  }

  private void failOnce() {
    if (failures.getAndIncrement() == 0) {
      throw new IllegalStateException("once");
    }
  }

  @Test
  void the_time_follows_the_clock_of_the_test(KagziEnv env) {
    env.worker()
        .workflow(
            ORDER,
            (ctx, item) -> {
              Instant begin = ctx.now();
              ctx.sleep("month", Duration.ofDays(30));
              return begin + " " + ctx.now();
            })
        .start();
    Instant before = env.now();

    RunHandle<String> run = env.kagzi().workflow(ORDER).start("lamp");
    env.advance(Duration.ofDays(31));

    String[] times = run.result().split(" ");
    assertThat(Instant.parse(times[0]))
        .isBetween(before, before.plusSeconds(60))
        .isEqualTo(Instant.parse(times[0]).truncatedTo(ChronoUnit.MICROS));
    assertThat(Instant.parse(times[1]))
        .isCloseTo(before.plus(Duration.ofDays(30)), within(60, ChronoUnit.SECONDS));
  }

  @Test
  void each_time_is_recorded_as_a_step(KagziEnv env) {
    env.worker()
        .workflow(
            ORDER,
            (ctx, item) -> {
              ctx.now();
              ctx.now();
              return "done";
            })
        .start();

    RunHandle<String> run = env.kagzi().workflow(ORDER).start("lamp");

    assertThat(run).completedWith("done");
    assertThat(run.history().steps()).extracting(StepInfo::key).containsExactly("now", "now#2");
  }

  @Test
  void code_that_took_the_time_in_a_step_may_use_now_instead(KagziEnv env) {
    Workflow<String, String> old =
        (ctx, item) -> {
          Instant now = ctx.step("now", Instant.class, () -> Instant.EPOCH);
          ctx.sleep("a-day", Duration.ofDays(1));
          return now.toString();
        };
    RunHandle<String> run = env.kagzi().workflow(ORDER).start("lamp");
    try (Worker worker = env.worker().workflow(ORDER, old).start()) {
      env.advance(Duration.ofHours(1));
      assertThat(worker.isRegistered()).isTrue();
    }

    env.worker()
        .workflow(
            ORDER,
            (ctx, item) -> {
              Instant now = ctx.now();
              ctx.sleep("a-day", Duration.ofDays(1));
              return now.toString();
            })
        .start();
    env.advance(Duration.ofDays(2));

    assertThat(run).completedWith(Instant.EPOCH.toString());
  }

  @Test
  void generators_of_steps_and_of_other_branches_are_refused(KagziEnv env) {
    env.worker()
        .workflow(
            ORDER,
            (ctx, item) -> {
              String inStep =
                  ctx.step("step", String.class, () -> misuse(() -> ctx.random().nextInt()));
              Random outer = ctx.random();
              String inBranch =
                  ctx.<String>race("race", List.of(Branch.of("b", b -> misuse(outer::nextInt))));
              return inStep
                  + " "
                  + inBranch
                  + " "
                  + ctx.<String>race("ids", List.of(Branch.of("b", b -> misuse(ctx::uuid))));
            })
        .start();

    RunHandle<String> run = env.kagzi().workflow(ORDER).start("lamp");

    assertThat(run).completedWith("CONTEXT_INSIDE_STEP CONTEXT_OTHER_BRANCH CONTEXT_OTHER_BRANCH");
  }

  private static String misuse(Supplier<?> call) {
    try {
      return "accepted: " + call.get();
    } catch (ContextMisuseException e) {
      return e.code();
    }
  }

  @Test
  void a_replay_of_a_history_sees_the_recorded_time(KagziEnv env) {
    Workflow<String, String> code = (ctx, item) -> ctx.now() + " " + ctx.uuid();
    env.worker().workflow(ORDER, code).start();
    RunHandle<String> run = env.kagzi().workflow(ORDER).start("lamp");
    String result = run.result();

    // The result is compared too.
    new Replayer().workflow(ORDER, code).replay(run.history());

    assertThat(UUID.fromString(result.split(" ")[1]).version()).isEqualTo(5);
  }
}
