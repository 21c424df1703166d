package dev.kagzi.cli;

/** Formats a number with its noun. All texts with a number use it, so none says "1 runs". */
final class Plural {
  private Plural() {}

  /** Formats a number of things: {@code 1 worker}, {@code 2 workers}. */
  static String of(long number, String one) {
    return number + " " + one + (number == 1 ? "" : "s");
  }
}
