package dev.kagzi.cli;

/** Ends a process whose server cannot go on. */
final class ProcessEnd {
  /** Also what {@code sysexits.h} calls an internal software error. */
  static final int FAILED = 70;

  private static final String NO_MEMORY = "kagzi: the server cannot go on";

  private ProcessEnd() {}

  /**
   * Says why, and halts. There is no clean stop: it would wait for the thread that has ended, and
   * whatever was acknowledged is stored.
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
