package dev.kagzi.examples;

import dev.kagzi.sdk.Branch;
import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.Worker;
import dev.kagzi.sdk.WorkflowContext;
import dev.kagzi.sdk.WorkflowType;
import java.time.Duration;
import java.util.List;

/** Packs the items of an order at the same time, then lets two carriers race for it. */
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
            Branch.of("bike", b -> b.step("ask", String.class, () -> "bike")),
            Branch.of(
                "truck",
                b -> {
                  b.sleep("think", Duration.ofSeconds(30));
                  return "truck";
                }));
    return String.join(", ", parcels) + " by " + carrier;
  }

  @Override
  public String about() {
    return "branches that pack at the same time, and a race between two carriers";
  }

  @Override
  @SuppressWarnings("try") // the worker works while it is open
  public String run(Kagzi kagzi) {
    try (Worker worker = kagzi.worker().workflow(SHIP_ORDER, FanOutExample::shipOrder).start()) {
      return kagzi.workflow(SHIP_ORDER).start(new Order(List.of("lamp", "book"))).result();
    }
  }
}
