package dev.kagzi.docs.orders;

// docs: spring.md
import dev.kagzi.sdk.WorkflowContext;
import dev.kagzi.sdk.WorkflowType;
import dev.kagzi.spring.SpringTransactions;
import dev.kagzi.spring.WorkflowDefinition;
import java.time.Duration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Component;

@Component
public class PayOrder implements WorkflowDefinition<PayOrder.Order, String> {
  public record Order(String id, int cents) {}

  public static final WorkflowType<Order, String> TYPE =
      WorkflowType.of("pay-order", Order.class, String.class).queue("payments");

  private final JdbcTemplate jdbc;
  private final SpringTransactions transactions;

  public PayOrder(JdbcTemplate jdbc, SpringTransactions transactions) {
    this.jdbc = jdbc;
    this.transactions = transactions;
  }

  @Override
  public WorkflowType<Order, String> type() {
    return TYPE;
  }

  @Override
  public String run(WorkflowContext ctx, Order order) {
    ctx.sleep("cool-off", Duration.ofDays(1));
    int booked = ctx.transaction("book", transactions, Integer.class, connection ->
        jdbc.update("INSERT INTO bookings (order_id, cents) VALUES (?, ?)", order.id(), order.cents()));
    return "bookings: " + booked;
  }
}
// end
