package dev.kagzi.cli;

/** Makes foreign text safe for a terminal: one line without control characters. */
final class PlainLine {
  private static final int LENGTH_MAX = 1_200;

  private PlainLine() {}

  static String of(String text) {
    StringBuilder plain = new StringBuilder(text.length());
    text.codePoints()
        .map(point -> isSpace(point) ? ' ' : isPlain(point) ? point : '\uFFFD')
        .forEach(plain::appendCodePoint);
    return plain.toString();
  }

  /** Like {@link #of}, for error messages; cuts the middle of long ones. */
  static String brief(String text) {
    return of(
        text.length() <= LENGTH_MAX
            ? text
            : text.substring(0, LENGTH_MAX / 2)
                + " … "
                + text.substring(text.length() - LENGTH_MAX / 2));
  }

  private static boolean isSpace(int point) {
    return point == '\n' || point == '\r' || point == '\t';
  }

  private static boolean isPlain(int point) {
    return switch (Character.getType(point)) {
      // Format characters could reverse the direction of the following text.
      case Character.CONTROL, Character.FORMAT, Character.SURROGATE -> false;
      case Character.LINE_SEPARATOR, Character.PARAGRAPH_SEPARATOR -> false;
      default -> true;
    };
  }
}
