package dev.kagzi.examples.shop;

import dev.kagzi.sdk.Saga;
import dev.kagzi.sdk.Signal;
import dev.kagzi.sdk.StepFailedException;
import dev.kagzi.sdk.WorkflowContext;
import dev.kagzi.sdk.WorkflowType;
import dev.kagzi.spring.SpringTransactions;
import dev.kagzi.spring.WorkflowDefinition;
import java.time.Duration;
import java.util.Optional;
import org.springframework.stereotype.Component;

/**
 * An order: reserves a piece, waits for the approval of large sums, charges, and ships after a
 * pause. If it cannot be charged or is not approved, the piece is released.
 */
@Component
class PlaceOrder implements WorkflowDefinition<Order, String> {
  static final WorkflowType<Order, String> TYPE =
      WorkflowType.of("place-order", Order.class, String.class).queue("orders");
  static final Signal<Approval> APPROVAL = Signal.of("approval", Approval.class);

  static final int APPROVAL_FROM_CENTS = 100_000;
  static final Duration APPROVAL_TIMEOUT = Duration.ofDays(3);
  static final Duration PACKING = Duration.ofSeconds(5);

  private final Shop shop;
  private final SpringTransactions transactions;

  PlaceOrder(Shop shop, SpringTransactions transactions) {
    this.shop = shop;
    this.transactions = transactions;
  }

  @Override
  public WorkflowType<Order, String> type() {
    return TYPE;
  }

  @Override
  public String run(WorkflowContext ctx, Order order) {
    Saga saga = ctx.saga();
    try {
      ctx.transaction("reserve", transactions, connection -> shop.reserve(order));
    } catch (StepFailedException e) {
      return end(ctx, order, "SOLD_OUT");
    }
    saga.undo(
        "release",
        undo -> undo.transaction("release", transactions, connection -> shop.release(order)));
    if (!isApproved(ctx, order)) {
      return compensate(ctx, saga, order, "NOT_APPROVED");
    }
    try {
      ctx.transaction("charge", transactions, connection -> shop.charge(order));
    } catch (StepFailedException e) {
      return compensate(ctx, saga, order, "NOT_PAID");
    }
    ctx.sleep("packing", PACKING);
    return end(ctx, order, "SHIPPED");
  }

  /** While it waits, the run takes neither a thread nor memory of the application. */
  private boolean isApproved(WorkflowContext ctx, Order order) {
    if (order.cents() < APPROVAL_FROM_CENTS) {
      return true;
    }
    Optional<Approval> approval = ctx.receive(APPROVAL, APPROVAL_TIMEOUT);
    approval.ifPresent(
        given -> ctx.step("set-approval", () -> shop.setApproval(order.id(), given)));
    return approval.map(Approval::approved).orElse(false);
  }

  private String compensate(WorkflowContext ctx, Saga saga, Order order, String state) {
    saga.compensate();
    return end(ctx, order, state);
  }

  /** An ordinary step: setting the same state twice has no second effect. */
  private String end(WorkflowContext ctx, Order order, String state) {
    ctx.step("set-state", () -> shop.setState(order.id(), state));
    return state;
  }
}
