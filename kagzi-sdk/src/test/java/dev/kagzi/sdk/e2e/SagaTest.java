package dev.kagzi.sdk.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kagzi.protocol.v1.Step;
import dev.kagzi.protocol.v1.StepStatus;
import dev.kagzi.sdk.Branch;
import dev.kagzi.sdk.CompensationFailedException;
import dev.kagzi.sdk.ContextMisuseException;
import dev.kagzi.sdk.InvalidArgumentException;
import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.NonRetryableException;
import dev.kagzi.sdk.Retry;
import dev.kagzi.sdk.RunFailedException;
import dev.kagzi.sdk.RunHandle;
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
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class SagaTest extends RealServerTest {
  private static final Duration PACE = Duration.ofSeconds(3);
  private final List<String> done = new CopyOnWriteArrayList<>();
  private final CountDownLatch undoing = new CountDownLatch(1);
  private final CountDownLatch crash = new CountDownLatch(1);
  private volatile boolean repaired;

  private String bookTrip(WorkflowContext ctx, String city) {
    Saga saga = ctx.saga();
    try {
      for (String what : List.of("flight", "hotel", "car")) {
        ctx.step("book-" + what, () -> book(what, city));
        saga.undo("cancel-" + what, () -> cancel(what));
      }
      return "booked";
    } catch (WorkFailedException failed) {
      saga.compensate();
      throw failed;
    }
  }

  private void book(String what, String city) {
    if (what.equals("car")) {
      throw new NonRetryableException("no cars in " + city);
    }
    done.add("book " + what);
  }

  private void cancel(String what) throws InterruptedException {
    if (what.equals("flight")) {
      undoing.countDown();
      crash.await();
    }
    done.add("cancel " + what);
  }

  private RunHandle<String> run(Workflow<String, String> code) {
    kagzi.worker().workflow(type, code).start();
    return kagzi.workflow(type).start("Oslo");
  }

  private void breakDown(String what) {
    if (!repaired) {
      throw new NonRetryableException(what + " is broken");
    }
    done.add(what);
  }

  private static void fail() {
    throw new NonRetryableException("no");
  }

  private List<String> completedSteps(RunHandle<String> run) {
    return server.steps(run.runId()).stream()
        .filter(step -> step.getStatus() == StepStatus.STEP_STATUS_COMPLETED)
        .map(Step::getStepKey)
        .toList();
  }

  @Test
  void bookings_are_undone_in_reverse_order_when_the_third_fails() {
    crash.countDown();
    kagzi.worker().workflow(type, this::bookTrip).start();

    RunHandle<String> run = kagzi.workflow(type).retries(3).start("Oslo");

    assertThatThrownBy(() -> run.result(SOON))
        .isInstanceOfSatisfying(
            RunFailedException.class,
            e -> {
              assertThat(e.failure().step()).contains("book-car");
              assertThat(e.failure().message()).isEqualTo("no cars in Oslo");
            });
    assertThat(done).containsExactly("book flight", "book hotel", "cancel hotel", "cancel flight");
    assertThat(completedSteps(run))
        .contains("saga[cancel-hotel]/cancel-hotel", "saga[cancel-flight]/cancel-flight");
  }

  @Test
  void an_interrupted_compensation_continues_on_another_worker_and_repeats_nothing()
      throws Exception {
    RunHandle<String> run = kagzi.workflow(type).start("Oslo");
    try (Kagzi first = Kagzi.connect(server.address())) {
      first.worker().workflow(type, this::bookTrip).drainTimeout(Duration.ZERO).start();
      assertThat(undoing.await(20, TimeUnit.SECONDS)).isTrue();
    }
    crash.countDown();

    kagzi.worker().workflow(type, this::bookTrip).start();

    assertThatThrownBy(() -> run.result(SOON)).hasMessageContaining("no cars in Oslo");
    assertThat(done).containsExactly("book flight", "book hotel", "cancel hotel", "cancel flight");
  }

  @Test
  void a_run_with_a_single_undo_gets_no_further_attempt() {
    kagzi
        .worker()
        .workflow(
            type,
            (ctx, name) -> {
              Saga saga = ctx.saga();
              saga.undo("release", () -> done.add("release"));
              try {
                ctx.step("pay", SagaTest::fail);
              } catch (WorkFailedException e) {
                saga.compensate();
                throw new IllegalStateException("attempt " + ctx.attempt());
              }
              return "";
            })
        .start();

    RunHandle<String> run =
        kagzi.workflow(type).retry(Retry.fixed(3, Duration.ofMillis(10))).start("Oslo");

    assertThatThrownBy(() -> run.result(SOON)).hasMessageContaining("attempt 1");
    assertThat(done).containsExactly("release");
  }

  private String failsToUndo(WorkflowContext ctx, String city) {
    Saga saga = ctx.saga();
    saga.undo("first", () -> done.add("first"));
    saga.undo("second", Retry.none(), () -> breakDown("second"));
    saga.undo("third", () -> done.add("third"));
    saga.undo("fourth", () -> breakDown("fourth"));
    try {
      ctx.step("pay", SagaTest::fail);
      return "paid";
    } catch (WorkFailedException failed) {
      saga.compensate();
      throw failed;
    }
  }

  @Test
  void failures_of_undos_are_thrown_together_after_all_others() {
    RunHandle<String> run = run(this::failsToUndo);

    assertThatThrownBy(() -> run.result(SOON))
        .isInstanceOfSatisfying(
            RunFailedException.class,
            e -> {
              assertThat(e.failure().isA(CompensationFailedException.class)).isTrue();
              assertThat(e.failure().message())
                  .contains("undo fourth failed")
                  .contains("fourth is broken; undo second failed")
                  .contains("second is broken");
              assertThat(e.failure().isA(NonRetryableException.class)).isTrue();
              assertThat(e.failure().step()).contains("saga[fourth]/fourth");
            });
    assertThat(done).containsExactly("third", "first");
  }

  @Test
  void a_resume_executes_the_failed_undos_and_no_other() {
    RunHandle<String> run = run(this::failsToUndo);
    assertThatThrownBy(() -> run.result(SOON)).hasMessageContaining("fourth is broken");
    repaired = true;

    run.resume();

    assertThatThrownBy(() -> run.result(SOON))
        .isInstanceOfSatisfying(
            RunFailedException.class, e -> assertThat(e.failure().step()).contains("pay"));
    assertThat(done).containsExactly("third", "first", "fourth", "second");
    assertThatThrownBy(run::resume).hasMessageContaining("nothing is left to do");
  }

  @Test
  void code_receives_each_failure_by_the_name_of_its_undo() {
    RunHandle<String> run =
        run(
            (ctx, name) -> {
              Saga saga = ctx.saga();
              saga.undo("release", () -> breakDown("one"));
              saga.undo("release", () -> breakDown("two"));
              saga.undo(
                  "check",
                  undo -> {
                    throw new IllegalStateException("in code outside of steps");
                  });
              try {
                saga.compensate();
                return "no failure";
              } catch (CompensationFailedException e) {
                saga.compensate(); // all are executed: nothing is left
                return e.code()
                    + e.failures().entrySet().stream()
                        .map(each -> each.getKey() + "=" + each.getValue().message())
                        .toList();
              }
            });

    assertThat(run.result(SOON))
        .isEqualTo(
            "COMPENSATION_FAILED[check=in code outside of steps, release#2=two is broken,"
                + " release=one is broken]");
  }

  @Test
  void an_undo_may_use_steps_and_children_of_its_own() {
    WorkflowType<String, String> cancel =
        WorkflowType.of("cancel", String.class, String.class).queue(queue);
    kagzi
        .worker()
        .workflow(cancel, (ctx, what) -> "cancelled " + what)
        .workflow(
            type,
            (ctx, name) -> {
              Saga saga = ctx.saga();
              ctx.step("hotel", () -> done.add("hotel"));
              saga.undo(
                  "hotel",
                  undo -> {
                    String result = undo.child(cancel).run("cancel", "hotel");
                    undo.step("note", () -> done.add(result));
                    undo.step("note", () -> done.add("noted"));
                  });
              saga.compensate();
              return "undone";
            })
        .start();
    RunHandle<String> run = kagzi.workflow(type).start("Oslo");

    assertThat(run.result(SOON)).isEqualTo("undone");
    assertThat(done).containsExactly("hotel", "cancelled hotel", "noted");
    assertThat(completedSteps(run))
        .containsExactlyInAnyOrder(
            "hotel", "saga[hotel]/cancel", "saga[hotel]/note", "saga[hotel]/note#2");
  }

  @Test
  void undos_of_branches_are_ordered_by_the_positions_of_the_branches() {
    RunHandle<String> run =
        run(
            (ctx, name) -> {
              Saga saga = ctx.saga();
              saga.undo("before", () -> done.add("before"));
              CountDownLatch second = new CountDownLatch(1);
              ctx.parallel(
                  "book",
                  List.of("a", "b"),
                  (branch, item) -> {
                    branch.step("book", () -> await(item.equals("a") ? second : null));
                    saga.undo("cancel", () -> done.add("cancel " + item));
                    second.countDown();
                    return item;
                  });
              saga.undo("after", () -> done.add("after"));
              saga.compensate();
              return "undone";
            });

    assertThat(run.result(SOON)).isEqualTo("undone");
    assertThat(done).containsExactly("after", "cancel b", "cancel a", "before");
  }

  private static void await(@Nullable CountDownLatch latch) throws InterruptedException {
    if (latch != null) {
      assertThat(latch.await(20, TimeUnit.SECONDS)).isTrue();
    }
  }

  /** The third branch fails when the first has booked and the second is about to. */
  private String bookExtras(WorkflowContext ctx, String city) {
    Saga saga = ctx.saga();
    CountDownLatch booked = new CountDownLatch(2);
    try {
      ctx.parallel(
          "extras",
          List.of("museum", "opera", "boat"),
          (branch, extra) -> {
            saga.undo("cancel-" + extra, () -> done.add("cancel " + extra));
            branch.step("book", () -> bookExtra(extra, booked));
            saga.undo("refund-" + extra, () -> done.add("refund " + extra));
            branch.parallel(
                "mails",
                List.of(1, 2),
                (mail, i) -> {
                  mail.step("send", () -> {});
                  saga.undo("unsend", () -> done.add("unsend %s %d".formatted(extra, i)));
                  mail.step("wait", () -> countDownAndWait(booked));
                  return i;
                });
            return extra;
          });
      return "booked";
    } catch (WorkFailedException failed) {
      saga.compensate();
      throw failed;
    }
  }

  private static void countDownAndWait(CountDownLatch latch) throws InterruptedException {
    latch.countDown();
    new CountDownLatch(1).await();
  }

  private void bookExtra(String extra, CountDownLatch booked) throws InterruptedException {
    if (extra.equals("opera")) {
      new CountDownLatch(1).await();
    }
    if (extra.equals("boat")) {
      await(booked);
      throw new NonRetryableException("no boat");
    }
    done.add("book " + extra);
  }

  @Test
  void undos_of_interrupted_branches_are_executed_as_far_as_their_steps_are_recorded() {
    RunHandle<String> run = run(this::bookExtras);

    assertThatThrownBy(() -> run.result(SOON)).hasMessageContaining("no boat");
    assertThat(done)
        .containsExactly(
            "book museum",
            "cancel boat",
            "cancel opera",
            "unsend museum 2",
            "unsend museum 1",
            "refund museum",
            "cancel museum");
  }

  @Test
  void the_undo_of_a_recorded_step_is_executed_although_its_branch_was_stopped_before_it() {
    CountDownLatch compensates = new CountDownLatch(1);
    RunHandle<String> run =
        run(
            (ctx, name) -> {
              Saga saga = ctx.saga();
              CountDownLatch booked = new CountDownLatch(1);
              try {
                ctx.parallel(
                    "book",
                    List.of("a", "b"),
                    (branch, item) -> {
                      branch.step("book", () -> bookOrFail(item, booked));
                      booked.countDown();
                      compensates.await(); // interrupted in the first execution
                      saga.undo("cancel", () -> done.add("cancel " + item));
                      return item;
                    });
                return "booked";
              } catch (WorkFailedException failed) {
                compensates.countDown();
                saga.compensate();
                return "undone";
              }
            });

    assertThat(run.result(SOON)).isEqualTo("undone");
    assertThat(done).containsExactly("book a", "cancel a");
  }

  private void bookOrFail(String item, CountDownLatch booked) throws InterruptedException {
    if (item.equals("b")) {
      await(booked);
      fail();
    }
    done.add("book " + item);
  }

  @Test
  void branches_that_had_not_begun_are_not_undone_by_a_replay() {
    RunHandle<String> run =
        run(
            (ctx, name) -> {
              Saga saga = ctx.saga();
              try {
                ctx.parallel("book")
                    .maxParallel(1)
                    .each(
                        List.of("a", "b", "c"),
                        (branch, item) -> {
                          saga.undo("cancel", () -> done.add("cancel " + item));
                          branch.step("book", () -> bookOrFail(item, new CountDownLatch(0)));
                          return item;
                        });
                return "booked";
              } catch (WorkFailedException failed) {
                ctx.sleep("think", Duration.ofMillis(1_200)); // releases the run
                saga.compensate();
                return "undone";
              }
            });

    assertThat(run.result(SOON)).isEqualTo("undone");
    assertThat(done).containsExactly("book a", "cancel b", "cancel a");
  }

  @Test
  void the_undo_of_a_loser_is_executed_too() {
    RunHandle<String> run =
        run(
            (ctx, name) -> {
              Saga saga = ctx.saga();
              CountDownLatch booked = new CountDownLatch(1);
              String winner =
                  ctx.race(
                      "hotel",
                      Branch.of(
                          "slow",
                          branch -> {
                            branch.step("book", () -> done.add("book slow"));
                            saga.undo("cancel-slow", () -> done.add("cancel slow"));
                            branch.step("confirm", () -> countDownAndWait(booked));
                            return "slow";
                          }),
                      Branch.of(
                          "quick",
                          branch -> {
                            branch.step("book", () -> await(booked));
                            saga.undo("cancel-quick", () -> done.add("cancel quick"));
                            return "quick";
                          }));
              saga.compensate();
              return winner;
            });

    assertThat(run.result(SOON)).isEqualTo("quick");
    assertThat(done).containsExactly("book slow", "cancel quick", "cancel slow");
  }

  private static final Signal<String> WORD = Signal.of("word", String.class);

  @Test
  void the_undo_of_a_loser_that_received_a_signal_is_executed_and_the_signal_is_given_back() {
    CountDownLatch charged = new CountDownLatch(1);
    RunHandle<String> run =
        run(
            (ctx, name) -> {
              Saga saga = ctx.saga();
              String winner =
                  ctx.race(
                      "pay",
                      Branch.of(
                          "slow",
                          branch -> {
                            String word = branch.receive(WORD);
                            saga.undo("refund", () -> done.add("refund " + word));
                            branch.step("charge", () -> done.add("charge " + word));
                            branch.step("confirm", () -> countDownAndWait(charged));
                            return "slow";
                          }),
                      Branch.of(
                          "quick",
                          branch -> {
                            branch.step("wait", () -> await(charged));
                            return "quick";
                          }));
              saga.compensate();
              return winner + " " + ctx.receive(WORD);
            });
    run.signal(WORD, "a");

    assertThat(run.result(SOON)).isEqualTo("quick a");
    assertThat(done).containsExactly("charge a", "refund a");
  }

  /** Its undo is known without a replay: it has ended by itself. A replay must find it, too. */
  @Test
  void an_interrupted_compensation_executes_the_undo_of_a_failed_loser_that_received_a_signal()
      throws Exception {
    Workflow<String, String> code =
        (ctx, name) -> {
          Saga saga = ctx.saga();
          String winner =
              ctx.race(
                  "pay",
                  Branch.<String>of(
                      "failing",
                      branch -> {
                        String word = branch.receive(WORD);
                        saga.undo("refund", () -> done.add("refund " + word));
                        branch.step("charge", SagaTest::fail);
                        return "failing";
                      }),
                  Branch.of(
                      "quick",
                      branch -> {
                        branch.sleep("blink", Duration.ofMillis(1_500));
                        return "quick";
                      }));
          saga.undo("cancel-flight", () -> cancel("flight"));
          saga.compensate();
          return winner;
        };
    RunHandle<String> run = kagzi.workflow(type).start("Oslo");
    run.signal(WORD, "a");
    try (Kagzi first = Kagzi.connect(server.address())) {
      first.worker().workflow(type, code).drainTimeout(Duration.ZERO).start();
      assertThat(undoing.await(20, TimeUnit.SECONDS)).isTrue();
    }
    crash.countDown();
    kagzi.worker().workflow(type, code).start();

    assertThat(run.result(SOON)).isEqualTo("quick");
    assertThat(done).containsExactly("cancel flight", "refund a");
  }

  /**
   * The sleep of the first branch was interrupted. If it counted as over later, a replay would
   * register one more undo, and the others would get other numbers.
   */
  @Test
  void a_compensation_stays_the_same_when_the_sleep_of_a_stopped_branch_is_over_by_time()
      throws Exception {
    Workflow<String, String> code =
        (ctx, name) -> {
          Saga saga = ctx.saga();
          CountDownLatch booked = new CountDownLatch(1);
          try {
            ctx.parallel(
                "book",
                List.of("a", "b", "c"),
                (branch, item) -> {
                  if (item.equals("a")) {
                    branch.sleep("pace", PACE);
                  }
                  saga.undo("cancel", () -> cancelOf(item));
                  branch.step("book", () -> bookAfter(ctx.runId(), item, booked));
                  booked.countDown();
                  return item;
                });
            return "booked";
          } catch (WorkFailedException failed) {
            saga.compensate();
            return "undone";
          }
        };
    RunHandle<String> run = kagzi.workflow(type).start("Oslo");
    long beganNanos;
    try (Kagzi first = Kagzi.connect(server.address())) {
      first.worker().workflow(type, code).drainTimeout(Duration.ZERO).start();
      assertThat(undoing.await(20, TimeUnit.SECONDS)).isTrue();
      beganNanos = System.nanoTime();
    }
    crash.countDown();
    Awaitility.await().until(() -> System.nanoTime() - beganNanos > PACE.toNanos());
    kagzi.worker().workflow(type, code).start();

    assertThat(run.result(SOON)).isEqualTo("undone");
    assertThat(done).containsExactly("book b", "cancel c", "cancel b");
  }

  private void cancelOf(String item) throws InterruptedException {
    if (item.equals("b")) {
      undoing.countDown();
      crash.await();
    }
    done.add("cancel " + item);
  }

  /** The last branch fails when the first sleeps and the second has booked. */
  private void bookAfter(String run, String item, CountDownLatch booked)
      throws InterruptedException {
    if (item.equals("c")) {
      await(booked);
      Awaitility.await()
          .until(
              () ->
                  server.steps(run).stream()
                      .anyMatch(step -> step.getStepKey().equals("book[0]/pace")));
      fail();
    }
    done.add("book " + item);
  }

  @Test
  void a_branch_may_have_a_saga_of_its_own() {
    RunHandle<String> run =
        run(
            (ctx, name) -> {
              List<String> results =
                  ctx.parallel(
                      "book",
                      List.of("a", "b"),
                      (branch, item) -> {
                        Saga saga = branch.saga();
                        saga.undo("cancel", () -> done.add("cancel " + item));
                        if (item.equals("b")) {
                          saga.compensate();
                        }
                        return item;
                      });
              return String.join(",", results);
            });

    assertThat(run.result(SOON)).isEqualTo("a,b");
    assertThat(done).containsExactly("cancel b");
    assertThat(completedSteps(run)).containsExactly("book[1]/saga[cancel]/cancel");
  }

  @Test
  void a_saga_cannot_be_used_in_a_step_or_be_compensated_by_a_branch() {
    RunHandle<String> run =
        run(
            (ctx, name) -> {
              Saga saga = ctx.saga();
              String inStep =
                  ctx.step(
                      "step",
                      String.class,
                      () -> misuse(() -> saga.undo("late", () -> done.add("late"))));
              String inBranch =
                  ctx.parallel("branches", List.of(1), (branch, i) -> misuse(saga::compensate))
                      .getFirst();
              return inStep + " " + inBranch;
            });

    assertThat(run.result(SOON)).isEqualTo("CONTEXT_INSIDE_STEP CONTEXT_OTHER_BRANCH");
  }

  private static String misuse(Runnable call) {
    try {
      call.run();
      return "accepted";
    } catch (ContextMisuseException e) {
      return e.code();
    }
  }

  @Test
  void the_name_of_an_undo_is_checked_when_it_is_registered() {
    RunHandle<String> run =
        run(
            (ctx, name) -> {
              ctx.saga().undo("re[fund]", () -> done.add("refund"));
              return "accepted";
            });

    assertThatThrownBy(() -> run.result(SOON))
        .isInstanceOfSatisfying(
            RunFailedException.class,
            e -> assertThat(e.failure().isA(InvalidArgumentException.class)).isTrue());
  }
}
