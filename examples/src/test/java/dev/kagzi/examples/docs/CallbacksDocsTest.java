package dev.kagzi.examples.docs;

import static dev.kagzi.testkit.KagziAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.sdk.Callback;
import dev.kagzi.sdk.CallbackFailedException;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.WorkflowContext;
import dev.kagzi.sdk.WorkflowType;
import dev.kagzi.testkit.KagziEnv;
import dev.kagzi.testkit.KagziExtension;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The code of docs/callbacks.md. */
@ExtendWith(KagziExtension.class)
class CallbacksDocsTest {
  record Order(String item) {}

  record Payment(String id, int cents) {}

  /** The client of a payment provider. */
  static final class Provider {
    void charge(Order order, String callbackUrl) {
      assertThat(callbackUrl).startsWith("http://callbacks.invalid/callbacks/");
      assertThat(order.item()).isNotEmpty();
    }
  }

  private static final Provider provider = new Provider();

  static final WorkflowType<Order, String> ORDER =
      WorkflowType.of("order", Order.class, String.class).queue("orders");

  // docs: callbacks.md
  static String order(WorkflowContext ctx, Order order) {
    Callback<Payment> payment = ctx.callback("payment", Payment.class);
    ctx.step("charge", () -> provider.charge(order, payment.url()));
    Optional<Payment> paid = payment.await(Duration.ofDays(3));
    if (paid.isEmpty()) {
      ctx.step("remind", () -> mail("please pay for your " + order.item()));
      paid = payment.await(Duration.ofDays(3));
    }
    return paid.map(each -> "paid by " + each.id()).orElse("not paid");
  }

  // end

  private static void mail(String text) {
    assertThat(text).isNotEmpty();
  }

  // docs: callbacks.md
  static String orderOrReason(WorkflowContext ctx, Order order) {
    Callback<Payment> payment = ctx.callback("payment", Payment.class);
    ctx.step("charge", () -> provider.charge(order, payment.url()));
    try {
      return "paid by " + payment.await().id();
    } catch (CallbackFailedException e) {
      return "not paid: " + e.failure().message();
    }
  }

  // end

  @Test
  void a_test_answers_without_http(KagziEnv env) {
    env.worker("orders").workflow(ORDER, CallbacksDocsTest::order).start();
    // docs: callbacks.md
    RunHandle<String> run = env.kagzi().workflow(ORDER).start(new Order("lamp"));
    env.completeCallback(run, "payment", new Payment("p-1", 4200));

    assertThat(run).completedWith("paid by p-1").executedStep("charge").once();
    // end
  }

  @Test
  void a_late_answer_is_for_the_next_wait(KagziEnv env) {
    env.worker("orders").workflow(ORDER, CallbacksDocsTest::order).start();
    // docs: callbacks.md
    RunHandle<String> late = env.kagzi().workflow(ORDER).start(new Order("lamp"));
    env.advance(Duration.ofDays(4));
    env.completeCallback(late, "payment", new Payment("p-2", 4200));

    assertThat(late).completedWith("paid by p-2").executedStep("remind").once();
    // end
    RunHandle<String> never = env.kagzi().workflow(ORDER).start(new Order("lamp"));
    env.advance(Duration.ofDays(7));
    assertThat(never).completedWith("not paid");
  }

  @Test
  void a_failed_callback_is_caught_also_after_a_crash(KagziEnv env) {
    env.worker("orders").workflow(ORDER, CallbacksDocsTest::orderOrReason).start();
    env.crashWorkerAfter("charge");

    RunHandle<String> run = env.kagzi().workflow(ORDER).start(new Order("lamp"));
    env.failCallback(run, "payment", "no money");

    assertThat(run).completedWith("not paid: no money").executedStep("charge").once();
  }

  @Test
  void a_webhook_handler_answers_by_the_client(KagziEnv env) {
    env.worker("orders").workflow(ORDER, CallbacksDocsTest::order).start();
    RunHandle<String> run = env.kagzi().workflow(ORDER).id("order-42").start(new Order("lamp"));
    env.settle();
    Payment payment = new Payment("p-3", 1);
    // docs: callbacks.md
    boolean completed = run.completeCallback("payment", payment);
    // end
    assertThat(completed).isTrue();
    assertThat(run).completedWith("paid by p-3");
  }
}
