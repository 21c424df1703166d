package dev.kagzi.examples;

import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.OnCancel;
import dev.kagzi.sdk.RunCancelledException;
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
 * Cancel with clean-up: an order has reserved and charged, and is being packed, when its customer
 * cancels it. The packing is interrupted, everything is undone in reverse order, and the run ends
 * as CANCELLED.
 */
final class OrderCancelExample implements Example {
  record Order(String customer, List<String> items) {}

  static final WorkflowType<Order, String> CANCELLABLE_ORDER =
      WorkflowType.of("cancellable-order", Order.class, String.class)
          .queue("cancellable-orders")
          .onCancel(OnCancel.CLEAN_UP, Duration.ofMinutes(5));

  /** The calls to the shop's services, in order. */
  private final List<String> calls = new CopyOnWriteArrayList<>();

  private final CountDownLatch packing = new CountDownLatch(1);

  String placeOrder(WorkflowContext ctx, Order order) {
    Saga saga = ctx.saga();
    try {
      for (String item : order.items()) {
        saga.undo("release", () -> call("release " + item));
        ctx.step("reserve", () -> call("reserve " + item));
      }
      saga.undo("refund", () -> call("refund " + order.customer()));
      ctx.step("charge", () -> call("charge " + order.customer()));
      ctx.step("pack", this::pack);
      ctx.step("ship", () -> call("ship to " + order.customer()));
      return "shipped";
    } catch (WorkFailedException | RunCancelledException stopped) {
      saga.compensate();
      throw stopped;
    } finally {
      ctx.cleanup("tell-customer", () -> call("mail " + order.customer()));
    }
  }

  private void call(String what) {
    calls.add(what);
  }

  private void pack() throws InterruptedException {
    packing.countDown();
    new CountDownLatch(1).await(); // it takes long, and the customer cancels meanwhile
  }

  @Override
  public String about() {
    return "a customer cancels an order, and what it did is undone in reverse order";
  }

  @Override
  @SuppressWarnings("try") // close() stops the worker
  public String run(Kagzi kagzi) {
    try (Worker worker = kagzi.worker().workflow(CANCELLABLE_ORDER, this::placeOrder).start()) {
      RunHandle<String> run =
          kagzi.workflow(CANCELLABLE_ORDER).start(new Order("ada", List.of("lamp", "vase")));
      packing.await();
      run.cancel();
      return result(run);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return "interrupted";
    }
  }

  private String result(RunHandle<String> run) {
    try {
      return run.result();
    } catch (RunCancelledException cancelled) {
      List<String> undos =
          run.history().steps().stream()
              .filter(step -> step.status() == StepInfo.Status.COMPLETED)
              .map(StepInfo::key)
              .filter(key -> key.startsWith("saga["))
              .map(key -> key.substring("saga[".length(), key.indexOf(']')))
              .toList();
      return "cancelled (%s; on record: %s)"
          .formatted(String.join(", ", calls), String.join(", ", undos));
    }
  }
}
