package dev.kagzi.bench;

import java.util.EnumSet;
import java.util.OptionalDouble;
import java.util.Set;

/** What each run of a measurement does. */
enum Scenario {
  /** No step: the cost of a run itself. */
  W0(0),
  /** Five steps, each with a result of about 100 bytes. */
  W5(5),
  /** Fifty steps, each with a result of about 100 bytes. */
  W50(50),
  /** A durable sleep of two seconds. */
  SLEEP(0),
  /** Schedules instead of runs: thousands that are due in the same second. */
  SCHEDULES(0),
  /** Signals to parked runs instead of runs: one at a time, and as many as possible. */
  SIGNAL(0),
  /** Starts through an outbox, and starts in the database of the server. */
  OUTBOX(0),
  /** Transactional steps beside ordinary steps and beside the transaction alone. */
  TXSTEP(0),
  /** Single calls instead of runs, one at a time, compared with their targets. */
  LATENCIES(0),
  /** Pages of the dashboard instead of runs, on a database with a million runs. */
  PAGES(0),
  /**
   * Many figures, such as the rate of W5 and the time of a list, on empty tables and on tables with
   * millions of runs.
   */
  GROWTH(0);

  /** How long a run of {@link #SLEEP} sleeps. */
  static final long SLEEP_MS = 2_000;

  /** Scenarios that do not measure whole runs. */
  static final Set<Scenario> WITHOUT_RUNS =
      EnumSet.of(SCHEDULES, SIGNAL, OUTBOX, TXSTEP, LATENCIES, PAGES, GROWTH);

  /** Scenarios that can be measured with several servers. */
  static final Set<Scenario> WITH_SERVERS = EnumSet.of(W0, W5, W50);

  private static final double EMBEDDED_RATIO_MAX = 1.0;
  private static final double W0_RATIO_MAX = 1.5;
  private static final double W5_RATIO_MAX = 0.8;

  private final int steps;

  Scenario(int steps) {
    this.steps = steps;
  }

  int steps() {
    return steps;
  }

  /**
   * The largest accepted ratio of Kagzi's median latency to that of DBOS, with one run in flight;
   * empty if there is none for this scenario.
   */
  OptionalDouble latencyRatioMax(boolean embedded) {
    return switch (this) {
      case W0 -> OptionalDouble.of(embedded ? EMBEDDED_RATIO_MAX : W0_RATIO_MAX);
      case W5 -> OptionalDouble.of(embedded ? EMBEDDED_RATIO_MAX : W5_RATIO_MAX);
      default -> OptionalDouble.empty();
    };
  }
}
