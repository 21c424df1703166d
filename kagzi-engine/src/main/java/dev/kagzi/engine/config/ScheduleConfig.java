package dev.kagzi.engine.config;

/**
 * How schedules are fired.
 *
 * @param latePerTick how many late slots become runs in one interval of the coordinator; slots that
 *     are on time are not limited
 */
public record ScheduleConfig(int batch, int latePerTick) {
  public ScheduleConfig {
    if (batch < 1 || latePerTick < 1) {
      throw new IllegalArgumentException(
          "batch, latePerTick: " + batch + ", " + latePerTick + " (expected: at least 1)");
    }
  }

  public static ScheduleConfig defaults() {
    return new ScheduleConfig(500, 1_000);
  }
}
