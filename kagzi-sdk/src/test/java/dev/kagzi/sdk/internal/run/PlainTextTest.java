package dev.kagzi.sdk.internal.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class PlainTextTest {

  @Test
  void control_characters_are_removed_and_line_breaks_become_spaces_or_stay() {
    String text = "a\u0000b\u001b[31m\r\n\tc\u0085";

    assertThat(PlainText.line(text, 100)).isEqualTo("ab[31m  c");
    assertThat(PlainText.lines(text, 100)).isEqualTo("ab[31m\n\tc");
  }

  @Test
  void an_unpaired_surrogate_is_replaced_and_a_pair_is_kept() {
    assertThat(PlainText.line("x\ud83dy", 100)).isEqualTo("x\ufffdy");
    assertThat(PlainText.line("\ud83d\ude00", 100)).isEqualTo("\ud83d\ude00");
  }

  @Test
  void a_long_text_is_cut_at_its_byte_limit_between_characters() {
    String cut = PlainText.line("\u20ac".repeat(100), 20);

    assertThat(cut).isEqualTo("\u20ac".repeat(5) + "...");
    assertThat(cut.getBytes(StandardCharsets.UTF_8)).hasSizeLessThanOrEqualTo(20);
    assertThat(PlainText.line("short", 20)).isEqualTo("short");
  }
}
