package dev.kagzi.examples.shop;

import dev.kagzi.sdk.NonRetryableException;
import java.util.List;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

/** The tables of the shop. What a step calls is safe to be called twice with the same key. */
@Component
class Shop {
  private final JdbcTemplate jdbc;

  Shop(JdbcTemplate jdbc) {
    this.jdbc = jdbc;
  }

  /** Returns false if the call was made before, like {@link #release} and {@link #charge}. */
  @Transactional
  public boolean reserve(String key, Order order) {
    boolean isFirst = book(key, order, "reserve");
    if (isFirst) {
      try {
        jdbc.update("UPDATE stock SET pieces = pieces - 1 WHERE item = ?", order.item());
      } catch (DataIntegrityViolationException e) {
        throw new NonRetryableException("no " + order.item() + " left");
      }
    }
    return isFirst;
  }

  @Transactional
  public boolean release(String key, Order order) {
    boolean isFirst = book(key, order, "release");
    if (isFirst) {
      jdbc.update("UPDATE stock SET pieces = pieces + 1 WHERE item = ?", order.item());
    }
    return isFirst;
  }

  @Transactional
  public boolean charge(String key, Order order) {
    if (order.cents() <= 0) {
      throw new NonRetryableException("cents: " + order.cents() + " (expected: > 0)");
    }
    return book(key, order, "charge");
  }

  private boolean book(String key, Order order, String what) {
    return jdbc.update(
            "INSERT INTO bookings VALUES (?, ?, ?) ON CONFLICT DO NOTHING", key, order.id(), what)
        == 1;
  }

  void insert(Order order) {
    jdbc.update(
        "INSERT INTO orders VALUES (?, ?, ?, 'OPEN') ON CONFLICT DO NOTHING",
        order.id(),
        order.item(),
        order.cents());
  }

  void setState(String id, String state) {
    jdbc.update("UPDATE orders SET state = ? WHERE id = ?", state, id);
  }

  boolean approve(String id) {
    return jdbc.update("UPDATE orders SET approved = true WHERE id = ?", id) == 1;
  }

  boolean isApproved(String id) {
    return Boolean.TRUE.equals(
        jdbc.queryForObject("SELECT approved FROM orders WHERE id = ?", Boolean.class, id));
  }

  List<String> bookings(String id) {
    return jdbc.queryForList(
        "SELECT what FROM bookings WHERE order_id = ? ORDER BY what", String.class, id);
  }

  String state(String id) {
    return jdbc.queryForObject("SELECT state FROM orders WHERE id = ?", String.class, id);
  }

  int countOpen() {
    Integer count =
        jdbc.queryForObject("SELECT count(*) FROM orders WHERE state = 'OPEN'", Integer.class);
    return count == null ? 0 : count;
  }
}
