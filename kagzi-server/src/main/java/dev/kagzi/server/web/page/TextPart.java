package dev.kagzi.server.web.page;

import java.util.ArrayList;
import java.util.List;

/**
 * A part of a sentence that has commands or code between backticks, as the terminal shows it. The
 * pages show code in its own font instead.
 */
public record TextPart(String text, boolean isCode) {
  private static final char QUOTE = '`';

  /** Splits a sentence; a backtick without a second one is part of the text. */
  public static List<TextPart> of(String sentence) {
    List<TextPart> parts = new ArrayList<>();
    int at = 0;
    while (true) {
      int open = sentence.indexOf(QUOTE, at);
      int close = open < 0 ? -1 : sentence.indexOf(QUOTE, open + 1);
      if (close < 0) {
        add(parts, sentence.substring(at), false);
        return parts;
      }
      add(parts, sentence.substring(at, open), false);
      add(parts, sentence.substring(open + 1, close), true);
      at = close + 1;
    }
  }

  private static void add(List<TextPart> parts, String text, boolean isCode) {
    if (!text.isEmpty()) {
      parts.add(new TextPart(text, isCode));
    }
  }
}
