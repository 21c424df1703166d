package dev.kagzi.examples.docs;

// docs: README.md
import dev.kagzi.sdk.*;
import java.time.Duration;

public class Orders {
  record Order(String item, int cents) {}

  static final WorkflowType<Order, String> PROCESS_ORDER =
      WorkflowType.of("process-order", Order.class, String.class).queue("orders");

  static String processOrder(WorkflowContext ctx, Order order) {
    String payment =
        ctx.step("charge")
            .retry(Retry.exponential(5).initial(Duration.ofSeconds(1)))
            .run(String.class, () -> "paid " + order.cents()); // recorded once it succeeds
    ctx.sleep("cool-off", "3s"); // durable: holds no thread, no memory
    return ctx.step("ship", String.class, () -> payment + ", shipped " + order.item());
  }

  public static void main(String[] args) {
    try (Kagzi kagzi = Kagzi.connect("localhost:50051")) { // closes its worker, too
      kagzi.worker("orders").workflow(PROCESS_ORDER, Orders::processOrder).start();
      RunHandle<String> run =
          kagzi.workflow(PROCESS_ORDER).id("order-42").start(new Order("lamp", 4200));
      System.out.println(run.result());
    }
  }
}
// end
