package dev.kagzi.bench;

/** A system that is measured, started and connected. Used by one thread. */
interface Contender extends AutoCloseable {

  /** As it is called in the figures. */
  String name();

  /** Executes runs of a scenario and returns when each has its result. */
  Outcome run(Scenario scenario, Load load);

  /** What the system has counted of itself so far. */
  Counters counters();

  /** The process with the engine in it, or 0 when the application's process holds it. */
  long serverPid();

  /** The process of the application: the one that starts runs and executes workflows. */
  long clientPid();

  /** Its database. */
  BenchDatabase database();

  @Override
  void close();

  /**
   * Counts since the start.
   *
   * @param statements sent to PostgreSQL; negative where nobody counts them
   * @param requests sent by the application to the server; negative where there is none
   */
  record Counters(long statements, long requests) {
    static final Counters NONE = new Counters(-1, -1);
  }
}
