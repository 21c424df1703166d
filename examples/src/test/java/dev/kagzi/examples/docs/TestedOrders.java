package dev.kagzi.examples.docs;

import dev.kagzi.sdk.WorkflowContext;
import dev.kagzi.sdk.WorkflowType;

/** The workflow that the tests in docs/testing.md test. */
final class TestedOrders {
  record Order(String item, int cents) {}

  record Receipt(String text) {}

  static final WorkflowType<Order, Receipt> PROCESS_ORDER =
      WorkflowType.of("process-order", Order.class, Receipt.class).queue("orders");
  static final Order order = new Order("lamp", 4200);
  static final Receipt receipt = new Receipt("paid 4200, shipped lamp");

  private TestedOrders() {}

  static Receipt process(WorkflowContext ctx, Order order) {
    String paid = ctx.step("charge", String.class, () -> "paid " + order.cents());
    ctx.sleep("cool-off", "24h");
    String all = ctx.step("ship", String.class, () -> paid + ", shipped " + order.item());
    return new Receipt(all);
  }
}
