package dev.kagzi.sdk.e2e;

import static dev.kagzi.sdk.OnCancel.CLEAN_UP;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.kagzi.protocol.v1.Step;
import dev.kagzi.protocol.v1.StepStatus;
import dev.kagzi.sdk.Branch;
import dev.kagzi.sdk.BranchResult;
import dev.kagzi.sdk.ChildHandle;
import dev.kagzi.sdk.CompensationFailedException;
import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.NonRetryableException;
import dev.kagzi.sdk.Retry;
import dev.kagzi.sdk.RunCancelledException;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.RunStatus;
import dev.kagzi.sdk.Saga;
import dev.kagzi.sdk.Signal;
import dev.kagzi.sdk.WorkFailedException;
import dev.kagzi.sdk.Workflow;
import dev.kagzi.sdk.WorkflowContext;
import dev.kagzi.sdk.WorkflowType;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** Cancel with clean-up, as the code of workflows sees it. */
class CleanUpTest extends RealServerTest {
  private static final Signal<String> WORD = Signal.of("word", String.class);

  private final List<String> done = new CopyOnWriteArrayList<>();
  private final CountDownLatch reached = new CountDownLatch(1);
  private final CountDownLatch crash = new CountDownLatch(1);
  private final AtomicBoolean first = new AtomicBoolean(true);

  private WorkflowType<String, String> cleaning() {
    return type.onCancel(CLEAN_UP, Duration.ofMinutes(1));
  }

  private RunHandle<String> run(Workflow<String, String> code) {
    kagzi.worker().workflow(cleaning(), code).start();
    return kagzi.workflow(type).start("Oslo");
  }

  private static void awaitStatus(RunHandle<?> run, RunStatus status) {
    await().atMost(SOON).until(() -> run.status() == status);
  }

  private void awaitReached() throws InterruptedException {
    assertThat(reached.await(20, TimeUnit.SECONDS)).isTrue();
  }

  private static void assertCancelled(RunHandle<String> run) {
    assertThatThrownBy(() -> run.result(SOON)).isInstanceOf(RunCancelledException.class);
    assertThat(run.status()).isEqualTo(RunStatus.CANCELLED);
  }

  private List<String> steps(RunHandle<?> run, StepStatus status) {
    return server.steps(run.runId()).stream()
        .filter(step -> step.getStatus() == status)
        .map(Step::getStepKey)
        .toList();
  }

  private void block() throws InterruptedException {
    reached.countDown();
    new CountDownLatch(1).await();
  }

  /** Charges, then does what the test wants to be cancelled, and refunds. */
  private Workflow<String, String> order(Workflow<String, String> middle) {
    return (ctx, name) -> {
      Saga saga = ctx.saga();
      try {
        ctx.step("charge", () -> done.add("charge"));
        saga.undo("refund", () -> done.add("refund"));
        String result = middle.run(ctx, name);
        ctx.step("after", () -> done.add("after"));
        return result;
      } catch (WorkFailedException | RunCancelledException stopped) {
        saga.compensate();
        throw stopped;
      }
    };
  }

  @Test
  void a_running_step_is_interrupted_and_the_saga_compensates() throws Exception {
    RunHandle<String> run =
        run(
            order(
                (ctx, name) -> {
                  ctx.step("ship", this::block);
                  return "shipped";
                }));
    awaitReached();

    assertThat(run.cancel()).isTrue();

    assertCancelled(run);
    assertThat(done).containsExactly("charge", "refund");
    assertThat(steps(run, StepStatus.STEP_STATUS_COMPLETED))
        .containsExactlyInAnyOrder("charge", "saga[refund]/refund");
    assertThat(steps(run, StepStatus.STEP_STATUS_FAILED)).containsExactly("ship");
  }

  @Test
  void a_step_that_ends_all_the_same_keeps_its_result() throws Exception {
    CountDownLatch go = new CountDownLatch(1);
    RunHandle<String> run =
        run(
            order(
                (ctx, name) -> {
                  ctx.step(
                      "ship",
                      () -> {
                        reached.countDown();
                        boolean interrupted = false;
                        while (go.getCount() > 0 || !interrupted) {
                          interrupted |= Thread.interrupted();
                          Thread.onSpinWait();
                        }
                        done.add("ship");
                      });
                  return "";
                }));
    awaitReached();
    run.cancel();
    go.countDown();

    assertCancelled(run);
    assertThat(done).containsExactly("charge", "ship", "refund");
    assertThat(steps(run, StepStatus.STEP_STATUS_FAILED)).containsExactly("after");
  }

  @Test
  void a_parked_run_is_woken_out_of_every_kind_of_wait() {
    WorkflowType<String, String> child = WorkflowType.of("sub", String.class, String.class);
    List<Workflow<String, String>> waits =
        List.of(
            (ctx, name) -> {
              ctx.sleep("nap", Duration.ofHours(1));
              return "";
            },
            (ctx, name) -> ctx.receive(WORD),
            (ctx, name) -> ctx.child(child).queue("nobody").run("sub", name),
            (ctx, name) ->
                ctx.step("flaky")
                    .retry(Retry.fixed(5, Duration.ofHours(1)))
                    .run(
                        String.class,
                        () -> {
                          throw new IllegalStateException("not yet");
                        }),
            (ctx, name) ->
                ctx.race(
                    "first",
                    List.of(
                        Branch.of("word", branch -> branch.receive(WORD)),
                        Branch.of(
                            "timer",
                            branch -> {
                              branch.sleep("patience", Duration.ofHours(1));
                              return "late";
                            }))));
    kagzi
        .worker()
        .workflow(
            cleaning(), (ctx, name) -> order(waits.get(Integer.parseInt(name))).run(ctx, name))
        .start();
    for (int i = 0; i < waits.size(); i++) {
      done.clear();
      RunHandle<String> run = kagzi.workflow(type).start("" + i);
      await()
          .atMost(SOON)
          .until(() -> run.status() == RunStatus.SLEEPING || run.info().wakeUpAt().isPresent());

      run.cancel();

      assertCancelled(run);
      assertThat(done).as("wait %d", i).containsExactly("charge", "refund");
    }
  }

  @Test
  void a_replay_throws_at_the_recorded_place_and_continues_the_clean_up() throws Exception {
    Workflow<String, String> code =
        (ctx, name) -> {
          Saga saga = ctx.saga();
          saga.undo("first", () -> done.add("first"));
          saga.undo(
              "second",
              () -> {
                if (first.getAndSet(false)) {
                  reached.countDown();
                  crash.await();
                }
                done.add("second");
              });
          saga.undo("third", () -> done.add("third"));
          try {
            ctx.sleep("nap", Duration.ofHours(1));
          } catch (RunCancelledException cancelled) {
            done.add("cancelled");
            saga.compensate();
          }
          return "";
        };
    RunHandle<String> run = kagzi.workflow(type).start("Oslo");
    try (Kagzi dying = Kagzi.connect(server.address())) {
      dying.worker().workflow(cleaning(), code).drainTimeout(Duration.ZERO).start();
      awaitStatus(run, RunStatus.SLEEPING);
      run.cancel();
      awaitReached();
    }
    crash.countDown();
    kagzi.worker().workflow(cleaning(), code).start();

    assertCancelled(run);
    assertThat(done).containsExactly("cancelled", "third", "cancelled", "second", "first");
  }

  @Test
  void a_run_that_continues_as_new_learns_there_of_the_cancel_and_cleans_up() throws Exception {
    CountDownLatch cancelled = new CountDownLatch(1);
    RunHandle<String> run =
        run(
            (ctx, name) -> {
              Saga saga = ctx.saga();
              saga.undo("refund", () -> done.add("refund"));
              reached.countDown();
              // Outside of a step, so that nothing is interrupted.
              cancelled.await();
              try {
                return ctx.continueAsNew("Bergen");
              } catch (RunCancelledException stopped) {
                done.add("cancelled");
                saga.compensate();
                // The run is parked, so that a replay throws at the same call.
                ctx.cleanup("wait", own -> own.sleep("a-while", Duration.ofSeconds(2)));
                throw stopped;
              }
            });
    awaitReached();
    assertThat(run.cancel()).isTrue();
    cancelled.countDown();

    assertCancelled(run);
    // A claim that may not know of the cancel is not parked, so there can be one replay more.
    assertThat(done).startsWith("cancelled", "refund", "cancelled").containsOnlyOnce("refund");
    assertThat(run.successor()).isEmpty();
  }

  @Test
  void after_it_only_compensate_and_cleanup_accept_calls() {
    List<String> refused = new CopyOnWriteArrayList<>();
    RunHandle<String> run =
        run(
            (ctx, name) -> {
              Saga saga = ctx.saga();
              saga.undo("undo", undo -> undo.step("part", () -> done.add("undo")));
              ChildHandle<String> child =
                  ctx.child(WorkflowType.of("sub", String.class, String.class))
                      .queue("nobody")
                      .start("sub", name);
              try {
                ctx.sleep("nap", Duration.ofHours(1));
              } catch (RunCancelledException cancelled) {
                refuse(refused, "step", () -> ctx.step("more", () -> done.add("more")));
                refuse(refused, "sleep", () -> ctx.sleep("more", Duration.ZERO));
                refuse(refused, "receive", () -> ctx.receive(WORD));
                refuse(refused, "child", child::result);
                refuse(refused, "now", ctx::now);
                refuse(refused, "undo", () -> saga.undo("late", () -> done.add("late")));
                refuse(refused, "parallel", () -> ctx.parallel("p", List.of(), (b, i) -> i));
                saga.compensate();
                ctx.cleanup("note", () -> done.add("note"));
                ctx.cleanup(
                    "wait",
                    cleanup -> {
                      cleanup.sleep("nap", Duration.ofMillis(1_200));
                      List<String> both =
                          cleanup.parallel(
                              "both",
                              List.of("a", "b"),
                              (branch, i) -> branch.step("s", String.class, () -> i));
                      done.add("" + both);
                    });
                refuse(refused, "again", () -> ctx.step("more", () -> done.add("more")));
              }
              return "returned";
            });
    awaitStatus(run, RunStatus.SLEEPING);
    run.cancel();

    assertCancelled(run);
    assertThat(done).contains("undo", "note", "[a, b]").doesNotContain("more", "late");
    assertThat(refused)
        .contains("step", "sleep", "receive", "child", "now", "undo", "parallel", "again");
    assertThat(steps(run, StepStatus.STEP_STATUS_COMPLETED))
        .contains(
            "saga[undo]/part",
            "cleanup[note]/note",
            "cleanup#2[wait]/nap",
            "cleanup#2[wait]/both[0]/s");
  }

  private static void refuse(List<String> refused, String what, Runnable call) {
    try {
      call.run();
    } catch (RunCancelledException e) {
      refused.add(what);
    }
  }

  @Test
  void branches_learn_it_and_their_undos_are_executed() throws Exception {
    CountDownLatch both = new CountDownLatch(2);
    RunHandle<String> run =
        run(
            (ctx, name) -> {
              Saga saga = ctx.saga();
              try {
                ctx.parallel(
                    "book",
                    List.of("flight", "hotel"),
                    (branch, what) -> {
                      branch.step("book", () -> done.add(what));
                      saga.undo("cancel-" + what, () -> done.add("cancel " + what));
                      branch.step(
                          "wait",
                          () -> {
                            both.countDown();
                            new CountDownLatch(1).await();
                          });
                      return what;
                    });
              } catch (RunCancelledException e) {
                saga.compensate();
                throw e;
              }
              return "";
            });
    assertThat(both.await(20, TimeUnit.SECONDS)).isTrue();
    await().atMost(SOON).until(() -> done.size() == 2);
    run.cancel();

    assertCancelled(run);
    assertThat(done.subList(2, done.size())).containsExactly("cancel hotel", "cancel flight");
  }

  @Test
  void collected_branches_hold_it_and_the_code_around_them_learns_it_at_its_own_call() {
    RunHandle<String> run =
        run(
            (ctx, name) -> {
              List<BranchResult<String>> results =
                  ctx.parallel(
                      "all",
                      List.of(
                          Branch.of(
                                  "nap",
                                  branch -> {
                                    branch.sleep("nap", Duration.ofHours(1));
                                    return "";
                                  })
                              .collected()));
              done.add(results.getFirst().getClass().getSimpleName());
              ctx.step("more", () -> done.add("more"));
              return "";
            });
    awaitStatus(run, RunStatus.SLEEPING);
    run.cancel();

    assertCancelled(run);
    assertThat(done).contains("Failed").doesNotContain("more");
  }

  @Test
  void a_compensation_of_a_failure_is_not_interrupted() throws Exception {
    CountDownLatch go = new CountDownLatch(1);
    RunHandle<String> run =
        run(
            (ctx, name) -> {
              Saga saga = ctx.saga();
              saga.undo(
                  "refund",
                  () -> {
                    reached.countDown();
                    go.await();
                    done.add("refund");
                  });
              try {
                ctx.step(
                    "pay",
                    () -> {
                      throw new NonRetryableException("no");
                    });
              } catch (WorkFailedException failed) {
                saga.compensate();
                throw failed;
              }
              return "";
            });
    awaitReached();
    run.cancel();
    go.countDown();

    assertCancelled(run);
    assertThat(done).containsExactly("refund");
    assertThat(run.info().failure().orElseThrow().message()).isEqualTo("no");
  }

  @Test
  void an_undo_that_failed_is_shown_although_the_code_then_calls_what_is_refused()
      throws Exception {
    RunHandle<String> run =
        run(
            (ctx, name) -> {
              Saga saga = ctx.saga();
              saga.undo(
                  "refund",
                  () -> {
                    throw new NonRetryableException("the bank is closed");
                  });
              try {
                ctx.step("ship", this::block);
                return "";
              } catch (RunCancelledException cancelled) {
                try {
                  saga.compensate();
                } catch (CompensationFailedException stuck) {
                  ctx.step("open-ticket", () -> done.add("ticket"));
                }
                throw cancelled;
              }
            });
    awaitReached();
    run.cancel();

    assertCancelled(run);
    assertThat(done).isEmpty();
    assertThat(run.info().failure().orElseThrow().message()).contains("the bank is closed");
  }

  @Test
  void children_are_cancelled_and_clean_up_themselves() {
    WorkflowType<String, String> sub =
        WorkflowType.of("sub", String.class, String.class)
            .queue(type.queue())
            .onCancel(CLEAN_UP, Duration.ofMinutes(1));
    kagzi
        .worker()
        .workflow(
            sub,
            (ctx, name) -> {
              try {
                ctx.sleep("nap", Duration.ofHours(1));
              } finally {
                ctx.cleanup("child", () -> done.add("child cleaned"));
              }
              return "";
            })
        .workflow(
            cleaning(),
            (ctx, name) -> {
              try {
                return ctx.child(sub).run("sub", name);
              } finally {
                ctx.cleanup("parent", () -> done.add("parent cleaned"));
              }
            })
        .start();
    RunHandle<String> run = kagzi.workflow(type).start("Oslo");
    awaitStatus(run, RunStatus.SLEEPING);
    RunHandle<String> child = kagzi.run(server.steps(run.runId()).getFirst().getChildRunId(), sub);
    awaitStatus(child, RunStatus.SLEEPING);

    run.cancel();

    assertCancelled(run);
    await().atMost(SOON).until(() -> child.status() == RunStatus.CANCELLED);
    assertThat(done).containsExactlyInAnyOrder("parent cleaned", "child cleaned");
  }

  @Test
  void the_end_of_the_grace_stops_the_clean_up() throws Exception {
    kagzi
        .worker()
        .workflow(
            type.onCancel(CLEAN_UP, Duration.ofSeconds(2)),
            (ctx, name) -> {
              try {
                ctx.sleep("nap", Duration.ofHours(1));
              } finally {
                ctx.cleanup("slow", this::block);
              }
              return "";
            })
        .start();
    RunHandle<String> run = kagzi.workflow(type).start("Oslo");
    awaitStatus(run, RunStatus.SLEEPING);
    run.cancel();
    awaitReached();

    assertCancelled(run);
    assertThat(run.info().failure().orElseThrow().message()).contains("had not cleaned up by");
  }

  @Test
  void a_type_without_it_ends_at_once_and_sees_nothing() throws Exception {
    kagzi
        .worker()
        .workflow(
            type,
            (WorkflowContext ctx, String name) -> {
              try {
                ctx.sleep("nap", Duration.ofHours(1));
              } catch (RunCancelledException e) {
                done.add("seen");
              }
              return "";
            })
        .start();
    RunHandle<String> run = kagzi.workflow(type).start("Oslo");
    awaitStatus(run, RunStatus.SLEEPING);
    run.cancel();

    assertThat(run.status()).isEqualTo(RunStatus.CANCELLED);
    assertThat(done).isEmpty();
  }
}
