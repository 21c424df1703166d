package dev.kagzi.engine.internal.diagnosis;

import java.util.Locale;

/** Formats lengths of time and numbers of bytes of any size with one unit. */
final class Units {
  private static final long S = 1_000;
  private static final long MIN = 60 * S;
  private static final long H = 60 * MIN;
  private static final long D = 24 * H;
  private static final long MIB = 1L << 20;
  private static final long GIB = 1L << 30;

  private Units() {}

  static String time(long ms) {
    if (ms < 2 * S) {
      return ms + " ms";
    }
    if (ms < 2 * MIN) {
      return ms / S + " s";
    }
    if (ms < 2 * H) {
      return ms / MIN + " min";
    }
    return ms < 2 * D ? ms / H + " h" : ms / D + " d";
  }

  static String bytes(long bytes) {
    return bytes < GIB
        ? bytes / MIB + " MiB"
        : String.format(Locale.ROOT, "%.1f GiB", (double) bytes / GIB);
  }
}
