package dev.kagzi.engine.internal.value;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kagzi.engine.value.ErrorCode;
import dev.kagzi.engine.value.Failure;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class JsonTest {
  private static final String[] HOSTILE = {
    "",
    " ",
    "\"",
    "\\",
    "\\u0000",
    "\n\r\t\b\f",
    "\u0001\u001f\u007f\u0080",
    "</script>",
    "{\"a\":1}",
    "null",
    "ä𝄞😀",
    "\u2028\u2029",
    "'; DROP TABLE kagzi.workflow_runs; --",
    "a".repeat(100_000),
  };

  @Test
  void an_empty_map_is_a_null_column() {
    assertThat(Json.encode(Map.of())).isNull();
    assertThat(Json.decode(null)).isEmpty();
    assertThat(Json.encodeCounts(Map.of())).isNull();
    assertThat(Json.decodeCounts(null)).isEmpty();
  }

  @Test
  void unusual_strings_are_unchanged_as_keys_and_as_values() {
    for (String key : HOSTILE) {
      for (String value : HOSTILE) {
        Map<String, String> map = Map.of(key, value);

        assertThat(Json.decode(Json.encode(map))).isEqualTo(map);
      }
    }
  }

  @Test
  void random_maps_are_unchanged() {
    Random random = new Random(7);
    for (int round = 0; round < 2_000; round++) {
      Map<String, String> map = new HashMap<>();
      for (int i = random.nextInt(8); i >= 0; i--) {
        map.put(text(random), text(random));
      }

      assertThat(Json.decode(Json.encode(map))).isEqualTo(map);
    }
  }

  @Test
  void maps_that_share_a_cache_slot_are_distinguished() {
    // "Aa" and "BB" have the same hash, and so have maps of them.
    Map<String, String> first = Map.of("Aa", "1");
    Map<String, String> second = Map.of("BB", "1");

    for (int i = 0; i < 3; i++) {
      assertThat(Json.decode(Json.encode(first))).isEqualTo(first);
      assertThat(Json.decode(Json.encode(second))).isEqualTo(second);
    }
  }

  @Test
  void a_map_that_changes_after_it_was_encoded_does_not_change_the_cache() {
    Map<String, String> map = new HashMap<>(Map.of("tier", "one"));
    Json.encode(map);
    map.put("tier", "two");

    assertThat(Json.encode(Map.of("tier", "one"))).isEqualTo("{\"tier\":\"one\"}");
    assertThat(Json.encode(map)).isEqualTo("{\"tier\":\"two\"}");
  }

  @Test
  void the_text_that_postgresql_returns_decodes_to_the_same_map() {
    assertThat(Json.decode("{\"a\": \"1\", \"b\": \"\\u00e4\"}"))
        .isEqualTo(Map.of("a", "1", "b", "ä"));
  }

  @Test
  void counts_are_unchanged() {
    Map<String, Integer> counts = Map.of("a", 1, "b\"", Integer.MAX_VALUE, "c", 0);

    assertThat(Json.decodeCounts(Json.encodeCounts(counts))).isEqualTo(counts);
  }

  @Test
  void a_failure_keeps_all_its_fields() {
    for (String text : HOSTILE) {
      Failure failure =
          new Failure(
              ErrorCode.CONFLICT,
              text,
              true,
              Long.MAX_VALUE,
              text + "s",
              text + "i",
              Map.of(text, text, "type", "x"));

      assertThat(Json.decodeFailure(Json.encode(failure))).isEqualTo(failure);
    }
  }

  @Test
  void default_values_of_a_failure_are_not_written() {
    Failure silent = new Failure(ErrorCode.UNSPECIFIED, "", false, 0, "", "", Map.of());

    assertThat(Json.encode(silent)).isEqualTo("{}");
    assertThat(Json.decodeFailure("{}")).isEqualTo(silent);
  }

  @Test
  void members_of_a_newer_server_are_skipped() {
    Failure read =
        Json.decodeFailure(
            "{\"cause\": {\"message\": \"inner\", \"list\": [1, {\"x\": 2}]}, \"code\": \"NEW\","
                + " \"message\": \"outer\"}");

    assertThat(read)
        .isEqualTo(new Failure(ErrorCode.UNSPECIFIED, "outer", false, 0, "", "", Map.of()));
  }

  @Test
  void invalid_json_is_an_error_with_the_text() {
    assertThatThrownBy(() -> Json.decode("{\"a\""))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("{\"a\"");
  }

  private static String text(Random random) {
    StringBuilder text = new StringBuilder();
    for (int i = random.nextInt(12); i > 0; i--) {
      int point =
          random.nextInt(4) == 0 ? random.nextInt(0x10000, 0x11000) : random.nextInt(0xd800);
      text.appendCodePoint(point);
    }
    return text.toString();
  }
}
