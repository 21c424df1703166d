package dev.kagzi.cli;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;

import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.NonRetryableException;
import dev.kagzi.sdk.Retry;
import dev.kagzi.sdk.WorkflowContext;
import dev.kagzi.sdk.WorkflowType;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A small shop: a worker with two workflows, and a customer who orders every two seconds. It shows
 * retries, durable sleeps and an occasional failure.
 */
final class Demo implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(Demo.class);

  static final String QUEUE = "demo";

  record Order(String id, String item, int cents) {}

  record Receipt(String order, String payment, String parcel) {}

  record Reminder(String customer, int rounds) {}

  static final WorkflowType<Order, Receipt> PROCESS_ORDER =
      WorkflowType.of("process-order", Order.class, Receipt.class).queue(QUEUE);

  static final WorkflowType<Reminder, String> REMIND =
      WorkflowType.of("remind-customer", Reminder.class, String.class).queue(QUEUE);

  private static final Duration PAUSE = ofSeconds(2);
  private static final int REMINDER_EVERY = 5;

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
        .maxConcurrent(50)
        .drainTimeout(ofSeconds(5))
        // DevCommand closes this worker itself, before the server.
        .drainOnShutdown(false)
        .start();
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
