package dev.kagzi.engine.config;

/**
 * How schedules are fired, with the server options that set it.
 *
 * @param notOnTimePerTick {@code coordinator-max-workflows-per-tick}: how many slots that are more
 *     than two seconds late become runs in one interval of the coordinator
 */
public record ScheduleConfig(int batch, int notOnTimePerTick) {
  public ScheduleConfig {
    if (batch < 1 || notOnTimePerTick < 1) {
      throw new IllegalArgumentException(
          "batch, notOnTimePerTick: "
              + batch
              + ", "
              + notOnTimePerTick
              + " (expected: at least 1)");
    }
  }

  public static ScheduleConfig defaults() {
    return new ScheduleConfig(500, 1_000);
  }
}
