package dev.kagzi.cli;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;

import dev.kagzi.sdk.ChildHandle;
import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.NonRetryableException;
import dev.kagzi.sdk.Retry;
import dev.kagzi.sdk.WorkflowContext;
import dev.kagzi.sdk.WorkflowType;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A small shop: a worker with some workflows, and a customer who orders every two seconds. It shows
 * retries, durable sleeps, children, a schedule and an occasional failure. Two runs stay stuck, so
 * that there is something to find: one is blocked, because its input has no price, and one waits in
 * a queue that no worker serves.
 */
final class Demo implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(Demo.class);

  static final String QUEUE = "demo";

  record Order(String id, String item, int cents) {}

  record Receipt(String order, String payment, String parcel) {}

  record Reminder(String customer, int rounds) {}

  record Parcel(String order, int number) {}

  /** As an old version of the shop sent it: without the price, which the code needs by now. */
  record OrderWithoutPrice(String id, String item) {}

  static final WorkflowType<Order, Receipt> PROCESS_ORDER =
      WorkflowType.of("process-order", Order.class, Receipt.class).queue(QUEUE);

  static final WorkflowType<Reminder, String> REMIND =
      WorkflowType.of("remind-customer", Reminder.class, String.class).queue(QUEUE);

  static final WorkflowType<Order, String> SHIP_LARGE_ORDER =
      WorkflowType.of("ship-large-order", Order.class, String.class).queue(QUEUE);

  static final WorkflowType<Parcel, String> PACK_PARCEL =
      WorkflowType.of("pack-parcel", Parcel.class, String.class).queue(QUEUE);

  static final WorkflowType<String, Integer> COUNT_STOCK =
      WorkflowType.of("count-stock", String.class, Integer.class).queue(QUEUE);

  private static final WorkflowType<OrderWithoutPrice, Receipt> OLD_ORDER =
      WorkflowType.of("process-order", OrderWithoutPrice.class, Receipt.class).queue(QUEUE);

  private static final WorkflowType<String, String> WRITE_REPORT =
      WorkflowType.of("write-report", String.class, String.class).queue("reports");

  private static final Duration PAUSE = ofSeconds(2);
  private static final int REMINDER_EVERY = 5;
  private static final int LARGE_ORDER_EVERY = 4;
  private static final int PARCELS = 3;

  private final Kagzi kagzi;
  private final ScheduledExecutorService customer;
  private final AtomicLong orders = new AtomicLong();

  private Demo(Kagzi kagzi) {
    this.kagzi = kagzi;
    this.customer =
        Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().name("demo-customer").daemon().factory());
  }

  /** Connects in process: without token and certificate. */
  static Demo start(String inProcessName) {
    Demo demo = new Demo(Kagzi.builder().inProcess(inProcessName).connect());
    demo.kagzi
        .worker(QUEUE)
        .workflow(PROCESS_ORDER, Demo::processOrder)
        .workflow(REMIND, Demo::remind)
        .workflow(SHIP_LARGE_ORDER, Demo::shipLargeOrder)
        .workflow(PACK_PARCEL, Demo::packParcel)
        .workflow(COUNT_STOCK, Demo::countStock)
        .maxConcurrent(50)
        .drainTimeout(ofSeconds(5))
        // DevCommand closes this worker itself, before the server.
        .drainOnShutdown(false)
        .start();
    demo.customer.execute(demo::prepare);
    demo.customer.scheduleAtFixedRate(
        demo::orderSomething, 0, PAUSE.toMillis(), TimeUnit.MILLISECONDS);
    log.atInfo().addKeyValue("queue", QUEUE).log("demo started");
    return demo;
  }

  private static Receipt processOrder(WorkflowContext ctx, Order order) {
    String payment =
        ctx.step("charge")
            .retry(Retry.exponential(5).initial(ofMillis(200)).notOn(NonRetryableException.class))
            .run(String.class, () -> charge(order));
    ctx.sleep("cool-off", "3s");
    String parcel = ctx.step("ship", String.class, () -> "parcel-of-" + order.id());
    return new Receipt(order.id(), payment, parcel);
  }

  private static String charge(Order order) {
    int luck = ThreadLocalRandom.current().nextInt(100);
    if (luck < 3) {
      throw new NonRetryableException("card declined for " + order.id());
    }
    if (luck < 20) {
      throw new IllegalStateException("payment gateway is busy");
    }
    return "payment-of-" + order.id();
  }

  private static String remind(WorkflowContext ctx, Reminder reminder) {
    for (int round = 1; round <= reminder.rounds(); round++) {
      String text = "dear " + reminder.customer() + ", this is reminder " + round;
      ctx.step("write", String.class, () -> text);
      ctx.sleep("wait", "10s");
    }
    return reminder.customer() + " was reminded " + reminder.rounds() + " times";
  }

  private static String shipLargeOrder(WorkflowContext ctx, Order order) {
    List<ChildHandle<String>> parcels = new ArrayList<>();
    for (int number = 1; number <= PARCELS; number++) {
      parcels.add(ctx.child(PACK_PARCEL).start("pack-" + number, new Parcel(order.id(), number)));
    }
    List<String> packed = ctx.results(parcels);
    return ctx.step("ship", String.class, () -> String.join(", ", packed));
  }

  private static String packParcel(WorkflowContext ctx, Parcel parcel) {
    ctx.sleep("find-box", ofSeconds(parcel.number()));
    return ctx.step("pack", String.class, () -> parcel.order() + "/" + parcel.number());
  }

  private static int countStock(WorkflowContext ctx, String shelf) {
    return ctx.step("count", Integer.class, () -> ThreadLocalRandom.current().nextInt(1_000));
  }

  /** The ids keep a second start of the demo on the same data from starting these runs again. */
  private void prepare() {
    try {
      kagzi
          .schedule("count-stock")
          .workflow(COUNT_STOCK)
          .cron("* * * * *")
          .input("shelf-1")
          .createOrUpdate();
      kagzi
          .workflow(OLD_ORDER)
          .id("order-without-price")
          .start(new OrderWithoutPrice("order-0", "paper"));
      kagzi.workflow(WRITE_REPORT).id("report-of-the-year").start("2026");
    } catch (RuntimeException e) {
      log.atWarn().addKeyValue("cause", e.getMessage()).log("demo could not be prepared");
    }
  }

  /**
   * Catches failures: an exception would cancel the periodic task, and the server may be back soon.
   */
  private void orderSomething() {
    try {
      long n = orders.incrementAndGet();
      kagzi.workflow(PROCESS_ORDER).start(new Order("order-" + n, "paper", 1_250));
      if (n % REMINDER_EVERY == 0) {
        kagzi.workflow(REMIND).start(new Reminder("customer-" + n, 3));
      }
      if (n % LARGE_ORDER_EVERY == 0) {
        kagzi.workflow(SHIP_LARGE_ORDER).start(new Order("order-" + n, "desk", 99_000));
      }
    } catch (RuntimeException e) {
      log.atWarn().addKeyValue("cause", e.getMessage()).log("demo customer could not order");
    }
  }

  @Override
  public void close() {
    customer.shutdownNow();
    kagzi.close();
  }
}
