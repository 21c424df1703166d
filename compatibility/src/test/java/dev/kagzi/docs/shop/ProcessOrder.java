package dev.kagzi.docs.shop;

// docs: spring.md
import dev.kagzi.sdk.Signal;
import dev.kagzi.sdk.WorkflowContext;
import dev.kagzi.sdk.WorkflowType;
import dev.kagzi.spring.WorkflowDefinition;
import java.time.Duration;
import org.springframework.stereotype.Component;

@Component
public class ProcessOrder implements WorkflowDefinition<ProcessOrder.Order, String> {
  public record Order(String item, int cents) {}

  public record Approval(String by, boolean approved) {}

  public static final WorkflowType<Order, String> TYPE =
      WorkflowType.of("process-order", Order.class, String.class).queue("orders");

  public static final Signal<Approval> APPROVAL = Signal.of("approval", Approval.class);

  private final Payments payments;

  public ProcessOrder(Payments payments) {
    this.payments = payments;
  }

  @Override
  public WorkflowType<Order, String> type() {
    return TYPE;
  }

  @Override
  public String run(WorkflowContext ctx, Order order) {
    if (order.cents() > 1_000_000) {
      Approval approval = ctx.receive(APPROVAL);   // waits until somebody decides
      if (!approval.approved()) {
        return "refused by " + approval.by();
      }
    }
    String payment = ctx.step("charge", String.class, () -> payments.charge(order.cents()));
    ctx.sleep("cool-off", Duration.ofDays(1));   // durable: holds no thread, no memory
    return ctx.step("ship", String.class, () -> payment + ", shipped " + order.item());
  }
}
// end
