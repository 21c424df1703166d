package dev.kagzi.examples.shop;

import dev.kagzi.sdk.WorkFailedException;
import dev.kagzi.sdk.WorkflowContext;
import dev.kagzi.sdk.WorkflowType;
import dev.kagzi.spring.WorkflowDefinition;
import java.time.Duration;
import org.springframework.stereotype.Component;

/**
 * An order: reserves a piece, waits for the approval of large sums, charges, and ships after a
 * pause. If it cannot be charged or nobody approves it, the piece is released.
 */
@Component
class PlaceOrder implements WorkflowDefinition<Order, String> {
  static final WorkflowType<Order, String> TYPE =
      WorkflowType.of("place-order", Order.class, String.class).queue("orders");

  static final int APPROVAL_FROM_CENTS = 100_000;
  static final Duration APPROVAL_CHECK = Duration.ofSeconds(2);
  static final int APPROVAL_CHECKS_MAX = 1_000;
  static final Duration PACKING = Duration.ofSeconds(5);

  private final Shop shop;

  PlaceOrder(Shop shop) {
    this.shop = shop;
  }

  @Override
  public WorkflowType<Order, String> type() {
    return TYPE;
  }

  @Override
  public String run(WorkflowContext ctx, Order order) {
    ctx.step("insert", () -> shop.insert(order));
    try {
      ctx.step("reserve")
          .execute(Boolean.class, step -> shop.reserve(step.idempotencyKey(), order));
    } catch (WorkFailedException e) {
      return end(ctx, order, "SOLD_OUT");
    }
    try {
      if (!isApproved(ctx, order)) {
        return compensate(ctx, order, "NOT_APPROVED");
      }
      ctx.step("charge")
          .execute(Boolean.class, step -> shop.charge(step.idempotencyKey(), order));
    } catch (WorkFailedException e) {
      return compensate(ctx, order, "NOT_PAID");
    }
    ctx.sleep("packing", PACKING);
    return end(ctx, order, "SHIPPED");
  }

  private boolean isApproved(WorkflowContext ctx, Order order) {
    if (order.cents() < APPROVAL_FROM_CENTS) {
      return true;
    }
    for (int check = 0; check < APPROVAL_CHECKS_MAX; check++) {
      if (ctx.step("is-approved", Boolean.class, () -> shop.isApproved(order.id()))) {
        return true;
      }
      ctx.sleep("wait-for-approval", APPROVAL_CHECK);
    }
    return false;
  }

  private String compensate(WorkflowContext ctx, Order order, String state) {
    ctx.step("release")
          .execute(Boolean.class, step -> shop.release(step.idempotencyKey(), order));
    return end(ctx, order, state);
  }

  private String end(WorkflowContext ctx, Order order, String state) {
    ctx.step("set-state", () -> shop.setState(order.id(), state));
    return state;
  }
}
