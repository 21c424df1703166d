package dev.kagzi.bench;

import java.io.PrintWriter;
import java.util.Locale;

/** Tells a waiting human what goes on. Thread-safe. */
final class Progress {
  private final PrintWriter out;

  Progress(PrintWriter out) {
    this.out = out;
  }

  void say(String format, Object... args) {
    out.println("bench: " + String.format(Locale.ROOT, format, args));
    out.flush();
  }
}
