package dev.kagzi.sdk.e2e;

import static java.time.Duration.ofHours;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.Retry;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.RunStatus;
import dev.kagzi.sdk.Worker;
import dev.kagzi.sdk.WorkflowContext;
import dev.kagzi.sdk.WorkflowType;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The introductory example of the SDK. */
class SketchTest extends RealServerTest {
  record Order(List<String> items) {}

  record Payment(int cents) {}

  record Parcel(String item) {}

  record Receipt(int parcels, int cents) {}

  static final WorkflowType<Order, Receipt> PROCESS_ORDER =
      WorkflowType.of("process-order", Order.class, Receipt.class);

  static Receipt processOrder(WorkflowContext ctx, Order order, String coolOff) {
    Payment payment =
        ctx.step("charge")
            .retry(Retry.exponential(5).initial(ofSeconds(1)))
            .timeout(ofSeconds(30))
            .run(Payment.class, () -> new Payment(100 * order.items().size()));
    ctx.sleep("cool-off", coolOff);
    List<Parcel> parcels =
        ctx.parallel(
            "pack",
            order.items(),
            (branch, item) -> branch.step("pack", Parcel.class, () -> new Parcel(item)));
    return ctx.step("ship", Receipt.class, () -> new Receipt(parcels.size(), payment.cents()));
  }

  @Test
  @SuppressWarnings("CanonicalDuration") // as in the introductory example
  void an_order_is_charged_cools_off_is_packed_and_shipped() {
    Order order = new Order(List.of("lamp", "book"));
    try (Kagzi own = Kagzi.connect(server.address())) {
      Worker worker =
          own.worker("orders")
              .workflow(PROCESS_ORDER, (ctx, input) -> processOrder(ctx, input, "1200 ms"))
              .maxConcurrent(200)
              .start();
      RunHandle<Receipt> run =
          own.workflow(PROCESS_ORDER).id("order-42").executionTimeout(ofHours(48)).start(order);

      assertThat(run.result()).isEqualTo(new Receipt(2, 200));
      assertThat(worker.activeCount()).isNotNegative();
    }
  }

  @Test
  @SuppressWarnings("try") // the worker runs until it is closed
  void a_day_of_cooling_off_takes_no_worker() {
    WorkflowType<Order, Receipt> daily = PROCESS_ORDER.queue(queue);
    try (Worker worker =
        kagzi.worker().workflow(daily, (ctx, input) -> processOrder(ctx, input, "24h")).start()) {
      RunHandle<Receipt> run = kagzi.workflow(daily).start(new Order(List.of("lamp")));

      await().atMost(SOON).until(() -> run.info().status() == RunStatus.SLEEPING);
      await().atMost(SOON).until(() -> worker.activeCount() == 0);
      run.cancel();
    }
  }
}
