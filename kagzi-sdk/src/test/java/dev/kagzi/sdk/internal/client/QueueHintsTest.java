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
    assertThat(hints.starting("served-elsewhere", "default")).isFalse();
  }
}
