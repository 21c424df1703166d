package dev.kagzi.testkit;

import static dev.kagzi.testkit.KagziAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.sdk.NonRetryableException;
import dev.kagzi.sdk.Replayer;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.Saga;
import dev.kagzi.sdk.WorkFailedException;
import dev.kagzi.sdk.WorkflowContext;
import dev.kagzi.sdk.WorkflowType;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A compensation that a crash interrupts continues after the last recorded undo. */
@ExtendWith(KagziExtension.class)
class SagaCrashTest {
  private static final WorkflowType<String, String> ORDER =
      WorkflowType.of("order", String.class, String.class).queue("q");

  private final List<String> done = new CopyOnWriteArrayList<>();

  /** Two branches book, a third one fails; a day passes in the middle of the compensation. */
  private String order(WorkflowContext ctx, String item) {
    Saga saga = ctx.saga();
    try {
      ctx.step("reserve", () -> done.add("reserve"));
      saga.undo("release", () -> done.add("release"));
      CountDownLatch packed = new CountDownLatch(2);
      ctx.parallel(
          "pack",
          List.of("a", "b", "c"),
          (branch, part) -> {
            branch.step("pack", () -> pack(part, packed));
            saga.undo("unpack", () -> done.add("unpack " + part));
            branch.step(
                "label",
                () -> {
                  packed.countDown();
                  new CountDownLatch(1).await();
                });
            return part;
          });
      return "shipped";
    } catch (WorkFailedException failed) {
      saga.undo(
          "wait",
          undo -> {
            undo.sleep("a-day", Duration.ofDays(1));
            undo.step("wake", () -> done.add("wake"));
          });
      saga.compensate();
      throw failed;
    }
  }

  private void pack(String part, CountDownLatch packed) throws InterruptedException {
    if (part.equals("c")) {
      assertThat(packed.await(20, TimeUnit.SECONDS)).isTrue();
      throw new NonRetryableException("no box");
    }
    done.add("pack " + part);
  }

  private void assertUndone(RunHandle<String> run) {
    assertThat(run).failedWithMessage("no box");
    assertThat(done).startsWith("reserve").hasSize(7);
    assertThat(done.subList(1, 3)).containsExactlyInAnyOrder("pack a", "pack b");
    assertThat(done.subList(3, 7)).containsExactly("wake", "unpack b", "unpack a", "release");
  }

  @ParameterizedTest
  @ValueSource(strings = {"saga[wait]/wake", "saga[unpack#2]/unpack", "unpack", "release"})
  void each_undo_is_executed_once_if_the_worker_crashes_after_one(String step, KagziEnv env) {
    env.worker().workflow(ORDER, this::order).start();
    env.crashWorkerAfter(step);

    RunHandle<String> run = env.kagzi().workflow(ORDER).start("lamp");
    env.advance(Duration.ofDays(2));

    assertUndone(run);
  }

  @Test
  void the_history_of_a_compensated_run_matches_its_code(KagziEnv env) {
    env.worker().workflow(ORDER, this::order).start();
    RunHandle<String> run = env.kagzi().workflow(ORDER).start("lamp");
    env.advance(Duration.ofDays(2));
    assertUndone(run);

    new Replayer().workflow(ORDER, this::order).replay(run.history());

    assertThat(done).as("a replay executes nothing").hasSize(7);
  }
}
