package dev.kagzi.cli;

import java.io.PrintWriter;

/**
 * Draws frames. On a terminal each frame replaces the one before it without clearing the screen
 * first, which would flicker. Elsewhere frames follow each other, separated by an empty line.
 */
final class Screen {
  private static final String HOME = "\u001b[H";
  private static final String CLEAR = "\u001b[2J";
  private static final String CLEAR_LINE = "\u001b[K";
  private static final String CLEAR_BELOW = "\u001b[J";

  private final PrintWriter out;
  private final boolean redraws;
  private boolean isFirst = true;

  Screen(PrintWriter out, boolean redraws) {
    this.out = out;
    this.redraws = redraws;
  }

  static Screen of(Output output) {
    return new Screen(output.out(), Terminal.has(Terminal.Stream.OUT));
  }

  void draw(String frame) {
    if (redraws) {
      redraw(frame, Terminal.size());
    } else {
      out.print(isFirst ? "" : "\n");
      out.println(frame.stripTrailing());
    }
    isFirst = false;
    out.flush();
  }

  /**
   * Cuts the frame to the size of the terminal: a longer frame would scroll, and the next one would
   * not replace it.
   */
  void redraw(String frame, Terminal.Size size) {
    StringBuilder text = new StringBuilder(isFirst ? CLEAR + HOME : HOME);
    frame
        .stripTrailing()
        .lines()
        .limit(Math.max(1, size.rows() - 1))
        .forEach(line -> text.append(cut(line, size.columns())).append(CLEAR_LINE).append('\n'));
    out.print(text.append(CLEAR_BELOW));
    isFirst = false;
  }

  private static String cut(String line, int columns) {
    return line.length() <= columns ? line : line.substring(0, columns);
  }
}
