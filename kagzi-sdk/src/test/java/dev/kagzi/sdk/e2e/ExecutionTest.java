package dev.kagzi.sdk.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kagzi.protocol.v1.Step;
import dev.kagzi.sdk.NonRetryableException;
import dev.kagzi.sdk.Retry;
import dev.kagzi.sdk.RetryAfterException;
import dev.kagzi.sdk.RunFailedException;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.StepFailedException;
import dev.kagzi.sdk.TypeRef;
import dev.kagzi.sdk.WorkflowType;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class ExecutionTest extends RealServerTest {
  private final List<Long> times = new CopyOnWriteArrayList<>();
  private final AtomicInteger executions = new AtomicInteger();

  record Item(String name, int count) {}

  record Basket(List<Item> items, Map<String, Instant> seen) {}

  @Test
  void steps_return_records_lists_and_nulls() {
    WorkflowType<Basket, List<Item>> shop =
        WorkflowType.of("shop", new TypeRef<Basket>() {}, new TypeRef<List<Item>>() {})
            .queue(queue);
    kagzi
        .worker()
        .workflow(
            shop,
            (ctx, basket) -> {
              ctx.step("nothing", String.class, () -> null);
              return ctx.step("pack", new TypeRef<List<Item>>() {}, basket::items);
            })
        .start();
    Basket basket = new Basket(List.of(new Item("tea", 2)), Map.of("a", Instant.EPOCH));

    assertThat(kagzi.workflow(shop).start(basket).result(SOON)).isEqualTo(basket.items());
  }

  @Test
  void a_failing_step_follows_its_own_policy_with_exact_delays_when_jitter_is_off() {
    kagzi
        .worker()
        .workflow(
            type,
            (ctx, name) ->
                ctx.step("flaky")
                    .retry(
                        Retry.exponential(4)
                            .initial(Duration.ofMillis(300))
                            .coefficient(3)
                            .max(Duration.ofMillis(900))
                            .jitter(false))
                    .run(String.class, () -> failUntil(4)))
        .start();

    RunHandle<String> run =
        kagzi.workflow(type).retry(Retry.fixed(2, Duration.ofSeconds(60))).start("Ada");

    assertThat(run.result(SOON)).isEqualTo("done");
    assertThat(gapMs(1)).isBetween(300L, 890L);
    assertThat(gapMs(2)).isBetween(900L, 2_690L);
    assertThat(gapMs(3)).as("capped").isBetween(900L, 2_690L);
    assertThat(server.steps(run.runId())).extracting(Step::getAttemptNumber).contains(1, 2, 3, 4);
  }

  @Test
  void a_long_backoff_frees_the_worker_and_ends_on_time() {
    kagzi
        .worker()
        .workflow(
            type,
            (ctx, name) -> {
              ctx.step("before", () -> executions.addAndGet(100));
              return ctx.step("flaky")
                  .retry(Retry.fixed(2, Duration.ofMillis(1_500)).jitter(false))
                  .run(String.class, () -> failUntil(2));
            })
        .start();

    assertThat(kagzi.workflow(type).start("Ada").result(SOON)).isEqualTo("done");
    assertThat(gapMs(1)).isBetween(1_500L, 2_500L);
    assertThat(executions).as("the first step ran once").hasValue(102);
  }

  @Test
  void the_runs_policy_applies_to_the_run_and_to_steps_without_their_own() {
    kagzi
        .worker()
        .workflow(type, (ctx, name) -> ctx.step("flaky", String.class, () -> failUntil(99)))
        .start();

    RunHandle<String> run =
        kagzi.workflow(type).retry(Retry.fixed(2, Duration.ofMillis(50))).start("Ada");

    assertThatThrownBy(() -> run.result(SOON)).isInstanceOf(RunFailedException.class);
    assertThat(executions).as("two attempts of the step in each of two of the run").hasValue(4);
  }

  @Test
  void without_any_policy_a_step_has_three_attempts() {
    kagzi
        .worker()
        .workflow(
            type,
            (ctx, name) ->
                ctx.step(
                    "flaky",
                    String.class,
                    () -> {
                      executions.incrementAndGet();
                      throw new RetryAfterException("again", Duration.ofMillis(20));
                    }))
        .start();

    assertThatThrownBy(() -> kagzi.workflow(type).start("Ada").result(SOON))
        .isInstanceOf(RunFailedException.class)
        .hasMessageContaining("again");
    assertThat(executions).hasValue(3);
  }

  @Test
  void a_final_failure_can_be_caught_and_is_thrown_again_after_a_suspension() {
    kagzi
        .worker()
        .workflow(
            type,
            (ctx, name) -> {
              try {
                ctx.step(
                    "charge",
                    () -> {
                      executions.incrementAndGet();
                      throw new NonRetryableException("declined");
                    });
                return "charged";
              } catch (StepFailedException e) {
                ctx.sleep("think", Duration.ofMillis(1_200));
                return ctx.step("refund", String.class, () -> "refunded, " + e.failure().message());
              }
            })
        .start();

    assertThat(kagzi.workflow(type).start("Ada").result(SOON)).isEqualTo("refunded, declined");
    assertThat(executions).hasValue(1);
  }

  @Test
  void short_and_long_sleeps_and_sleeps_of_the_same_name_last_their_duration() {
    kagzi
        .worker()
        .workflow(
            type,
            (ctx, name) -> {
              ctx.step("mark", () -> times.add(System.nanoTime()));
              ctx.sleep("nap", Duration.ofMillis(400));
              ctx.step("mark", () -> times.add(System.nanoTime()));
              ctx.sleep("nap", "1500 ms");
              ctx.step("mark", () -> times.add(System.nanoTime()));
              ctx.sleep("nap", Duration.ZERO);
              ctx.sleepUntil("past", Instant.EPOCH);
              return "rested";
            })
        .start();

    assertThat(kagzi.workflow(type).start("Ada").result(SOON)).isEqualTo("rested");
    assertThat(gapMs(1)).isBetween(400L, 1_400L);
    assertThat(gapMs(2)).isBetween(1_500L, 3_000L);
    assertThat(times).hasSize(3);
  }

  @Test
  void a_history_that_is_too_long_for_a_task_is_replayed_all_the_same() {
    int steps = 2_500;
    kagzi
        .worker()
        .workflow(
            type,
            (ctx, name) -> {
              long sum = 0;
              for (int i = 0; i < steps; i++) {
                String value =
                    ctx.step(
                        "work",
                        String.class,
                        () -> "x".repeat(2_000) + executions.incrementAndGet());
                sum += value.length();
              }
              ctx.sleep("pause", Duration.ofMillis(1_100));
              return "" + sum;
            })
        .start();

    String result = kagzi.workflow(type).start("Ada").result(Duration.ofMinutes(2));

    assertThat(Long.parseLong(result)).isGreaterThan(2_000L * steps);
    assertThat(executions).hasValue(steps);
  }

  @Test
  void a_result_over_the_servers_limit_fails_its_step() {
    kagzi
        .worker()
        .workflow(
            type,
            (ctx, name) -> {
              try {
                ctx.step("big", String.class, () -> "x".repeat(3 << 20));
                ctx.step("next", () -> executions.incrementAndGet());
                return "stored";
              } catch (StepFailedException e) {
                return "failed: " + e.failure().message();
              }
            })
        .start();

    assertThat(kagzi.workflow(type).start("Ada").result(SOON)).startsWith("failed: ");
    assertThat(executions).hasValue(0);
  }

  private String failUntil(int attempt) {
    times.add(System.nanoTime());
    if (executions.incrementAndGet() % 100 < attempt) {
      throw new IllegalStateException("attempt " + executions.get());
    }
    return "done";
  }

  private long gapMs(int i) {
    return (times.get(i) - times.get(i - 1)) / 1_000_000;
  }
}
