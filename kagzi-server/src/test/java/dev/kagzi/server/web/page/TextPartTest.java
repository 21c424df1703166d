package dev.kagzi.server.web.page;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class TextPartTest {
  private static TextPart text(String text) {
    return new TextPart(text, false);
  }

  private static TextPart code(String text) {
    return new TextPart(text, true);
  }

  @Test
  void what_is_between_backticks_is_code() {
    assertThat(TextPart.of("Paused. `kagzi schedule resume x` or `y`."))
        .containsExactly(
            text("Paused. "), code("kagzi schedule resume x"), text(" or "), code("y"), text("."));
  }

  @Test
  void a_text_without_a_pair_of_backticks_stays_as_it_is() {
    assertThat(TextPart.of("plain")).containsExactly(text("plain"));
    assertThat(TextPart.of("a ` b")).containsExactly(text("a ` b"));
    assertThat(TextPart.of("")).isEmpty();
  }
}
