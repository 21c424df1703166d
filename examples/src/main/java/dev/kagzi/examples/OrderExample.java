package dev.kagzi.examples;

import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.Retry;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.Worker;
import dev.kagzi.sdk.WorkflowContext;
import dev.kagzi.sdk.WorkflowType;
import java.time.Duration;

/** Steps, a retry policy and a durable sleep: the workflow of the README. */
final class OrderExample implements Example {
  record Order(String item, int cents) {}

  static final WorkflowType<Order, String> PROCESS_ORDER =
      WorkflowType.of("process-order", Order.class, String.class).queue("orders");

  static String processOrder(WorkflowContext ctx, Order order) {
    String payment =
        ctx.step("charge")
            .retry(Retry.exponential(5).initial(Duration.ofSeconds(1)))
            .run(String.class, () -> "paid " + order.cents());
    ctx.sleep("cool-off", "2s");
    return ctx.step("ship", String.class, () -> payment + ", shipped " + order.item());
  }

  @Override
  public String about() {
    return "an order is charged, waits in a durable sleep, and is shipped";
  }

  @Override
  @SuppressWarnings("try") // close() stops the worker
  public String run(Kagzi kagzi) {
    try (Worker worker =
        kagzi.worker("orders").workflow(PROCESS_ORDER, OrderExample::processOrder).start()) {
      RunHandle<String> run = kagzi.workflow(PROCESS_ORDER).start(new Order("lamp", 4200));
      return run.result();
    }
  }
}
