package dev.kagzi.sdk.internal.client;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class QueueHintsTest {

  @Test
  void a_start_on_a_queue_that_no_own_worker_serves_is_logged_once() {
    QueueHints hints = new QueueHints();
    hints.addServed("process-order", "orders");

    assertThat(hints.warnIfNotServed("process-order", "orders")).isFalse();
    assertThat(hints.warnIfNotServed("process-order", "default")).isTrue();
    assertThat(hints.warnIfNotServed("process-order", "default")).isFalse();
  }

  @Test
  void a_start_of_a_type_that_no_own_worker_serves_is_logged_once() {
    QueueHints hints = new QueueHints();
    hints.addServed("process-order", "orders");

    assertThat(hints.warnIfNotServed("forgotten", "orders")).isTrue();
    assertThat(hints.warnIfNotServed("forgotten", "orders")).isFalse();
  }

  @Test
  void a_client_without_workers_logs_nothing() {
    assertThat(new QueueHints().warnIfNotServed("served-elsewhere", "default")).isFalse();
  }

  @Test
  void the_queue_of_a_type_is_known_if_own_workers_serve_it_on_exactly_one() {
    QueueHints hints = new QueueHints();

    assertThat(hints.onlyQueueOf("process-order")).isEmpty();
    hints.addServed("process-order", "orders");
    assertThat(hints.onlyQueueOf("process-order")).contains("orders");
    hints.addServed("process-order", "rush");
    assertThat(hints.onlyQueueOf("process-order")).isEmpty();
  }
}
