package dev.kagzi.cli;

/** Foreign text for a terminal: one line, and nothing in it that a terminal would obey. */
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

  /** The same for what went wrong, without the middle of what is too long to be read. */
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
      // Format characters turn the direction of what follows.
      case Character.CONTROL, Character.FORMAT, Character.SURROGATE -> false;
      case Character.LINE_SEPARATOR, Character.PARAGRAPH_SEPARATOR -> false;
      default -> true;
    };
  }
}
