package dev.kagzi.sdk.e2e;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.kagzi.protocol.v1.Step;
import dev.kagzi.protocol.v1.StepStatus;
import dev.kagzi.sdk.Branch;
import dev.kagzi.sdk.BranchFailedException;
import dev.kagzi.sdk.BranchResult;
import dev.kagzi.sdk.ContextMisuseException;
import dev.kagzi.sdk.InvalidArgumentException;
import dev.kagzi.sdk.NonRetryableException;
import dev.kagzi.sdk.Results;
import dev.kagzi.sdk.Retry;
import dev.kagzi.sdk.RunFailedException;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.RunStatus;
import dev.kagzi.sdk.Workflow;
import dev.kagzi.sdk.WorkflowContext;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Branches of a run: they overlap, wait together, and fail or win independently. */
class BranchesTest extends RealServerTest {
  private final Map<String, AtomicInteger> executions = new ConcurrentHashMap<>();
  private final List<String> log = new CopyOnWriteArrayList<>();
  private final CountDownLatch gate = new CountDownLatch(1);

  @AfterEach
  void openGate() {
    gate.countDown();
  }

  private RunHandle<String> run(Workflow<String, String> code) {
    kagzi.worker().workflow(type, code).start();
    return kagzi.workflow(type).start("Ada");
  }

  private int count(String what) {
    return executions.computeIfAbsent(what, key -> new AtomicInteger()).incrementAndGet();
  }

  private int counted(String what) {
    return executions.getOrDefault(what, new AtomicInteger()).get();
  }

  @Test
  void a_thousand_branches_run_concurrently_and_return_their_results_in_order() {
    int branches = 1_000;
    CountDownLatch all = new CountDownLatch(branches);

    RunHandle<String> run =
        run(
            (ctx, name) -> {
              List<Integer> items = IntStream.range(0, branches).boxed().toList();
              List<Integer> results =
                  ctx.parallel(
                      "meet",
                      items,
                      (branch, item) ->
                          branch.step(
                              "meet",
                              Integer.class,
                              () -> {
                                all.countDown();
                                assertThat(all.await(30, TimeUnit.SECONDS)).isTrue();
                                return item * 2;
                              }));
              return "" + results.equals(items.stream().map(item -> item * 2).toList());
            });

    assertThat(run.result(Duration.ofMinutes(1))).isEqualTo("true");
  }

  @Test
  void branches_of_different_types_return_their_results_by_position() {
    RunHandle<String> run =
        run(
            (ctx, name) -> {
              CyclicBarrier both = new CyclicBarrier(2);
              Results.Of2<Integer, String> results =
                  ctx.parallel(
                      "prepare",
                      Branch.of("stock", b -> b.step("ask", Integer.class, () -> meet(both, 3))),
                      Branch.of(
                          "price",
                          b -> {
                            b.sleep("nap", Duration.ofMillis(50));
                            return b.step("ask", String.class, () -> meet(both, "7"));
                          }));
              return results.first() + " for " + results.second();
            });

    assertThat(run.result(SOON)).isEqualTo("3 for 7");
    assertThat(server.steps(run.runId()))
        .extracting(Step::getStepId)
        .anyMatch(id -> id.contains("/prepare[stock]/ask@"))
        .anyMatch(id -> id.contains("/prepare[price]/nap@"));
    assertThat(server.steps(run.runId())).extracting(Step::getName).contains("ask", "nap");
  }

  private static <T> T meet(CyclicBarrier both, T value) throws Exception {
    both.await(20, TimeUnit.SECONDS);
    return value;
  }

  @Test
  void no_more_branches_are_open_than_allowed() {
    AtomicInteger open = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();

    RunHandle<String> run =
        run(
            (ctx, name) ->
                ""
                    + ctx.parallel("some")
                        .maxParallel(3)
                        .each(
                            IntStream.range(0, 20).boxed().toList(),
                            (branch, item) ->
                                branch.step(
                                    "work",
                                    Integer.class,
                                    () -> {
                                      most.accumulateAndGet(open.incrementAndGet(), Math::max);
                                      Thread.yield();
                                      open.decrementAndGet();
                                      return item;
                                    }))
                        .size());

    assertThat(run.result(SOON)).isEqualTo("20");
    assertThat(most.get()).isBetween(1, 3);
  }

  @Test
  void when_all_branches_sleep_the_run_is_released_and_wakes_for_each_in_turn() {
    RunHandle<String> run =
        run(
            (ctx, name) ->
                ""
                    + ctx.parallel(
                        "sleepers",
                        List.of(1_500, 3_000),
                        (branch, ms) -> {
                          branch.step("before", () -> count("before " + ms));
                          branch.sleep("nap", Duration.ofMillis(ms));
                          return branch.step("after", Integer.class, () -> count("after " + ms));
                        }));

    await().atMost(SOON).until(() -> kagzi.get(run.runId()).status() == RunStatus.SLEEPING);
    assertThat(kagzi.get(run.runId()).workerId()).isEmpty();
    assertThat(run.result(SOON)).isEqualTo("[1, 1]");
    assertThat(counted("before 1500")).isEqualTo(1);
    assertThat(counted("before 3000")).isEqualTo(1);
  }

  @Test
  void while_one_branch_works_the_run_stays_claimed_and_a_sleeper_wakes_on_time() throws Exception {
    RunHandle<String> run =
        run(
            (ctx, name) ->
                ctx.parallel(
                        "both",
                        Branch.of("works", b -> b.step("work", String.class, this::awaitGate)),
                        Branch.of(
                            "sleeps",
                            b -> {
                              b.sleep("nap", Duration.ofMillis(1_200));
                              return b.step("after", String.class, () -> "woke " + count("after"));
                            }))
                    .second());

    await().atMost(SOON).until(() -> counted("after") == 1);
    assertThat(kagzi.get(run.runId()).status()).isEqualTo(RunStatus.RUNNING);
    gate.countDown();
    assertThat(run.result(SOON)).isEqualTo("woke 1");
    assertThat(counted("gate")).as("the run was never given back").isEqualTo(1);
  }

  private String awaitGate() throws InterruptedException {
    count("gate");
    assertThat(gate.await(20, TimeUnit.SECONDS)).isTrue();
    return "worked";
  }

  @Test
  void a_failed_branchs_retry_does_not_repeat_its_neighbours() {
    RunHandle<String> run =
        run(
            (ctx, name) ->
                ""
                    + ctx.parallel(
                        "work",
                        List.of("good", "flaky"),
                        (branch, item) ->
                            branch
                                .step(item)
                                .retry(Retry.fixed(3, Duration.ofMillis(1_300)).jitter(false))
                                .run(
                                    Integer.class,
                                    () -> {
                                      if (count(item) < 2 && item.equals("flaky")) {
                                        throw new IllegalStateException("not yet");
                                      }
                                      return counted(item);
                                    })));

    assertThat(run.result(SOON)).isEqualTo("[1, 2]");
    assertThat(counted("good")).isEqualTo(1);
  }

  @Test
  void the_first_failure_interrupts_the_others_names_its_branch_and_is_thrown_again_on_replay() {
    RunHandle<String> run =
        run(
            (ctx, name) -> {
              try {
                ctx.parallel(
                    "work",
                    Branch.of("bad", b -> b.step("bad", Integer.class, this::fail)),
                    Branch.of("slow", b -> b.step("slow", Integer.class, this::hang)));
                return "no failure";
              } catch (BranchFailedException e) {
                ctx.sleep("think", Duration.ofMillis(1_200));
                return ctx.step(
                    "after", String.class, () -> e.branch() + ": " + e.failure().message());
              }
            });

    assertThat(run.result(SOON)).isEqualTo("bad: declined");
    assertThat(log).containsExactly("interrupted");
    assertThat(counted("hang")).as("not executed on replay").isEqualTo(1);
    assertThat(counted("fail")).isEqualTo(1);
  }

  @Test
  void a_sleep_interrupted_by_another_branchs_failure_is_closed_with_the_run() {
    RunHandle<String> run =
        run(
            (ctx, name) -> {
              try {
                ctx.parallel(
                    "work",
                    Branch.of("bad", this::failOnceTheOtherSleeps),
                    Branch.of("slow", this::sleepLong));
                return "no failure";
              } catch (BranchFailedException e) {
                return "caught";
              }
            });

    assertThat(run.result(SOON)).isEqualTo("caught");
    assertThat(server.steps(run.runId()))
        .filteredOn(step -> step.getName().endsWith("think"))
        .extracting(Step::getStatus)
        .containsExactly(StepStatus.STEP_STATUS_FAILED);
  }

  private Integer failOnceTheOtherSleeps(WorkflowContext ctx) {
    String runId = ctx.runId();
    return ctx.step(
        "bad",
        Integer.class,
        () -> {
          await()
              .atMost(SOON)
              .until(
                  () -> server.steps(runId).stream().anyMatch(s -> s.getName().endsWith("think")));
          throw new NonRetryableException("declined");
        });
  }

  private Integer sleepLong(WorkflowContext ctx) {
    ctx.sleep("think", Duration.ofHours(1));
    return 1;
  }

  private Integer fail() {
    count("fail");
    // The other branch has begun.
    await().atMost(SOON).until(() -> counted("hang") == 1);
    throw new NonRetryableException("declined");
  }

  private Integer hang() {
    count("hang");
    try {
      gate.await();
    } catch (InterruptedException e) {
      log.add("interrupted");
      throw new IllegalStateException(e);
    }
    return 0;
  }

  @Test
  void an_uncaught_branch_failure_fails_the_run_and_its_retry_executes_the_branch_again() {
    kagzi
        .worker()
        .workflow(
            type,
            (ctx, name) ->
                ""
                    + ctx.parallel(
                        "work",
                        List.of("good", "bad"),
                        (branch, item) ->
                            branch
                                .step(item)
                                .retry(Retry.fixed(1, Duration.ofMillis(10)))
                                .run(
                                    Integer.class,
                                    () -> {
                                      if (count(item) == 1 && item.equals("bad")) {
                                        await()
                                            .atMost(SOON)
                                            .until(() -> !server.steps(ctx.runId()).isEmpty());
                                        throw new IllegalStateException("boom");
                                      }
                                      return counted(item);
                                    })))
        .start();
    RunHandle<String> run =
        kagzi.workflow(type).retry(Retry.fixed(2, Duration.ofMillis(10))).start("Ada");

    assertThat(run.result(SOON)).isEqualTo("[1, 2]");
    assertThat(counted("good")).isEqualTo(1);
  }

  @Test
  void collected_branches_return_each_result_or_failure_in_order() {
    RunHandle<String> run =
        run(
            (ctx, name) -> {
              List<BranchResult<Integer>> results =
                  ctx.parallel("work")
                      .collectAll(
                          List.of(1, 2, 3),
                          (branch, item) ->
                              branch.step(
                                  "work",
                                  Integer.class,
                                  () -> {
                                    if (item == 2) {
                                      throw new NonRetryableException("two");
                                    }
                                    return item;
                                  }));
              List<String> texts = new ArrayList<>();
              for (BranchResult<Integer> result : results) {
                texts.add(
                    switch (result) {
                      case BranchResult.Done<Integer> done -> "" + done.value();
                      case BranchResult.Failed<Integer> failed ->
                          failed.branch() + " " + failed.cause().getClass().getSimpleName();
                    });
              }
              return texts.toString();
            });

    assertThat(run.result(SOON)).isEqualTo("[1, 1 StepFailedException, 3]");
  }

  @Test
  void the_first_result_wins_the_others_are_interrupted_and_do_not_run_on_replay() {
    RunHandle<String> run =
        run(
            (ctx, name) -> {
              String winner =
                  ctx.race(
                      "fastest",
                      Branch.of("slow", b -> b.step("slow", String.class, () -> "" + hang())),
                      Branch.of(
                          "quick",
                          b -> {
                            await().atMost(SOON).until(() -> counted("hang") == 1);
                            return b.step("quick", String.class, () -> "quick " + count("quick"));
                          }));
              ctx.sleep("think", Duration.ofMillis(1_200));
              return winner;
            });

    assertThat(run.result(SOON)).isEqualTo("quick 1");
    assertThat(counted("hang")).isEqualTo(1);
    assertThat(log).containsExactly("interrupted");
  }

  @Test
  void a_losing_branch_that_ends_late_changes_nothing_and_is_shown_as_interrupted()
      throws Exception {
    CountDownLatch left = new CountDownLatch(1);
    RunHandle<String> run =
        run(
            (ctx, name) -> {
              String winner =
                  ctx.race(
                      "fastest",
                      Branch.of(
                          "deaf",
                          b ->
                              b.step(
                                  "deaf",
                                  String.class,
                                  () -> {
                                    count("deaf");
                                    awaitUninterruptibly(gate);
                                    left.countDown();
                                    return "late";
                                  })),
                      Branch.of(
                          "quick",
                          b -> {
                            await().atMost(SOON).until(() -> hasOpenStep(ctx));
                            return b.step("quick", String.class, () -> "quick");
                          }));
              ctx.step("release", () -> gate.countDown());
              assertThat(left.await(10, TimeUnit.SECONDS)).isTrue();
              return ctx.step("after", String.class, () -> winner);
            });

    assertThat(run.result(SOON)).isEqualTo("quick");
    assertThat(server.steps(run.runId()))
        .filteredOn(step -> step.getName().equals("deaf"))
        .hasSize(1)
        .allSatisfy(
            step -> {
              assertThat(step.getStatus()).isEqualTo(StepStatus.STEP_STATUS_FAILED);
              assertThat(step.getError().getMessage()).contains("interrupted", "has won");
              assertThat(step.hasOutput()).isFalse();
            });
  }

  private boolean hasOpenStep(WorkflowContext ctx) {
    return server.steps(ctx.runId()).stream()
        .anyMatch(step -> step.getStatus() == StepStatus.STEP_STATUS_RUNNING);
  }

  private void awaitUninterruptibly(CountDownLatch latch) {
    while (true) {
      try {
        latch.await();
        return;
      } catch (InterruptedException e) {
        log.add("deaf");
      }
    }
  }

  @Test
  void a_race_in_which_all_branches_fail_throws_the_failure_of_the_first() {
    RunHandle<String> run =
        run(
            (ctx, name) -> {
              try {
                return ctx.race(
                    "none",
                    Branch.of("a", b -> bad(b, "a")),
                    Branch.of("b", b -> bad(b, "b")),
                    Branch.of("c", b -> bad(b, "c")));
              } catch (BranchFailedException e) {
                return e.group() + " " + e.branch() + " " + e.code();
              }
            });

    assertThat(run.result(SOON)).isEqualTo("none a BRANCH_FAILED");
  }

  private static String bad(WorkflowContext ctx, String what) {
    return ctx.step(
        "bad",
        String.class,
        () -> {
          throw new NonRetryableException(what);
        });
  }

  @Test
  void branches_nest_and_a_crash_repeats_only_unfinished_steps() {
    AtomicInteger lives = new AtomicInteger();
    RunHandle<String> run =
        run(
            (ctx, name) ->
                ""
                    + ctx.parallel(
                        "outer",
                        List.of("a", "b"),
                        (outer, o) ->
                            outer.parallel(
                                "inner",
                                List.of(1, 2),
                                (inner, i) -> {
                                  int done =
                                      inner.step("one", Integer.class, () -> count("one" + o + i));
                                  if (o.equals("b") && i == 2 && lives.getAndIncrement() == 0) {
                                    await()
                                        .atMost(SOON)
                                        .until(() -> server.steps(ctx.runId()).size() >= 4);
                                    // Same effect as a crash: the worker loses the run.
                                    forceOffline(ctx);
                                    gate.await();
                                  }
                                  return done
                                      + inner.step(
                                          "two", Integer.class, () -> count("two" + o + i));
                                })));

    assertThat(run.result(SOON)).isEqualTo("[[2, 2], [2, 2]]");
    assertThat(counted("oneb2")).isEqualTo(1);
    assertThat(counted("onea1")).isEqualTo(1);
  }

  private void forceOffline(WorkflowContext ctx) {
    server
        .admin()
        .forceOfflineWorker(
            dev.kagzi.protocol.v1.ForceOfflineWorkerRequest.newBuilder()
                .setWorkerId(kagzi.get(ctx.runId()).workerId().orElseThrow())
                .setReason("test")
                .build());
  }

  @Test
  void contexts_belong_to_their_branches_and_names_are_checked() {
    RunHandle<String> run =
        run(
            (ctx, name) -> {
              List<String> codes = new ArrayList<>();
              codes.add(
                  ctx.parallel(
                          "one",
                          List.of(1),
                          (branch, item) -> {
                            try {
                              ctx.step("outer", () -> {});
                              return "nothing";
                            } catch (ContextMisuseException e) {
                              return e.code();
                            }
                          })
                      .get(0));
              try {
                ctx.parallel("two", Branch.of("x", b -> 1), Branch.of("x", b -> 2));
              } catch (InvalidArgumentException e) {
                codes.add(e.code());
              }
              try {
                Branch.of("x/y", b -> 1);
              } catch (InvalidArgumentException e) {
                codes.add(e.code());
              }
              return String.join(" ", codes);
            });

    assertThat(run.result(SOON)).isEqualTo("CONTEXT_OTHER_BRANCH DUPLICATE_BRANCH INVALID_NAME");
  }

  @Test
  void another_runs_context_is_refused_by_its_own_code() throws Exception {
    Map<String, WorkflowContext> contexts = new ConcurrentHashMap<>();
    kagzi
        .worker()
        .workflow(
            type,
            (ctx, name) -> {
              contexts.put(name, ctx);
              if (name.equals("first")) {
                gate.await();
                return "done";
              }
              WorkflowContext first = requireNonNull(contexts.get("first"));
              assertThatThrownBy(() -> first.step("mine", () -> {}))
                  .isInstanceOfSatisfying(
                      ContextMisuseException.class,
                      e -> assertThat(e.code()).isEqualTo("CONTEXT_OTHER_RUN"));
              return "refused";
            })
        .start();
    RunHandle<String> first = kagzi.workflow(type).start("first");
    await().atMost(SOON).until(() -> contexts.containsKey("first"));

    assertThat(kagzi.workflow(type).start("second").result(SOON)).isEqualTo("refused");
    gate.countDown();
    assertThat(first.result(SOON)).isEqualTo("done");
    WorkflowContext ended = requireNonNull(contexts.get("first"));
    assertThatThrownBy(() -> ended.step("late", () -> {}))
        .isInstanceOf(ContextMisuseException.class);
  }

  @Test
  void a_result_that_is_too_large_fails_its_branch_and_no_other() {
    RunHandle<String> run =
        run(
            (ctx, name) ->
                ""
                    + ctx
                        .parallel("work")
                        .collectAll(
                            List.of(1, 3 << 20, 2),
                            (branch, size) ->
                                branch.step("make", String.class, () -> "x".repeat(size)).length())
                        .stream()
                        .map(BranchResult::isDone)
                        .toList());

    assertThat(run.result(SOON)).isEqualTo("[true, false, true]");
  }

  @Test
  void an_uncaught_failure_shows_the_steps_own_error() {
    RunHandle<String> run =
        run((ctx, name) -> ctx.parallel("work", List.of(1), (b, item) -> bad(b, "why")).get(0));

    assertThatThrownBy(() -> run.result(SOON))
        .isInstanceOfSatisfying(
            RunFailedException.class,
            e -> {
              assertThat(e.failure().message()).isEqualTo("why");
              assertThat(e.failure().metadata()).containsEntry("branch", "0");
            });
  }
}
