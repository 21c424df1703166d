package dev.kagzi.sdk.internal.run;

/**
 * Texts of errors as they can be stored and shown: without control characters, and not longer than
 * somebody reads.
 */
final class PlainText {
  private static final String CUT = "...";
  private static final int REPLACEMENT = 0xFFFD;
  private static final int NOTHING = -1;

  private PlainText() {}

  /** Line breaks and tabs become spaces. */
  static String line(String text, int bytesMax) {
    return plain(text, bytesMax, false);
  }

  /** Line breaks and tabs stay. */
  static String lines(String text, int bytesMax) {
    return plain(text, bytesMax, true);
  }

  private static String plain(String text, int bytesMax, boolean breaksStay) {
    StringBuilder plain = new StringBuilder(Math.min(text.length(), bytesMax));
    int bytesLeft = bytesMax - CUT.length();
    int codePoint;
    for (int i = 0; i < text.length(); i += Character.charCount(codePoint)) {
      codePoint = text.codePointAt(i);
      int kept = kept(codePoint, breaksStay);
      if (kept == NOTHING) {
        continue;
      }
      bytesLeft -= bytes(kept);
      if (bytesLeft < 0) {
        return plain.append(CUT).toString();
      }
      plain.appendCodePoint(kept);
    }
    return plain.toString();
  }

  private static int kept(int codePoint, boolean breaksStay) {
    if (codePoint == '\n' || codePoint == '\t') {
      return breaksStay ? codePoint : ' ';
    }
    if (Character.isISOControl(codePoint)) {
      return NOTHING;
    }
    // Half of a pair is no character, and no UTF-8.
    return Character.getType(codePoint) == Character.SURROGATE ? REPLACEMENT : codePoint;
  }

  private static int bytes(int codePoint) {
    if (codePoint < 0x80) {
      return 1;
    }
    return codePoint < 0x800 ? 2 : codePoint < 0x10000 ? 3 : 4;
  }
}
