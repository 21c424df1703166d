package dev.kagzi.cli;

/** Ends the process after its server has failed. */
final class ProcessEnd {
  /** The same value as EX_SOFTWARE of {@code sysexits.h}. */
  static final int FAILED = 70;

  private static final String NO_MEMORY = "kagzi: the server cannot go on";

  private ProcessEnd() {}

  /**
   * Prints the reason and halts. A clean stop might wait forever for work of the failed thread;
   * acknowledged data is already stored.
   */
  static void failed(Throwable why) {
    try {
      System.err.println(
          "kagzi: %s; this process ends with exit code %d".formatted(why.getMessage(), FAILED));
    } catch (OutOfMemoryError e) {
      System.err.println(NO_MEMORY);
    } finally {
      Runtime.getRuntime().halt(FAILED);
    }
  }
}
