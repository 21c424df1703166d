package dev.kagzi.server.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kagzi.engine.memory.ByteBudget;
import dev.kagzi.engine.value.Refusal;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class CallbackBodiesTest {
  private static final int BODY_BYTES_MAX = 60_000;

  private final ByteBudget budget = new ByteBudget(100_000);
  private final CallbackBodies bodies = new CallbackBodies(budget, BODY_BYTES_MAX);

  private static byte[] bytes(int size) {
    byte[] bytes = new byte[size];
    Arrays.fill(bytes, (byte) '1');
    return bytes;
  }

  private static InputStream body(int size) {
    return new ByteArrayInputStream(bytes(size));
  }

  @Test
  void a_body_counts_until_it_is_closed() {
    try (CallbackBodies.Body body = bodies.read(body(BODY_BYTES_MAX))) {
      assertThat(body.bytes()).isEqualTo(bytes(BODY_BYTES_MAX));
      assertThat(budget.held()).isEqualTo(BODY_BYTES_MAX);
    }
    assertThat(budget.held()).isZero();
  }

  @Test
  void a_large_body_beyond_the_budget_is_refused_and_a_small_one_is_not() {
    InputStream refused = body(50_000);
    try (CallbackBodies.Body first = bodies.read(body(BODY_BYTES_MAX));
        CallbackBodies.Body second = bodies.read(body(40_000))) {
      assertThat(first.bytes().length + second.bytes().length).isEqualTo(100_000);

      assertThatThrownBy(() -> bodies.read(refused))
          .isInstanceOfSatisfying(
              Refusal.class,
              refusal -> assertThat(refusal.reason()).isEqualTo(Refusal.Reason.RESOURCE_EXHAUSTED));
      bodies.read(body(10_000)).close();
      assertThat(budget.held()).isEqualTo(100_000);
    }
    assertThat(refused).as("the rest of the body, which is read").isEmpty();
    bodies.read(body(50_000)).close();
  }

  @Test
  void nothing_is_kept_of_a_body_that_is_too_large_or_ends_early() {
    try (CallbackBodies.Body body = bodies.read(body(BODY_BYTES_MAX + 1))) {
      assertThat(body.isTooLarge()).isTrue();
      assertThat(budget.held()).isZero();
    }
    InputStream broken =
        new InputStream() {
          @Override
          public int read() throws IOException {
            throw new IOException("broken");
          }

          @Override
          public int read(byte[] into, int from, int length) throws IOException {
            throw new IOException("broken");
          }
        };

    assertThatThrownBy(() -> bodies.read(new SequenceInputStream(body(20_000), broken)))
        .isInstanceOf(Refusal.class)
        .hasMessageStartingWith("body: broken off");
    assertThat(budget.held()).isZero();
  }
}
