package dev.kagzi.cli;

import java.io.PrintWriter;

/** Shows on one line of a terminal how many of many calls are done. Thread-safe. */
final class ProgressBar implements AutoCloseable {
  private static final int WIDTH = 40;
  private static final String TO_LINE_START = "\r\u001b[K";

  private final PrintWriter err;
  private final boolean isShown;
  private final int all;
  private int shown = -1;

  ProgressBar(PrintWriter err, boolean isShown, int all) {
    this.err = err;
    this.isShown = isShown && all > 0;
    this.all = all;
  }

  /** Draws only when the whole percentage has grown. */
  synchronized void show(int done) {
    int percent = (int) (100L * done / Math.max(1, all));
    if (!isShown || percent <= shown) {
      return;
    }
    shown = percent;
    int filled = WIDTH * percent / 100;
    err.print(
        "%s[%s%s] %d%% %d/%d"
            .formatted(
                TO_LINE_START, "#".repeat(filled), " ".repeat(WIDTH - filled), percent, done, all));
    err.flush();
  }

  /** Removes the bar, so that the summary stands alone. */
  @Override
  public synchronized void close() {
    if (isShown) {
      err.print(TO_LINE_START);
      err.flush();
    }
  }
}
