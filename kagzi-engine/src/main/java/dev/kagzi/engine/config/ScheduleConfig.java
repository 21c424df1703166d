package dev.kagzi.engine.config;

/**
 * How schedules are fired, with the server options that set it.
 *
 * @param latePerTick {@code coordinator-max-workflows-per-tick}: how many slots that are more than
 *     two seconds late become runs in one interval of the coordinator
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
