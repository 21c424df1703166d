package dev.kagzi.engine.internal.value;

public final class TimeText {
  private static final long S = 1_000;
  private static final long MIN = 60 * S;
  private static final long H = 60 * MIN;

  /** Durations from here on are rounded to seconds. */
  private static final long ROUND_MS_MIN = 10 * S;

  private TimeText() {}

  /** Formats a duration: {@code 50 ms}, {@code 3 s}, {@code 90 s}, {@code 2 min}, {@code 48 h}. */
  public static String of(long ms) {
    long shown = ms < ROUND_MS_MIN ? ms : (ms + S / 2) / S * S;
    if (shown == 0 || shown % S != 0) {
      return shown + " ms";
    }
    if (shown % H == 0) {
      return shown / H + " h";
    }
    return shown % MIN == 0 ? shown / MIN + " min" : shown / S + " s";
  }
}
