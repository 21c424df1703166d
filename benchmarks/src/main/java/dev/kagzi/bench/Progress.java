package dev.kagzi.bench;

import java.io.PrintWriter;

/** Prints progress messages. Thread-safe. */
final class Progress {
  private final PrintWriter out;

  Progress(PrintWriter out) {
    this.out = out;
  }

  void print(String text) {
    out.println("bench: " + text);
    out.flush();
  }
}
