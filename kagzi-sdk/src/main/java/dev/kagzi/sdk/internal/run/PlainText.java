package dev.kagzi.sdk.internal.run;

/** Makes error texts storable: removes control characters and limits the length. */
final class PlainText {
  private static final String CUT = "...";
  private static final int REPLACEMENT = 0xFFFD;
  private static final int DROPPED = -1;

  private PlainText() {}

  /** Replaces line breaks and tabs by spaces. */
  static String line(String text, int bytesMax) {
    return plain(text, bytesMax, false);
  }

  /** Keeps line breaks and tabs. */
  static String lines(String text, int bytesMax) {
    return plain(text, bytesMax, true);
  }

  private static String plain(String text, int bytesMax, boolean keepBreaks) {
    StringBuilder plain = new StringBuilder(Math.min(text.length(), bytesMax));
    int bytesLeft = bytesMax - CUT.length();
    int codePoint;
    for (int i = 0; i < text.length(); i += Character.charCount(codePoint)) {
      codePoint = text.codePointAt(i);
      int kept = storable(codePoint, keepBreaks);
      if (kept == DROPPED) {
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

  private static int storable(int codePoint, boolean keepBreaks) {
    if (codePoint == '\n' || codePoint == '\t') {
      return keepBreaks ? codePoint : ' ';
    }
    if (Character.isISOControl(codePoint)) {
      return DROPPED;
    }
    // An unpaired surrogate cannot be encoded in UTF-8.
    return Character.getType(codePoint) == Character.SURROGATE ? REPLACEMENT : codePoint;
  }

  private static int bytes(int codePoint) {
    if (codePoint < 0x80) {
      return 1;
    }
    return codePoint < 0x800 ? 2 : codePoint < 0x10000 ? 3 : 4;
  }
}
