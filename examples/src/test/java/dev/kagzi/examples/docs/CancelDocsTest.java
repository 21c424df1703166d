package dev.kagzi.examples.docs;

import static dev.kagzi.testkit.KagziAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kagzi.sdk.OnCancel;
import dev.kagzi.sdk.RunCancelledException;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.RunStatus;
import dev.kagzi.sdk.Saga;
import dev.kagzi.sdk.WorkFailedException;
import dev.kagzi.sdk.Worker;
import dev.kagzi.sdk.WorkflowContext;
import dev.kagzi.sdk.WorkflowType;
import dev.kagzi.testkit.KagziEnv;
import dev.kagzi.testkit.KagziExtension;
import java.io.Closeable;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The code of docs/cancel.md. */
@ExtendWith(KagziExtension.class)
class CancelDocsTest {
  record Order(String item) {}

  static final List<String> CALLS = new CopyOnWriteArrayList<>();

  /** A service that records its calls. */
  record Service() {
    void charge(Order order) {
      CALLS.add("charge " + order.item());
    }

    void refund(Order order) {
      CALLS.add("refund " + order.item());
    }

    void ship(Order order) {
      CALLS.add("ship " + order.item());
    }

    void load(Order order) {
      CALLS.add("load " + order.item());
    }

    void release(Order order) {
      CALLS.add("release " + order.item());
    }
  }

  record Locks() {
    Closeable hold(String item) {
      return () -> CALLS.add("unlock " + item);
    }
  }

  static final Service shop = new Service();
  static final Locks locks = new Locks();

  // docs: cancel.md
  static final WorkflowType<Order, String> ORDER =
      WorkflowType.of("order", Order.class, String.class)
          .queue("orders")
          .onCancel(OnCancel.CLEAN_UP, Duration.ofMinutes(5));

  static String order(WorkflowContext ctx, Order order) {
    Saga saga = ctx.saga();
    try {
      saga.undo("refund", () -> shop.refund(order));
      ctx.step("charge", () -> shop.charge(order));
      ctx.sleep("wait-for-parcel", Duration.ofDays(2)); // the customer may cancel until then
      ctx.step("ship", () -> shop.ship(order));
      return "shipped";
    } catch (WorkFailedException | RunCancelledException stopped) {
      saga.compensate();
      throw stopped;
    }
  }

  // end

  @SuppressWarnings("try") // held only until the end of the block
  static String load(WorkflowContext ctx, Order order) throws Exception {
    // docs: cancel.md
    try (Closeable held = locks.hold(order.item())) {
      ctx.step("import", () -> shop.load(order));
    } finally {
      ctx.cleanup("release", () -> shop.release(order));
    }
    // end
    return "loaded";
  }

  private static final Order LAMP = new Order("lamp");

  @BeforeEach
  void forgetCalls() {
    CALLS.clear();
  }

  @Test
  void a_cancelled_order_is_refunded(KagziEnv env) {
    env.worker("orders").workflow(ORDER, CancelDocsTest::order).start();
    RunHandle<String> run = env.kagzi().workflow(ORDER).id("order-42").start(LAMP);
    env.settle();
    assertThat(run).isSleeping();

    assertThat(run.cancel()).isTrue();

    assertThatThrownBy(run::result).isInstanceOf(RunCancelledException.class);
    assertThat(run).hasStatus(RunStatus.CANCELLED).isCancelRequested();
    assertThat(run).executedStep("saga[refund]/refund").once();
    assertThat(CALLS).containsExactly("charge lamp", "refund lamp");
  }

  @Test
  void the_end_of_the_grace_needs_no_worker(KagziEnv env) {
    Worker worker = env.worker("orders").workflow(ORDER, CancelDocsTest::order).start();
    RunHandle<String> run = env.kagzi().workflow(ORDER).id("order-43").start(LAMP);
    env.settle();
    worker.close();

    run.cancel();
    assertThat(run).isCancelRequested();
    env.advance(Duration.ofMinutes(6));

    assertThatThrownBy(run::result).isInstanceOf(RunCancelledException.class);
    assertThat(CALLS).containsExactly("charge lamp");
  }

  @Test
  void a_cleanup_is_executed_without_a_cancel_too(KagziEnv env) {
    env.worker("orders").workflow(ORDER, CancelDocsTest::load).start();

    RunHandle<String> run = env.kagzi().workflow(ORDER).start(LAMP);

    assertThat(run).completedWith("loaded").executedStep("cleanup[release]/release").once();
    assertThat(CALLS).contains("load lamp", "release lamp");
  }
}
