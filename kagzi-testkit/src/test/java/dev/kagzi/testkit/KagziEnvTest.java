package dev.kagzi.testkit;

import static dev.kagzi.testkit.KagziAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kagzi.sdk.Retry;
import dev.kagzi.sdk.RunFailedException;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.RunStatus;
import dev.kagzi.sdk.WorkflowType;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(KagziExtension.class)
class KagziEnvTest {
  private static final Duration SOON = Duration.ofSeconds(20);

  private static final WorkflowType<String, String> REMIND =
      WorkflowType.of("remind", String.class, String.class).queue("q");

  private static final WorkflowType<Duration, String> NAP =
      WorkflowType.of("nap", Duration.class, String.class).queue("q");

  @Test
  void a_month_of_sleep_and_four_retries_take_well_under_a_second(KagziEnv env) {
    AtomicInteger calls = new AtomicInteger();
    env.worker()
        .workflow(
            REMIND,
            (ctx, name) -> {
              ctx.sleep("month", Duration.ofDays(30));
              return ctx.step("mail")
                  .retry(Retry.exponential(5).initial(Duration.ofMinutes(1)))
                  .run(
                      String.class,
                      () -> {
                        if (calls.incrementAndGet() < 5) {
                          throw new IllegalStateException("not yet");
                        }
                        return "reminded " + name;
                      });
            })
        .start();
    RunHandle<String> run = env.kagzi().workflow(REMIND).start("Ada");
    env.settle();
    assertThat(run.status()).isEqualTo(RunStatus.SLEEPING);
    Instant before = env.now();
    long began = System.nanoTime();

    env.advance(Duration.ofDays(29));
    assertThat(run.status()).isEqualTo(RunStatus.SLEEPING);
    env.advance(Duration.ofDays(2));

    assertThat(run.status()).isEqualTo(RunStatus.COMPLETED);
    assertThat(run.result()).isEqualTo("reminded Ada");
    assertThat(calls).hasValue(5);
    assertThat(Duration.between(before, env.now()))
        .isBetween(Duration.ofDays(31), Duration.ofDays(31).plus(SOON));
    System.out.println(
        "31 days took " + TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - began) + " ms");
  }

  @Test
  void a_month_of_sleep_four_retries_and_a_child_take_less_than_a_second(KagziEnv env) {
    WorkflowType<String, String> letter =
        WorkflowType.of("letter", String.class, String.class).queue("q");
    AtomicInteger calls = new AtomicInteger();
    env.worker()
        .workflow(letter, (ctx, name) -> ctx.step("print", String.class, () -> "Dear " + name))
        .workflow(
            REMIND,
            (ctx, name) -> {
              ctx.sleep("month", Duration.ofDays(30));
              ctx.step("mail")
                  .retry(Retry.exponential(5).initial(Duration.ofMinutes(1)))
                  .run(
                      () -> {
                        if (calls.incrementAndGet() < 5) {
                          throw new IllegalStateException("not yet");
                        }
                      });
              return ctx.child(letter).start("letter", name).result();
            })
        .start();

    List<Duration> took = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      calls.set(0);
      long began = System.nanoTime();
      RunHandle<String> run = env.kagzi().workflow(REMIND).start("Ada");
      env.advance(Duration.ofDays(31));
      assertThat(run).completedWith("Dear Ada").executedStep("mail").times(5);
      took.add(Duration.ofNanos(System.nanoTime() - began));
    }

    // The first round loads classes; in at least one later round the machine was not busy.
    System.out.println("31 days took " + took);
    assertThat(Collections.min(took.subList(1, 4))).isLessThan(Duration.ofSeconds(1));
  }

  @Test
  void everything_due_on_the_way_happens_in_order_and_at_its_time(KagziEnv env) {
    List<String> order = Collections.synchronizedList(new ArrayList<>());
    Instant start = env.now();
    env.worker()
        .workflow(
            REMIND,
            (ctx, name) -> {
              for (int day = 1; day <= 3; day++) {
                ctx.sleep("day", Duration.ofDays(name.equals("slow") ? 2 : 1));
                ctx.step(
                    "note",
                    String.class,
                    () -> {
                      order.add(name + Duration.between(start, env.now()).toDays());
                      return "";
                    });
              }
              return name;
            })
        .start();
    env.kagzi().workflow(REMIND).start("fast");
    env.kagzi().workflow(REMIND).start("slow");

    env.advance(Duration.ofDays(10));

    assertThat(order)
        .containsExactlyInAnyOrder("fast1", "fast2", "slow2", "fast3", "slow4", "slow6");
    assertThat(order.indexOf("fast1")).isZero();
    assertThat(order.subList(3, 6)).containsExactly("fast3", "slow4", "slow6");
  }

  /** Each pair has another distance, so that one of them becomes due between any two checks. */
  @Test
  void runs_that_become_due_while_the_clock_keeps_running_are_not_skipped(KagziEnv env) {
    List<Duration> late = Collections.synchronizedList(new ArrayList<>());
    env.worker()
        .workflow(
            NAP,
            (ctx, time) -> {
              Instant due = ctx.step("due", Instant.class, () -> env.now().plus(time));
              ctx.sleep("nap", time);
              late.add(Duration.between(due, env.now()));
              return "";
            })
        .start();

    for (int i = 0; i < 100; i++) {
      env.kagzi().workflow(NAP).start(Duration.ofDays(1));
      env.kagzi().workflow(NAP).start(Duration.ofDays(1).plusNanos(i * 100_000L));
      env.advance(Duration.ofDays(3));
    }

    assertThat(late).hasSize(200).allMatch(by -> by.compareTo(Duration.ofHours(1)) < 0);
  }

  @Test
  void the_clock_does_not_move_before_a_started_worker_is_registered(KagziEnv env) {
    RunHandle<String> run = env.kagzi().workflow(REMIND).start("Ada");
    env.settle();
    assertThat(run).hasStatus(RunStatus.PENDING);

    env.worker().workflow(REMIND, (ctx, name) -> name).start();
    env.settle();

    assertThat(run).hasStatus(RunStatus.COMPLETED);
  }

  @Test
  void a_deadline_that_is_passed_ends_the_run(KagziEnv env) {
    RunHandle<String> run =
        env.kagzi().workflow(REMIND).executionTimeout(Duration.ofHours(1)).start("Ada");

    env.advance(Duration.ofMinutes(59));
    assertThat(run.status()).isEqualTo(RunStatus.PENDING);
    env.advance(Duration.ofMinutes(2));

    assertThat(run.status()).isEqualTo(RunStatus.TIMED_OUT);
    assertThatThrownBy(() -> run.result(SOON)).isInstanceOf(RunFailedException.class);
  }

  @Test
  void the_run_of_a_lost_worker_continues_where_it_was(KagziEnv env) throws Exception {
    AtomicInteger first = new AtomicInteger();
    AtomicInteger second = new AtomicInteger();
    CountDownLatch inSecond = new CountDownLatch(1);
    env.worker()
        .workflow(
            REMIND,
            (ctx, name) -> {
              ctx.step("first", Integer.class, first::incrementAndGet);
              return ctx.step(
                  "second",
                  String.class,
                  () -> {
                    if (second.incrementAndGet() == 1) {
                      inSecond.countDown();
                      new CountDownLatch(1).await();
                    }
                    return "done";
                  });
            })
        .start();
    RunHandle<String> run = env.kagzi().workflow(REMIND).start("Ada");
    assertThat(inSecond.await(20, TimeUnit.SECONDS)).isTrue();

    env.loseWorkers();

    assertThat(run.result(SOON)).isEqualTo("done");
    assertThat(first).hasValue(1);
    assertThat(second).hasValue(2);
  }

  @Test
  void workers_stay_online_when_the_clock_moves(KagziEnv env) throws Exception {
    CountDownLatch inStep = new CountDownLatch(1);
    CountDownLatch go = new CountDownLatch(1);
    AtomicInteger executions = new AtomicInteger();
    env.worker()
        .workflow(
            REMIND,
            (ctx, name) ->
                ctx.step("wait")
                    .timeout(Duration.ofDays(30))
                    .run(
                        String.class,
                        () -> {
                          executions.incrementAndGet();
                          inStep.countDown();
                          go.await();
                          return name;
                        }))
        .start();
    env.settle();
    RunHandle<String> run = env.kagzi().workflow(REMIND).start("Ada");
    assertThat(inStep.await(20, TimeUnit.SECONDS)).isTrue();

    env.advanceNow(Duration.ofDays(1));
    go.countDown();

    assertThat(run.result(SOON)).isEqualTo("Ada");
    assertThat(executions).hasValue(1);
  }

  @Test
  void environments_do_not_share_runs_or_clock(KagziEnv env) {
    try (KagziEnv other = KagziEnv.start("other")) {
      RunHandle<String> run = env.kagzi().workflow(REMIND).id("same").start("Ada");

      other.advance(Duration.ofDays(365));

      assertThat(Duration.between(env.now(), other.now())).isGreaterThan(Duration.ofDays(364));
      assertThat(other.kagzi().list().page().runs()).isEmpty();
      assertThat(other.kagzi().workflow(REMIND).id("same").start("Ada").runId())
          .isNotEqualTo(run.runId());
      assertThat(env.namespace()).isEqualTo("environments_do_not_share_runs_or_clock");
    }
  }

  @Test
  void a_run_that_cannot_be_explained_does_not_hide_what_the_others_do(KagziEnv env) {
    env.worker().workflow(NAP, (ctx, time) -> "").start();
    RunHandle<String> unserved = env.kagzi().workflow(REMIND).start("Ada");
    String deleted = "01920000-0000-7000-8000-000000000000";

    String text =
        env.explanations(
            List.of(
                new TestDatabase.BusyRun(env.namespace(), deleted),
                new TestDatabase.BusyRun(env.namespace(), "no id"),
                new TestDatabase.BusyRun(env.namespace(), unserved.runId())));

    assertThat(text.strip().lines())
        .satisfiesExactly(
            first -> assertThat(first).startsWith("run " + deleted + ": cannot be explained: "),
            second -> assertThat(second).startsWith("run no id: cannot be explained: "),
            third -> assertThat(third).startsWith("run " + unserved.runId()).contains("remind"));
  }
}
