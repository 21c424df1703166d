package dev.kagzi.examples;

import dev.kagzi.sdk.Branch;
import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.Worker;
import dev.kagzi.sdk.WorkflowContext;
import dev.kagzi.sdk.WorkflowType;
import java.time.Duration;
import java.util.List;

/** Packs the items of an order in parallel, then ships it with the carrier that answers first. */
final class FanOutExample implements Example {
  record Order(List<String> items) {}

  static final WorkflowType<Order, String> SHIP_ORDER =
      WorkflowType.of("ship-order", Order.class, String.class).queue("shipping");

  static String shipOrder(WorkflowContext ctx, Order order) {
    List<String> parcels =
        ctx.parallel(
            "pack",
            order.items(),
            (branch, item) -> branch.step("pack", String.class, () -> "a box with a " + item));
    String carrier =
        ctx.race(
            "carrier",
            Branch.of("bike", b -> b.step("request-pickup", String.class, () -> "bike")),
            Branch.of(
                "truck",
                b -> {
                  b.sleep("wait-for-truck", Duration.ofSeconds(30));
                  return "truck";
                }));
    return String.join(", ", parcels) + " by " + carrier;
  }

  @Override
  public String about() {
    return "branches pack items in parallel, and two carriers race for the order";
  }

  @Override
  @SuppressWarnings("try") // close() stops the worker
  public String run(Kagzi kagzi) {
    try (Worker worker = kagzi.worker().workflow(SHIP_ORDER, FanOutExample::shipOrder).start()) {
      return kagzi.workflow(SHIP_ORDER).start(new Order(List.of("lamp", "book"))).result();
    }
  }
}
