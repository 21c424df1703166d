package dev.kagzi.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.sdk.Branch;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.RunStatus;
import dev.kagzi.sdk.Worker;
import dev.kagzi.sdk.Workflow;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** A replay detects code that behaves differently than before. */
class NondeterminismTest extends NondeterminismFixture {
  @Test
  void a_name_that_is_different_each_time_is_detected_by_another_worker(KagziEnv env) {
    Workflow<String, String> code =
        (ctx, name) -> {
          step(ctx, "reserve", "charge-" + random.incrementAndGet());
          sleepOneDay(ctx, "cool-off");
          return "done";
        };
    RunHandle<String> run = start(env);

    runOneDay(env, code);
    assertThat(warnings()).isEmpty();
    runOneDay(env, code);

    assertThat(run.status()).isEqualTo(RunStatus.COMPLETED);
    assertThat(warnings()).hasSize(1);
    assertThat(warnings().getFirst())
        .contains("run=" + run.runId(), "type=order")
        .contains("the history has charge-1 before cool-off", "asks for charge-2 in its place")
        .contains("NondeterminismFixture.java:");
  }

  @Test
  void another_order_is_detected_by_another_worker(KagziEnv env) {
    Workflow<String, String> code =
        (ctx, name) -> {
          List<String> names = new ArrayList<>(List.of("a", "b", "c"));
          Collections.rotate(names, random.getAndIncrement());
          step(ctx, names.toArray(String[]::new));
          sleepOneDay(ctx, "nap");
          return "done";
        };
    start(env);

    runOneDay(env, code);
    runOneDay(env, code);

    assertThat(warnings()).hasSize(1);
    assertThat(warnings().getFirst())
        .contains(
            "the history has a before c", "asks for a after it", "NondeterminismFixture.java:");
  }

  @Test
  void another_order_within_a_branch_is_detected_by_another_worker(KagziEnv env) {
    Workflow<String, String> code =
        (ctx, name) -> {
          int first = random.getAndIncrement();
          ctx.parallel(
              "p",
              Branch.of(
                  "steady",
                  b -> {
                    step(b, "a", "b");
                    sleepOneDay(b, "nap");
                    return "";
                  }),
              Branch.of(
                  "shaky",
                  b -> {
                    step(b, first == 0 ? "a" : "b", first == 0 ? "b" : "a");
                    sleepOneDay(b, "nap");
                    return "";
                  }));
          return "done";
        };
    start(env);

    runOneDay(env, code);
    runOneDay(env, code);

    assertThat(warnings()).hasSize(1);
    assertThat(warnings().getFirst()).contains("the history has p[shaky]/a before p[shaky]/b");
  }

  /** Nothing in the history matches: the worker remembers what its own code did. */
  @Test
  void code_with_only_random_names_is_detected_by_the_same_worker(KagziEnv env) {
    worker(
            env,
            (ctx, name) -> {
              int time = random.incrementAndGet();
              step(ctx, "charge-" + time);
              sleepOneDay(ctx, "nap-" + time);
              return "done";
            })
        .start();
    RunHandle<String> run = start(env);

    env.advance(Duration.ofDays(3));
    run.cancel();

    assertThat(warnings()).hasSize(1);
    assertThat(warnings().getFirst())
        .contains("an earlier execution in this process asked for charge-1", "asks for charge-2");
  }

  @Test
  void a_type_is_logged_once(KagziEnv env) {
    worker(
            env,
            (ctx, name) -> {
              step(ctx, "charge-" + random.incrementAndGet());
              sleepOneDay(ctx, "nap");
              return "done";
            })
        .start();
    IntStream.range(0, 5).forEach(i -> start(env));

    env.advance(Duration.ofDays(2));

    assertThat(warnings()).hasSize(1);
  }

  @Test
  void a_blocking_worker_does_not_continue_the_run_and_a_worker_with_fitting_code_does(
      KagziEnv env) {
    Workflow<String, String> code =
        (ctx, name) -> {
          step(ctx, "charge-" + random.incrementAndGet());
          sleepOneDay(ctx, "nap");
          return "done";
        };
    RunHandle<String> run = start(env);
    Worker worker = worker(env, code).blockNondeterminism(true).start();

    env.advance(Duration.ofHours(30));
    int executed = random.get();
    env.advance(Duration.ofHours(1));

    assertThat(run.status()).isIn(RunStatus.PENDING, RunStatus.RUNNING);
    assertThat(run.info().failure().orElseThrow().metadata())
        .containsEntry("code", "CODE_NONDETERMINISTIC");
    assertThat(run.info().failure().orElseThrow().message())
        .contains("charge-1", "charge-2", "NondeterminismFixture.java:");
    assertThat(random.get()).as("the code is not executed again").isEqualTo(executed);
    worker.close();
    runOneDay(
        env,
        (ctx, name) -> {
          step(ctx, "charge-1");
          sleepOneDay(ctx, "nap");
          return "fits";
        });
    assertThat(run.result()).isEqualTo("fits");
  }

  /** As after a clock that was set back: all steps are recorded, and none is executed again. */
  @Test
  void a_blocking_worker_continues_if_only_the_order_of_recorded_times_differs(KagziEnv env) {
    Workflow<String, String> code =
        (ctx, name) -> {
          List<String> names = new ArrayList<>(List.of("a", "b", "c"));
          Collections.rotate(names, random.getAndIncrement());
          step(ctx, names.toArray(String[]::new));
          sleepOneDay(ctx, "nap");
          return "done";
        };
    RunHandle<String> run = start(env);

    runOneDay(env, code);
    try (Worker worker = worker(env, code).blockNondeterminism(true).start()) {
      env.advance(Duration.ofMinutes(30));
      assertThat(worker.isRegistered()).isTrue();
    }

    assertThat(run.status()).isEqualTo(RunStatus.COMPLETED);
    assertThat(warnings()).hasSize(1);
    assertThat(warnings().getFirst()).contains("the history has a before c");
  }
}
