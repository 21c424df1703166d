package dev.kagzi.sdk.e2e;

import static dev.kagzi.sdk.OnCancel.CLEAN_UP;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.kagzi.sdk.Branch;
import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.RunCancelledException;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.RunStatus;
import dev.kagzi.sdk.Saga;
import dev.kagzi.sdk.Signal;
import dev.kagzi.sdk.Workflow;
import dev.kagzi.sdk.WorkflowContext;
import dev.kagzi.sdk.WorkflowType;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Branches of a cancelled run that clean up themselves, beside each other. */
class BranchCleanUpTest extends RealServerTest {
  private static final Signal<String> NEVER = Signal.of("never", String.class);

  private final List<String> done = new CopyOnWriteArrayList<>();

  /** Counted down when the first branch has ended its clean-up. */
  private final CountDownLatch quickEnded = new CountDownLatch(1);

  private final CountDownLatch nobody = new CountDownLatch(1);

  private WorkflowType<String, String> cleaning() {
    return type.onCancel(CLEAN_UP, Duration.ofMinutes(1));
  }

  private RunHandle<String> cancelled(Workflow<String, String> code) {
    kagzi.worker().workflow(cleaning(), code).start();
    RunHandle<String> run = kagzi.workflow(type).start("Oslo");
    await().atMost(SOON).until(() -> run.status() == RunStatus.SLEEPING);
    run.cancel();
    assertThatThrownBy(() -> run.result(SOON)).isInstanceOf(RunCancelledException.class);
    return run;
  }

  /** Books, waits, and undoes the booking with a saga of its own. */
  private String book(WorkflowContext ctx, String what) {
    Saga saga = ctx.saga();
    try {
      ctx.step("book", () -> done.add("book " + what));
      saga.undo("undo", () -> undo(what));
      ctx.sleep("wait", Duration.ofHours(1));
      return what;
    } catch (RunCancelledException stopped) {
      saga.compensate();
      if (what.equals("quick")) {
        quickEnded.countDown();
      }
      throw stopped;
    }
  }

  private void undo(String what) throws InterruptedException {
    if (!what.equals("quick")) {
      assertThat(quickEnded.await(20, TimeUnit.SECONDS)).isTrue();
      // Time in which the end of the other branch would interrupt this one.
      assertThat(nobody.await(500, TimeUnit.MILLISECONDS)).isFalse();
    }
    done.add("undo " + what);
  }

  @Test
  void the_first_branch_that_has_cleaned_up_does_not_stop_the_others() {
    cancelled(
        (ctx, name) -> "" + ctx.parallel("book", List.of("quick", "slow", "slower"), this::book));

    assertThat(done).contains("undo quick", "undo slow", "undo slower").hasSize(6);
  }

  @Test
  void nested_branches_are_awaited_too() {
    cancelled(
        (ctx, name) -> {
          ctx.parallel(
              "trip",
              Branch.of(
                  "rooms", trip -> "" + trip.parallel("book", List.of("quick", "hut"), this::book)),
              Branch.of("flight", trip -> book(trip, "flight")));
          return "";
        });

    assertThat(done).contains("undo quick", "undo hut", "undo flight").hasSize(6);
  }

  @Test
  void a_branch_that_fails_meanwhile_does_not_stop_the_others() {
    RunHandle<String> run =
        cancelled(
            (ctx, name) ->
                ""
                    + ctx.parallel(
                        "book",
                        List.of("quick", "slow"),
                        (branch, what) -> {
                          try {
                            return book(branch, what);
                          } catch (RunCancelledException stopped) {
                            if (what.equals("quick")) {
                              throw new IllegalStateException("cannot tell the customer");
                            }
                            throw stopped;
                          }
                        }));

    assertThat(done).contains("undo quick", "undo slow").hasSize(4);
    assertThat(run.info().failure().orElseThrow().message()).isEqualTo("cannot tell the customer");
  }

  @Test
  void a_branch_that_wins_a_race_by_catching_the_cancel_does_not_stop_the_others() {
    cancelled(
        (ctx, name) ->
            ctx.race(
                "first",
                Branch.of(
                    "quick",
                    branch -> {
                      try {
                        return book(branch, "quick");
                      } catch (RunCancelledException stopped) {
                        return "given up";
                      }
                    }),
                Branch.of("slow", branch -> book(branch, "slow"))));

    assertThat(done).contains("undo quick", "undo slow").hasSize(4);
  }

  @Test
  void a_race_inside_a_clean_up_still_ends_with_its_first_result() {
    RunHandle<String> run =
        cancelled(
            (ctx, name) -> {
              try {
                ctx.sleep("wait", Duration.ofHours(1));
              } finally {
                ctx.cleanup(
                    "notify",
                    own ->
                        done.add(
                            own.race(
                                "answer",
                                Branch.of("word", branch -> branch.receive(NEVER)),
                                Branch.of(
                                    "mail",
                                    branch -> branch.step("mail", String.class, () -> "mail")))));
              }
              return "";
            });

    assertThat(done).containsExactly("mail");
    assertThat(run.info().failure()).isEmpty();
  }

  /**
   * The clean-up continues on another worker. There a branch with a lower index ends only after a
   * later branch has begun, so it leaves no place for it before the cancel is thrown.
   */
  @Test
  void a_limited_group_continues_the_clean_up_of_all_branches_that_had_begun() throws Exception {
    CountDownLatch undoing = new CountDownLatch(1);
    CountDownLatch lastBegan = new CountDownLatch(2);
    AtomicInteger executions = new AtomicInteger();
    Workflow<String, String> code =
        (ctx, name) -> {
          int execution = executions.incrementAndGet();
          return ""
              + ctx.parallel("book")
                  .maxParallel(2)
                  .each(
                      List.of("done", "quick", "last", "unbegun"),
                      (branch, what) -> {
                        done.add(what + " began");
                        if (what.equals("done")) {
                          branch.step("book", () -> {});
                          if (execution > 1) {
                            assertThat(lastBegan.await(20, TimeUnit.SECONDS)).isTrue();
                          }
                          return what;
                        }
                        if (what.equals("quick")) {
                          return book(branch, what);
                        }
                        lastBegan.countDown();
                        return bookLast(branch, execution, undoing);
                      });
        };
    RunHandle<String> run = kagzi.workflow(type).start("Oslo");
    try (Kagzi dying = Kagzi.connect(server.address())) {
      dying.worker().workflow(cleaning(), code).drainTimeout(Duration.ZERO).start();
      await().atMost(SOON).until(() -> done.contains("book quick") && done.contains("book last"));
      run.cancel();
      assertThat(undoing.await(20, TimeUnit.SECONDS)).isTrue();
    }
    done.clear();
    kagzi.worker().workflow(cleaning(), code).start();

    assertThatThrownBy(() -> run.result(SOON)).isInstanceOf(RunCancelledException.class);
    assertThat(done).contains("undo last").doesNotContain("unbegun began");
  }

  private String bookLast(WorkflowContext branch, int execution, CountDownLatch undoing) {
    Saga saga = branch.saga();
    try {
      branch.step("book", () -> done.add("book last"));
      saga.undo(
          "undo",
          () -> {
            undoing.countDown();
            if (execution == 1) {
              nobody.await();
            }
            done.add("undo last");
          });
      // In a step, so that the run stays with its worker.
      branch.step("wait", nobody::await);
      return "last";
    } catch (RunCancelledException stopped) {
      saga.compensate();
      throw stopped;
    }
  }
}
