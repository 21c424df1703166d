package dev.kagzi.examples.shop;

import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.NonRetryableException;
import dev.kagzi.spring.KagziOutbox;
import java.util.List;
import java.util.Optional;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;

/** The tables of the shop. */
@Component
class Shop {
  record PlacedOrder(String id, String state, String runId, String approvedBy) {}

  private final JdbcTemplate jdbc;
  private final Kagzi kagzi;
  private final KagziOutbox outbox;

  Shop(JdbcTemplate jdbc, Kagzi kagzi, KagziOutbox outbox) {
    this.jdbc = jdbc;
    this.kagzi = kagzi;
    this.outbox = outbox;
  }

  /**
   * Inserts an order and starts its run, both or none. Does nothing if the order exists.
   *
   * @return the id of the run
   */
  @Transactional
  public String place(Order order) {
    int inserted =
        jdbc.update(
            """
            INSERT INTO orders (id, item, cents, state) VALUES (?, ?, ?, 'OPEN')
                ON CONFLICT DO NOTHING
            """,
            order.id(),
            order.item(),
            order.cents());
    if (inserted == 0) {
      return find(order.id()).orElseThrow().runId();
    }
    String runId = outbox.start(kagzi.workflow(PlaceOrder.TYPE).id(order.id()), order).runId();
    jdbc.update("UPDATE orders SET run_id = ? WHERE id = ?", runId, order.id());
    return runId;
  }

  /** Like {@link #release} and {@link #charge}: part of the transaction of a step. */
  @Transactional(propagation = Propagation.MANDATORY)
  public void reserve(Order order) {
    try {
      jdbc.update("UPDATE stock SET pieces = pieces - 1 WHERE item = ?", order.item());
    } catch (DataIntegrityViolationException e) {
      throw new NonRetryableException("no " + order.item() + " left");
    }
    book(order, "reserve");
  }

  @Transactional(propagation = Propagation.MANDATORY)
  public void release(Order order) {
    jdbc.update("UPDATE stock SET pieces = pieces + 1 WHERE item = ?", order.item());
    book(order, "release");
  }

  @Transactional(propagation = Propagation.MANDATORY)
  public void charge(Order order) {
    book(order, "charge");
    if (order.cents() <= 0) {
      throw new NonRetryableException("cents: " + order.cents() + " (expected: > 0)");
    }
  }

  private void book(Order order, String what) {
    jdbc.update("INSERT INTO bookings VALUES (?, ?)", order.id(), what);
  }

  void setState(String id, String state) {
    jdbc.update("UPDATE orders SET state = ? WHERE id = ?", state, id);
  }

  void setApproval(String id, Approval approval) {
    jdbc.update("UPDATE orders SET approved_by = ? WHERE id = ?", approval.by(), id);
  }

  Optional<PlacedOrder> find(String id) {
    return jdbc
        .query(
            "SELECT id, state, run_id, approved_by FROM orders WHERE id = ?",
            (row, number) ->
                new PlacedOrder(
                    row.getString(1), row.getString(2), row.getString(3), row.getString(4)),
            id)
        .stream()
        .findFirst();
  }

  List<String> bookings(String id) {
    return jdbc.queryForList(
        "SELECT what FROM bookings WHERE order_id = ? ORDER BY what", String.class, id);
  }

  int countOpen() {
    Integer count =
        jdbc.queryForObject("SELECT count(*) FROM orders WHERE state = 'OPEN'", Integer.class);
    return count == null ? 0 : count;
  }
}
