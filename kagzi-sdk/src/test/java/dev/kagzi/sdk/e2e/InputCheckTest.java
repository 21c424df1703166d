package dev.kagzi.sdk.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kagzi.sdk.Failure;
import dev.kagzi.sdk.JacksonCodec;
import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.RunStatus;
import dev.kagzi.sdk.TypeRef;
import dev.kagzi.sdk.Worker;
import dev.kagzi.sdk.WorkflowType;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What a worker does with an input that does not fit its code. */
class InputCheckTest extends RealServerTest {
  record Order(String item, int cents) {}

  record OrderWithDefault(String item, @Nullable Integer cents) {}

  record OldOrder(String item) {}

  record NewOrder(String item, int priority) {}

  record OldPayment(int cents, String by) {}

  record NewPayment(int cents, int fee) {}

  /** Starts a run with any JSON, as the command line or another language does. */
  private WorkflowType<Map<String, Object>, String> anyJson() {
    return WorkflowType.of("pay", new TypeRef<Map<String, Object>>() {}, new TypeRef<String>() {})
        .queue(queue);
  }

  private <I> WorkflowType<I, String> pay(Class<I> input) {
    return WorkflowType.of("pay", input, String.class).queue(queue);
  }

  @Test
  void a_run_whose_input_lacks_a_primitive_is_blocked_with_its_name_until_the_code_fits() {
    AtomicInteger charged = new AtomicInteger();
    RunHandle<String> run = kagzi.workflow(anyJson()).start(Map.of("item", "lamp", "cent", 4200));
    Worker worker =
        kagzi
            .worker()
            .workflow(
                pay(Order.class),
                (ctx, order) -> {
                  ctx.step("charge", () -> charged.addAndGet(order.cents() + 1));
                  return "charged " + order.cents();
                })
            .start();

    await().atMost(SOON).until(() -> blockedBy(run).contains("field cents (int) is missing"));
    assertThat(blockedBy(run))
        .contains("found: ")
        .contains("cent")
        .contains("InputCheckTest$Order");
    assertThat(run.status()).isEqualTo(RunStatus.PENDING);
    assertThat(charged).hasValue(0);
    worker.close();
    kagzi
        .worker()
        .workflow(
            pay(OrderWithDefault.class),
            (ctx, order) -> "charged " + Objects.requireNonNullElse(order.cents(), 1))
        .start();

    assertThat(run.result(SOON)).isEqualTo("charged 1");
  }

  @Test
  void a_run_that_has_begun_continues_with_code_whose_records_have_other_fields() {
    RunHandle<String> run = kagzi.workflow(anyJson()).start(Map.of("item", "lamp", "size", 3));
    Worker worker =
        kagzi
            .worker()
            .workflow(
                pay(OldOrder.class),
                (ctx, order) -> {
                  ctx.step("charge", OldPayment.class, () -> new OldPayment(5, "card"));
                  ctx.sleep("pause", "2s");
                  return "old code";
                })
            .start();
    await().atMost(SOON).until(() -> run.status() == RunStatus.SLEEPING);
    worker.close();

    try (Kagzi strict =
        Kagzi.builder().address(server.address()).codec(new JacksonCodec().strict()).connect()) {
      strict
          .worker()
          .workflow(
              pay(NewOrder.class),
              (ctx, order) -> {
                NewPayment payment =
                    ctx.step("charge", NewPayment.class, () -> new NewPayment(0, 1));
                ctx.sleep("pause", "2s");
                return order.priority() + " " + payment;
              })
          .start();

      assertThat(run.result(SOON)).isEqualTo("0 " + new NewPayment(5, 0));
    }
  }

  @Test
  void a_strict_worker_blocks_a_run_whose_input_has_fields_that_it_does_not_know() {
    try (Kagzi strict =
        Kagzi.builder().address(server.address()).codec(new JacksonCodec().strict()).connect()) {
      strict.worker().workflow(pay(OldOrder.class), (ctx, order) -> order.item()).start();
      RunHandle<String> good = kagzi.workflow(anyJson()).start(Map.of("item", "lamp"));
      RunHandle<String> run = kagzi.workflow(anyJson()).start(Map.of("item", "lamp", "size", 3));

      assertThat(good.result(SOON)).isEqualTo("lamp");
      await().atMost(SOON).until(() -> blockedBy(run).contains("size"));
    }
  }

  private static String blockedBy(RunHandle<?> run) {
    return run.info().failure().map(Failure::toString).orElse("");
  }
}
