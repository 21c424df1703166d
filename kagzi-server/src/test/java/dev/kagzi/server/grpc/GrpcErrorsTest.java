package dev.kagzi.server.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.engine.value.Refusal;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class GrpcErrorsTest {
  private static final String TRUCK = Character.toString(0x1F69A);

  /** Half of a character cannot be sent: the receiver would get another one. */
  @ParameterizedTest
  @ValueSource(ints = {997, 998, 999, 1_000, 1_001})
  void a_long_message_is_cut_between_characters(int before) {
    String message = "x".repeat(before) + TRUCK.repeat(3);

    String sent = message(message);

    assertThat(sent)
        .isEqualTo(new String(sent.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8));
    assertThat(sent).endsWith("…").hasSizeBetween(1_000, 1_001);
    assertThat(message).startsWith(sent.substring(0, sent.length() - 1));
  }

  @Test
  void a_short_message_is_not_cut() {
    String message = "x".repeat(998) + TRUCK;

    assertThat(message(message)).isEqualTo(message);
  }

  private static String message(String text) {
    return GrpcErrors.detail(Refusal.of(Refusal.Reason.NOT_FOUND, "run", "", text)).getMessage();
  }
}
