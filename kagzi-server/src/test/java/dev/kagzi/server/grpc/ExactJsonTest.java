package dev.kagzi.server.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ExactJsonTest {

  private static boolean isExact(String json) {
    return ExactJson.isExact(json.getBytes(StandardCharsets.UTF_8));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "null",
        "\"Ä 😀 \\n\"",
        "{\"a\":[1,2.50,-3,true],\"b\":{}}",
        "123456789012345678901234567890",
        "0.1000"
      })
  void compact_json_is_exact(String json) {
    assertThat(isExact(json)).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "{ \"a\": 1 }",
        "1 2",
        "[1",
        "-0",
        "1e2",
        "{\"a\":1,\"a\":2}",
        "\"\\u0041\"",
        "text"
      })
  void json_that_a_reader_would_write_differently_is_not(String json) {
    assertThat(isExact(json)).isFalse();
  }

  @Test
  void json_that_is_too_deep_for_a_document_is_not() {
    assertThat(isExact("[".repeat(400) + "]".repeat(400))).isTrue();
    assertThat(isExact("[".repeat(401) + "]".repeat(401))).isFalse();
  }

  @Test
  void bytes_that_are_no_text_are_not() {
    assertThat(ExactJson.isExact(new byte[] {(byte) 0xff, 1, 2})).isFalse();
  }
}
