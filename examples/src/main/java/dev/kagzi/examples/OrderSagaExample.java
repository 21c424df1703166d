package dev.kagzi.examples;

import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.NonRetryableException;
import dev.kagzi.sdk.Retry;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.Saga;
import dev.kagzi.sdk.StepInfo;
import dev.kagzi.sdk.WorkFailedException;
import dev.kagzi.sdk.Worker;
import dev.kagzi.sdk.WorkflowContext;
import dev.kagzi.sdk.WorkflowType;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;

/**
 * A saga: an order reserves and charges, and then the shipment fails. So everything is undone in
 * reverse order. The worker is lost during the refund, and another worker executes the rest: each
 * undo is recorded once.
 */
final class OrderSagaExample implements Example {
  record Order(String customer, List<String> items) {}

  static final WorkflowType<Order, String> PLACE_ORDER =
      WorkflowType.of("place-order", Order.class, String.class).queue("saga-orders");

  private static final Retry PATIENT = Retry.exponential(20).max(Duration.ofMinutes(5));

  /** The calls to the shop's services, in order. */
  private final List<String> calls = new CopyOnWriteArrayList<>();

  /** The first execution of the refund waits, until its worker is lost. */
  private final CountDownLatch refunding = new CountDownLatch(1);

  String placeOrder(WorkflowContext ctx, Order order) {
    Saga saga = ctx.saga();
    try {
      for (String item : order.items()) {
        saga.undo("release", PATIENT, () -> call("release " + item));
        ctx.step("reserve", () -> call("reserve " + item));
      }
      String payment = ctx.step("charge", String.class, () -> call("charge " + order.customer()));
      saga.undo("refund", PATIENT, this::refund);
      ctx.step("ship", () -> ship(order));
      return payment;
    } catch (WorkFailedException failed) {
      saga.compensate();
      return "no order: " + failed.failure().message();
    }
  }

  private String call(String what) {
    calls.add(what);
    return what;
  }

  private void ship(Order order) {
    throw new NonRetryableException("nobody ships to " + order.customer());
  }

  private void refund() throws InterruptedException {
    if (refunding.getCount() > 0) {
      refunding.countDown();
      new CountDownLatch(1).await(); // until the worker is lost
    }
    call("refund");
  }

  @Override
  public String about() {
    return "an order fails, and is undone in reverse order, although its worker is lost meanwhile";
  }

  @Override
  @SuppressWarnings("try") // close() stops the worker
  public String run(Kagzi kagzi) {
    RunHandle<String> run =
        kagzi.workflow(PLACE_ORDER).start(new Order("ada", List.of("lamp", "vase")));
    try (Worker lost = worker(kagzi)) {
      refunding.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    try (Worker other = worker(kagzi)) {
      String result = run.result();
      List<String> undos =
          run.history().steps().stream()
              .filter(step -> step.status() == StepInfo.Status.COMPLETED)
              .map(StepInfo::key)
              .filter(key -> key.startsWith("saga["))
              .map(key -> key.substring("saga[".length(), key.indexOf(']')))
              .toList();
      return "%s (%s; on record: %s)"
          .formatted(result, String.join(", ", calls), String.join(", ", undos));
    }
  }

  private Worker worker(Kagzi kagzi) {
    return kagzi
        .worker()
        .workflow(PLACE_ORDER, this::placeOrder)
        .drainTimeout(Duration.ZERO) // releases its runs at once, interrupting their code
        .start();
  }
}
