package dev.kagzi.engine.internal.value;

/** Formats a number with its noun. All texts with a number use it, so none says "1 runs". */
public final class CountText {
  private CountText() {}

  /** Formats a number of things: {@code 1 worker}, {@code 2 workers}. */
  public static String of(long number, String one) {
    return number + " " + one + (number == 1 ? "" : "s");
  }
}
