package dev.kagzi.docs.orders;

// docs: spring.md
import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.spring.KagziOutbox;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

@Service
public class Orders {
  private final JdbcTemplate jdbc;
  private final Kagzi kagzi;
  private final KagziOutbox outbox;

  public Orders(JdbcTemplate jdbc, Kagzi kagzi, KagziOutbox outbox) {
    this.jdbc = jdbc;
    this.kagzi = kagzi;
    this.outbox = outbox;
  }

  @Transactional
  public RunHandle<String> place(PayOrder.Order order) {
    jdbc.update("INSERT INTO orders (id, cents) VALUES (?, ?)", order.id(), order.cents());
    return outbox.start(kagzi.workflow(PayOrder.TYPE).id(order.id()), order);
  }
}
// end
