package dev.kagzi.bench;

import java.time.Duration;

/**
 * The sizes of {@link GrowthBench}, all derived from one number.
 *
 * @param ended finished runs in the filled tables, each with five steps
 */
record GrowthSizes(int ended) {
  static final int ENDED_DEFAULT = 10_000_000;
  static final int STEPS_PER_RUN = 5;

  private static final Duration LOAD_FULL = Duration.ofMinutes(30);
  private static final Duration OPEN_TRANSACTION_FULL = Duration.ofMinutes(10);

  int sleeping() {
    return part(10, 1, 1_000_000);
  }

  int pending() {
    return part(100, 1, 100_000);
  }

  /** Runs of each measurement of throughput. */
  int measuredRuns() {
    return part(50, 20, 20_000);
  }

  int inFlight() {
    return Math.min(256, measuredRuns() / 4);
  }

  int calls() {
    return part(1_000, 10, 1_000);
  }

  /** So many that their purge takes several turns of the chore at full size. */
  int expired() {
    return part(100, 50, 50_000);
  }

  int sleepsInOneSecond() {
    return part(100, 20, 100_000);
  }

  /** Sleeps that end one after the other: over ten seconds at full size. */
  int sleepsOnTime() {
    return part(1_000, 20, 1_000);
  }

  int burst() {
    return part(100, 20, 100_000);
  }

  int stepsOfLongRun() {
    return part(100, 20, 10_000);
  }

  int resumes() {
    return part(100_000, 1, 10);
  }

  int largeRuns() {
    return part(10_000, 5, 500);
  }

  /** Runs with 100 parallel steps, and runs with 100 children. */
  int wideRuns() {
    return part(10_000, 1, 200);
  }

  int queues() {
    return part(1_000, 10, 1_000);
  }

  int namespaces() {
    return part(1_000, 4, 1_000);
  }

  int schedules() {
    return part(1_000, 10, 10_000);
  }

  /** How long an idle server is measured, after as long a pause. */
  Duration idle() {
    return repetitions() == 1 ? Duration.ofSeconds(1) : Duration.ofSeconds(60);
  }

  int workersMax() {
    return part(1_000, 4, 100);
  }

  int repetitions() {
    return ended < 100_000 ? 1 : 3;
  }

  Duration load() {
    return share(LOAD_FULL);
  }

  Duration openTransaction() {
    return share(OPEN_TRANSACTION_FULL);
  }

  private Duration share(Duration full) {
    return Duration.ofMillis(Math.max(200, full.toMillis() * ended / ENDED_DEFAULT));
  }

  private int part(int divisor, int min, int max) {
    return Math.clamp(ended / divisor, min, max);
  }
}
