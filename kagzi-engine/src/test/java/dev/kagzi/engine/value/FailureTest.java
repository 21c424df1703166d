package dev.kagzi.engine.value;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

class FailureTest {

  private static Failure failure(String text, Map<String, String> metadata) {
    return new Failure(ErrorCode.INTERNAL, text, false, 0, text, text, metadata);
  }

  @Test
  void stored_failures_have_no_control_characters_except_line_breaks_and_tabs() {
    String text = "a\u0000b\u001b[31m\tc\nd\u007f";

    Failure bounded = failure(text, Map.of("cause", text)).bounded();

    assertThat(bounded).isEqualTo(failure("ab[31m\tc\nd", Map.of("cause", "ab[31m\tc\nd")));
  }

  @Test
  void stored_texts_are_cut_at_8192_characters_and_stack_traces_at_32768() {
    String text = "x".repeat(100_000);

    Failure bounded = failure(text, Map.of("cause", text, "stack", text)).bounded();

    String cut = "x".repeat(8 << 10) + "...";
    assertThat(bounded)
        .isEqualTo(failure(cut, Map.of("cause", cut, "stack", "x".repeat(32 << 10) + "...")));
  }
}
