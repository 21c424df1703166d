package dev.kagzi.sdk.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.NonRetryableException;
import dev.kagzi.sdk.RunFailedException;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.WorkFailedException;
import dev.kagzi.sdk.WorkflowContext;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class SagaTest extends RealServerTest {
  private final List<String> done = new CopyOnWriteArrayList<>();
  private final CountDownLatch undoing = new CountDownLatch(1);
  private final CountDownLatch crash = new CountDownLatch(1);

  private String bookTrip(WorkflowContext ctx, String city) {
    Deque<Runnable> undo = new ArrayDeque<>();
    try {
      for (String what : List.of("flight", "hotel", "car")) {
        ctx.step("book-" + what, () -> book(what, city));
        undo.push(() -> ctx.step("cancel-" + what, () -> cancel(what)));
      }
      return "booked";
    } catch (WorkFailedException failed) {
      undo.forEach(Runnable::run);
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
}
