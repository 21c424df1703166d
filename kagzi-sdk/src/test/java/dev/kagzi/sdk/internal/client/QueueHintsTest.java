package dev.kagzi.sdk.internal.client;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class QueueHintsTest {

  @Test
  void a_start_on_a_queue_that_the_own_workers_do_not_serve_is_mentioned_once() {
    QueueHints hints = new QueueHints();
    hints.served("process-order", "orders");

    assertThat(hints.starting("process-order", "orders")).isFalse();
    assertThat(hints.starting("process-order", "default")).isTrue();
    assertThat(hints.starting("process-order", "default")).isFalse();
  }

  @Test
  void a_start_of_a_type_that_no_worker_of_the_own_serves_is_mentioned_once() {
    QueueHints hints = new QueueHints();
    hints.served("process-order", "orders");

    assertThat(hints.starting("forgotten", "orders")).isTrue();
    assertThat(hints.starting("forgotten", "orders")).isFalse();
  }

  @Test
  void a_client_without_workers_is_told_nothing() {
    assertThat(new QueueHints().starting("served-elsewhere", "default")).isFalse();
  }

  @Test
  void the_queue_of_the_own_workers_is_known_if_it_is_one() {
    QueueHints hints = new QueueHints();

    assertThat(hints.onlyQueueOf("process-order")).isEmpty();
    hints.served("process-order", "orders");
    assertThat(hints.onlyQueueOf("process-order")).contains("orders");
    hints.served("process-order", "rush");
    assertThat(hints.onlyQueueOf("process-order")).isEmpty();
  }
}
