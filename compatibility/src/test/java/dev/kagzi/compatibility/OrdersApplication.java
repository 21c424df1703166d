package dev.kagzi.compatibility;

import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.WorkflowContext;
import dev.kagzi.sdk.WorkflowType;
import dev.kagzi.spring.WorkflowDefinition;
import java.time.Duration;
import java.time.Instant;
import java.util.Set;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Component;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

/** An application with a database, its own Flyway, a controller, actuator, and a workflow. */
@SpringBootApplication
public class OrdersApplication {
  record Order(String item, int cents, Instant at, Set<String> tags) {}

  record Receipt(String item, int cents, long rows) {}

  record Started(String runId) {}

  static final WorkflowType<Order, Receipt> PROCESS_ORDER =
      WorkflowType.of("process-order", Order.class, Receipt.class).queue("orders");

  @Component
  static class ProcessOrder implements WorkflowDefinition<Order, Receipt> {
    private final JdbcTemplate jdbc;

    ProcessOrder(JdbcTemplate jdbc) {
      this.jdbc = jdbc;
    }

    @Override
    public WorkflowType<Order, Receipt> type() {
      return PROCESS_ORDER;
    }

    @Override
    public Receipt run(WorkflowContext ctx, Order order) {
      ctx.step("insert")
          .input(order)
          .run(Integer.class, () -> jdbc.update("INSERT INTO orders VALUES (?)", order.item()));
      ctx.sleep("cool-off", Duration.ofDays(1));
      return ctx.step("count", Receipt.class, () -> receipt(order));
    }

    private Receipt receipt(Order order) {
      Long rows =
          jdbc.queryForObject(
              "SELECT count(*) FROM orders WHERE item = ?", Long.class, order.item());
      return new Receipt(order.item(), order.cents(), rows);
    }
  }

  @RestController
  static class Controller {
    private final Kagzi kagzi;

    Controller(Kagzi kagzi) {
      this.kagzi = kagzi;
    }

    @PostMapping("/orders")
    Started start(@RequestBody Order order) {
      return new Started(kagzi.workflow(PROCESS_ORDER).start(order).runId());
    }
  }
}
