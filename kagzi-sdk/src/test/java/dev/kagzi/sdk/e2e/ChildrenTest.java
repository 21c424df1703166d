package dev.kagzi.sdk.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.kagzi.protocol.v1.Step;
import dev.kagzi.protocol.v1.StepKind;
import dev.kagzi.protocol.v1.StepStatus;
import dev.kagzi.sdk.Branch;
import dev.kagzi.sdk.ChildFailedException;
import dev.kagzi.sdk.ChildHandle;
import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.NonRetryableException;
import dev.kagzi.sdk.Retry;
import dev.kagzi.sdk.RunFailedException;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.RunInfo;
import dev.kagzi.sdk.RunStatus;
import dev.kagzi.sdk.Workflow;
import dev.kagzi.sdk.WorkflowType;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Child runs. */
class ChildrenTest extends RealServerTest {
  private final AtomicInteger executions = new AtomicInteger();
  private final CountDownLatch gate = new CountDownLatch(1);

  @AfterEach
  void openGate() {
    gate.countDown();
  }

  private WorkflowType<Integer, Integer> child() {
    return WorkflowType.of("child", Integer.class, Integer.class).queue(queue);
  }

  private void serve(Workflow<String, String> parent, Workflow<Integer, Integer> child) {
    kagzi.worker().workflow(type, parent).workflow(child(), child).maxConcurrent(50).start();
  }

  private List<RunInfo> childrenOf(RunHandle<?> run) {
    return kagzi.list().parent(run.runId()).page().runs();
  }

  private Step step(RunHandle<?> run, String name) {
    return server.steps(run.runId()).stream()
        .filter(step -> step.getName().equals(name))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void a_parent_waits_for_its_child_without_a_slot_and_lineage_goes_both_ways() {
    serve(
        (ctx, name) -> {
          executions.incrementAndGet();
          ChildHandle<Integer> child = ctx.child(child()).start("double", 21);
          return child.result() + " by " + child.runId();
        },
        (ctx, n) -> {
          gate.await();
          return ctx.step("double", Integer.class, () -> 2 * n);
        });
    RunHandle<String> run = kagzi.workflow(type).start("Ada");

    await().atMost(SOON).until(() -> kagzi.get(run.runId()).status() == RunStatus.SLEEPING);
    assertThat(kagzi.get(run.runId()).workerId()).isEmpty();
    RunInfo child = childrenOf(run).get(0);
    assertThat(step(run, "double").getChildRunId()).isEqualTo(child.runId());
    assertThat(step(run, "double").getKind()).isEqualTo(StepKind.STEP_KIND_CHILD_WORKFLOW);
    gate.countDown();

    assertThat(run.result(SOON)).isEqualTo("42 by " + child.runId());
    assertThat(executions).as("started, and continued once").hasValue(2);
    assertThat(step(run, "double").getStatus()).isEqualTo(StepStatus.STEP_STATUS_COMPLETED);
    assertThat(kagzi.get(child.runId()).parentRunId()).contains(run.runId());
    assertThat(kagzi.get(child.runId()).parentStep()).contains("double");
  }

  @Test
  void hundreds_of_children_are_started_and_awaited_together() {
    int count = 500;
    serve(
        (ctx, name) -> {
          executions.incrementAndGet();
          List<ChildHandle<Integer>> all = new ArrayList<>();
          for (int i = 0; i < count; i++) {
            all.add(ctx.child(child()).start("square", i));
          }
          return "" + ctx.results(all).stream().mapToInt(Integer::intValue).sum();
        },
        (ctx, n) -> ctx.step("square", Integer.class, () -> n * n));

    RunHandle<String> run = kagzi.workflow(type).start("Ada");

    assertThat(run.result(Duration.ofMinutes(1)))
        .isEqualTo("" + count * (count - 1) * (2 * count - 1) / 6);
    assertThat(executions.get()).as("few wake-ups").isLessThan(5);
  }

  @Test
  void children_in_branches_are_awaited_while_other_branches_work() {
    serve(
        (ctx, name) ->
            ctx.parallel(
                    "both",
                    Branch.of(
                        "child",
                        b -> {
                          int n = b.child(child()).run("double", 4);
                          return b.step(
                              "then", String.class, () -> "" + (n + executions.incrementAndGet()));
                        }),
                    Branch.of("work", b -> b.step("work", String.class, this::untilTheOtherIsDone)))
                .first(),
        (ctx, n) -> ctx.step("double", Integer.class, () -> 2 * n));

    assertThat(kagzi.workflow(type).start("Ada").result(SOON)).isEqualTo("9");
  }

  private String untilTheOtherIsDone() {
    await().atMost(SOON).until(() -> executions.get() == 1);
    return "worked";
  }

  @Test
  void a_childs_failure_is_a_typed_exception_that_a_replay_throws_again() {
    serve(
        (ctx, name) -> {
          try {
            ctx.child(child()).run("bad", 1);
            return "no failure";
          } catch (ChildFailedException e) {
            ctx.sleep("think", Duration.ofMillis(1_100));
            return e.status() + " " + e.failure().message() + " " + e.step() + " " + e.code();
          }
        },
        (ctx, n) -> {
          executions.incrementAndGet();
          throw new NonRetryableException("declined");
        });

    assertThat(kagzi.workflow(type).start("Ada").result(SOON))
        .isEqualTo("FAILED declined bad CHILD_FAILED");
    assertThat(executions).hasValue(1);
  }

  @Test
  void an_uncaught_child_failure_fails_the_parent_and_its_next_attempt_starts_a_new_child() {
    serve(
        (ctx, name) -> "" + ctx.child(child()).run("flaky", 1),
        (ctx, n) -> {
          if (executions.incrementAndGet() == 1) {
            throw new IllegalStateException("boom");
          }
          return executions.get();
        });

    RunHandle<String> once = kagzi.workflow(type).start("once");
    assertThatThrownBy(() -> once.result(SOON))
        .isInstanceOfSatisfying(
            RunFailedException.class, e -> assertThat(e.failure().message()).isEqualTo("boom"));
    executions.set(0);
    RunHandle<String> twice =
        kagzi.workflow(type).retry(Retry.fixed(2, Duration.ofMillis(10))).start("twice");

    assertThat(twice.result(SOON)).isEqualTo("2");
    assertThat(childrenOf(twice)).hasSize(2);
  }

  @Test
  void a_cancel_reaches_children_at_every_level_unless_they_are_detached() throws Exception {
    Set<Integer> reached = ConcurrentHashMap.newKeySet();
    CountDownLatch begun = new CountDownLatch(3);
    serve(
        (ctx, name) -> {
          String detached = ctx.child(child()).startDetached("alone", 100);
          assertThat(detached).isNotEmpty();
          return "" + ctx.child(child()).run("down", 2);
        },
        (ctx, n) -> {
          if (n > 0 && n < 100) {
            begun.countDown();
            return ctx.child(child()).run("down", n - 1);
          }
          return ctx.step(
              "hang",
              Integer.class,
              () -> {
                if (n == 0) {
                  begun.countDown();
                }
                try {
                  gate.await();
                } catch (InterruptedException e) {
                  reached.add(n);
                  throw e;
                }
                return n;
              });
        });
    RunHandle<String> run = kagzi.workflow(type).start("Ada");
    assertThat(begun.await(10, TimeUnit.SECONDS)).isTrue();

    run.cancel();

    await().atMost(Duration.ofSeconds(1)).until(() -> reached.contains(0));
    List<RunInfo> children = childrenOf(run);
    await()
        .atMost(SOON)
        .until(
            () ->
                children.stream()
                        .filter(child -> kagzi.get(child.runId()).status() == RunStatus.CANCELLED)
                        .count()
                    == 1);
    assertThat(reached).containsExactly(0);
    gate.countDown();
    await()
        .atMost(SOON)
        .until(
            () ->
                children.stream()
                    .anyMatch(child -> kagzi.get(child.runId()).status() == RunStatus.COMPLETED));
  }

  @Test
  void fifty_levels_of_children_complete() {
    serve(
        (ctx, name) -> "" + ctx.child(child()).run("down", 50),
        (ctx, n) -> n == 0 ? 0 : 1 + ctx.child(child()).run("down", n - 1));

    assertThat(kagzi.workflow(type).start("Ada").result(Duration.ofMinutes(1))).isEqualTo("50");
  }

  @Test
  void a_resumed_parent_waits_again_for_the_child_that_continued_meanwhile() {
    serve(
        (ctx, name) -> {
          ChildHandle<Integer> child = ctx.child(child()).start("slow", 5);
          ctx.step(
              "check",
              () -> {
                if (executions.incrementAndGet() == 1) {
                  throw new NonRetryableException("closed");
                }
              });
          return "" + child.result();
        },
        (ctx, n) -> {
          gate.await();
          return n;
        });
    RunHandle<String> run = kagzi.workflow(type).start("Ada");
    assertThatThrownBy(() -> run.result(SOON)).isInstanceOf(RunFailedException.class);
    gate.countDown();
    String child = childrenOf(run).get(0).runId();
    await().atMost(SOON).until(() -> kagzi.get(child).status() == RunStatus.COMPLETED);

    run.resume();

    assertThat(run.result(SOON)).isEqualTo("5");
    assertThat(childrenOf(run)).hasSize(1);
  }

  @Test
  void a_run_started_by_a_step_shows_its_parent_and_survives_its_cancel() {
    serve(
        (ctx, name) -> {
          ctx.step("spawn", () -> kagzi.workflow(child()).id("spawned").start(1));
          gate.await();
          return "done";
        },
        (ctx, n) -> {
          gate.await();
          return n;
        });
    RunHandle<String> run = kagzi.workflow(type).start("Ada");
    await().atMost(SOON).until(() -> childrenOf(run).size() == 1);

    run.cancel();

    RunInfo spawned = kagzi.getByWorkflowId("spawned");
    assertThat(spawned.parentRunId()).contains(run.runId());
    assertThat(spawned.parentStep()).contains("spawn");
    gate.countDown();
    await().atMost(SOON).until(() -> kagzi.get(spawned.runId()).status() == RunStatus.COMPLETED);
  }

  /**
   * Two branches await one child. The other child continues, and its step completes with its start.
   */
  @Test
  void a_child_that_two_branches_await_does_not_hide_one_that_nobody_awaits() {
    List<Thread> waiting = new CopyOnWriteArrayList<>();
    CountDownLatch both = new CountDownLatch(2);
    serve(
        (ctx, name) -> {
          ChildHandle<Integer> awaited = ctx.child(child()).start("awaited", 1);
          ctx.child(child()).start("alone", 0);
          ctx.parallel("three")
              .each(
                  List.of("a", "b", "works"),
                  (branch, item) -> {
                    if (item.equals("works")) {
                      branch.step(
                          "work",
                          () -> {
                            await()
                                .atMost(SOON)
                                .until(
                                    () ->
                                        waiting.size() == 2
                                            && waiting.stream()
                                                .allMatch(
                                                    t -> t.getState() == Thread.State.WAITING));
                            gate.countDown();
                            both.await();
                          });
                      return 0;
                    }
                    waiting.add(Thread.currentThread());
                    int result = awaited.result();
                    both.countDown();
                    return result;
                  });
          return "done";
        },
        (ctx, n) -> {
          if (n == 1) {
            gate.await();
          } else {
            ctx.sleep("long", "1h");
          }
          return n;
        });
    RunHandle<String> run = kagzi.workflow(type).start("Ada");

    assertThat(run.result(SOON)).isEqualTo("done");
    assertThat(step(run, "awaited").getStatus()).isEqualTo(StepStatus.STEP_STATUS_COMPLETED);
    assertThat(step(run, "alone").getStatus()).isEqualTo(StepStatus.STEP_STATUS_COMPLETED);
    String alone = step(run, "alone").getChildRunId();
    await().atMost(SOON).until(() -> kagzi.get(alone).status() == RunStatus.SLEEPING);
    kagzi.run(alone, child()).cancel();
  }

  /** The other server does not know the run of the step. */
  @Test
  void a_step_may_start_runs_of_another_installation() {
    try (RealServer elsewhere = new RealServer();
        Kagzi other = Kagzi.connect(elsewhere.address())) {
      serve(
          (ctx, name) ->
              ctx.step(
                  "spawn",
                  String.class,
                  () -> other.workflow(child()).id("there").start(1).runId()),
          (ctx, n) -> n);

      String spawned = kagzi.workflow(type).start("Ada").result(SOON);

      assertThat(other.getByWorkflowId("there").runId()).isEqualTo(spawned);
      assertThat(other.get(spawned).parentRunId()).isEmpty();
    }
  }
}
