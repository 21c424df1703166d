package dev.kagzi.browser;

import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.Retry;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.RunStatus;
import dev.kagzi.sdk.StepInfo;
import dev.kagzi.sdk.Worker;
import dev.kagzi.sdk.WorkflowContext;
import dev.kagzi.sdk.WorkflowType;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;

/** A workflow with everything that a time line shows, and a worker that loses it once. */
final class Orders {
  static final String QUEUE = "orders";
  static final Duration SOON = Duration.ofSeconds(60);
  static final WorkflowType<Order, Shipment> PROCESS =
      WorkflowType.of("process-order", Order.class, Shipment.class).queue(QUEUE);
  static final WorkflowType<Integer, String> PAY =
      WorkflowType.of("pay", Integer.class, String.class).queue(QUEUE);

  private static final Set<String> DONE_ONCE = ConcurrentHashMap.newKeySet();
  private static final Map<String, CountDownLatch> WRAPPING = new ConcurrentHashMap<>();

  record Order(String item, int total, List<String> parcels) {}

  record Shipment(String receipt, List<String> parcels, boolean isShipped) {}

  private Orders() {}

  static Shipment process(WorkflowContext ctx, Order order) {
    ctx.step("reserve").input(order.item()).run(() -> busy(200));
    List<String> packed =
        ctx.parallel(
            "pack",
            order.parcels(),
            (branch, parcel) -> {
              branch
                  .step("wrap")
                  .retry(Retry.fixed(3, Duration.ofMillis(400)))
                  .run(() -> wrap(ctx.runId(), parcel, order.parcels().size()));
              return branch.step("label", String.class, () -> "label for " + parcel);
            });
    String receipt = ctx.child(PAY).run("pay", order.total());
    ctx.sleep("cool-off", Duration.ofMillis(1_500));
    ctx.step("ship", () -> ship(ctx.runId()));
    return new Shipment(receipt, packed, true);
  }

  private static void wrap(String run, String parcel, int parcels) throws InterruptedException {
    CountDownLatch all = WRAPPING.computeIfAbsent(run, none -> new CountDownLatch(parcels));
    all.countDown();
    if (!all.await(SOON.toSeconds(), TimeUnit.SECONDS)) {
      throw new IllegalStateException("the branches do not run at the same time");
    }
    busy(300);
    if (parcel.equals("lamp") && DONE_ONCE.add(run + parcel)) {
      throw new IllegalStateException("no paper for " + parcel);
    }
  }

  private static void ship(String run) {
    if (DONE_ONCE.add(run + "ship")) {
      busy(60_000); // until the worker is told to stop
    }
    busy(300);
  }

  static String pay(WorkflowContext ctx, Integer total) {
    return ctx.step(
        "charge",
        String.class,
        () -> {
          busy(400);
          return "paid " + total;
        });
  }

  /** Takes time, as real work does, until it is interrupted. */
  static void busy(long ms) {
    try {
      boolean never = new CountDownLatch(1).await(ms, TimeUnit.MILLISECONDS);
      if (never) {
        throw new IllegalStateException("nobody counts this latch down");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("stopped", e);
    }
  }

  static Worker worker(Kagzi kagzi) {
    return kagzi
        .worker(QUEUE)
        .workflow(PROCESS, Orders::process)
        .workflow(PAY, Orders::pay)
        .start();
  }

  /** Starts an order and returns it when its worker has lost it in the step "ship". */
  static RunHandle<Shipment> startAndCrash(Kagzi kagzi) {
    RunHandle<Shipment> run =
        kagzi
            .workflow(PROCESS)
            .id("order-" + System.nanoTime())
            .header("tenant", "north")
            .start(new Order("lamp", 4_200, List.of("lamp", "cable", "bulb")));
    Awaitility.await().atMost(SOON).until(() -> isShipping(run));
    String worker = kagzi.get(run.runId()).workerId().orElseThrow();
    kagzi.admin().forceWorkerOffline(worker, "its machine is gone");
    return run;
  }

  private static boolean isShipping(RunHandle<?> run) {
    return run.status() == RunStatus.RUNNING
        && run.history().steps().stream().anyMatch(Orders::isOpenShip);
  }

  private static boolean isOpenShip(StepInfo step) {
    return step.name().equals("ship") && step.status() == StepInfo.Status.RUNNING;
  }
}
