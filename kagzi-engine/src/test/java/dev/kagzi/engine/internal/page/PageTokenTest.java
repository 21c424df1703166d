package dev.kagzi.engine.internal.page;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.kagzi.engine.internal.page.PageToken.Direction;
import dev.kagzi.engine.page.PageSpec;
import dev.kagzi.engine.value.Refusal;
import java.time.Instant;
import java.util.Random;
import org.junit.jupiter.api.Test;

class PageTokenTest {
  @Test
  void a_parsed_token_has_its_direction_and_position() {
    for (Direction direction : Direction.values()) {
      for (Cursor cursor :
          new Cursor[] {
            Cursor.of("1", "b"), Cursor.of(""), Cursor.of("ä😀\u0000", "", "x".repeat(500))
          }) {
        PageToken token = new PageToken(direction, cursor);

        assertThat(PageToken.parse(token.encode("list"), "list")).isEqualTo(token);
      }
    }
  }

  @Test
  void the_prefix_shows_the_direction_and_a_token_without_one_leads_forward() {
    String next = new PageToken(Direction.NEXT, Cursor.of("1")).encode("list");
    String prev = new PageToken(Direction.PREV, Cursor.of("1")).encode("list");

    assertThat(next).startsWith("next:").matches("next:[A-Za-z0-9_-]+");
    assertThat(prev).startsWith("prev:");
    assertThat(PageToken.parse(next.substring(5), "list").direction()).isEqualTo(Direction.NEXT);
  }

  @Test
  void a_token_of_another_list_or_other_filters_is_refused() {
    String token = new PageToken(Direction.NEXT, Cursor.of("1", "2")).encode("runs a");

    assertRefused(token, "runs b");
    assertRefused(token, "steps a");
  }

  @Test
  void garbage_is_refused() {
    for (String token :
        new String[] {
          "next:",
          "prev:",
          "next",
          "next:%%%",
          "prev:AAAA",
          "next:AAAAAAAA",
          " ",
          "\u0000",
          "😀",
          "next:" + "A".repeat(1 << 20),
          "next:next:AAAA",
          "null",
        }) {
      assertRefused(token, "list");
    }
  }

  @Test
  void an_altered_token_is_refused() {
    Random random = new Random(3);
    String token = new PageToken(Direction.NEXT, Cursor.of("1700000000000000", "x")).encode("l");
    String letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    for (int round = 0; round < 1_000; round++) {
      StringBuilder altered = new StringBuilder(token);
      // The last letter stays: it has bits that no byte uses, so a change of it may change nothing.
      int at = random.nextInt(5, token.length() - 1);
      altered.setCharAt(at, letters.charAt(random.nextInt(letters.length())));
      if (!altered.toString().equals(token)) {
        assertRefused(altered.toString(), "l");
      }
    }
  }

  @Test
  void a_cursor_with_a_wrong_key_is_refused_when_it_is_read() {
    Cursor cursor = Cursor.of("x");

    assertThatExceptionOfType(Refusal.class).isThrownBy(() -> cursor.number(0));
    assertThatExceptionOfType(Refusal.class).isThrownBy(() -> cursor.uuid(0));
    assertThatExceptionOfType(Refusal.class).isThrownBy(() -> cursor.text(1));
  }

  @Test
  void times_keep_their_microseconds_and_are_limited() {
    Instant time = Instant.parse("2026-01-01T00:00:00.123456Z");

    assertThat(EpochMicros.micros(time)).isEqualTo(1_767_225_600_123_456L);
    assertThat(EpochMicros.bounded(time)).isEqualTo(time);
    assertThat(EpochMicros.micros(EpochMicros.bounded(Instant.MAX))).isPositive();
    assertThat(EpochMicros.micros(EpochMicros.bounded(Instant.MIN))).isNegative();
  }

  @Test
  void page_sizes_are_brought_within_bounds() {
    assertThat(PageSpec.FIRST.size()).isEqualTo(20);
    assertThat(new PageSpec(-7, "", false, false).size()).isEqualTo(1);
    assertThat(new PageSpec(1, "", false, false).size()).isEqualTo(1);
    assertThat(new PageSpec(Integer.MAX_VALUE, "", false, false).size()).isEqualTo(100);
  }

  private static void assertRefused(String token, String list) {
    assertThatExceptionOfType(Refusal.class)
        .as(token.length() > 100 ? "long" : token)
        .isThrownBy(() -> PageToken.parse(token, list))
        .satisfies(
            refusal -> {
              assertThat(refusal.reason()).isEqualTo(Refusal.Reason.INVALID_ARGUMENT);
              assertThat(refusal.subject()).isEqualTo("page_token");
            });
  }
}
