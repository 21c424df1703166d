package dev.kagzi.bench;

/** A measured system, started and connected. Used by one thread. */
interface Contender extends AutoCloseable {

  /** The name in the figures. */
  String name();

  /** Executes runs of a scenario and returns when each has its result. */
  Outcome run(Scenario scenario, Load load);

  /** The system's own counters. */
  Counters counters();

  /** The process of the engine, or 0 if the engine is in the application's process. */
  long serverPid();

  /** The process of the application, which starts runs and executes workflows. */
  long clientPid();

  /** The database of the system. */
  BenchDatabase database();

  @Override
  void close();

  /**
   * Counts since the start.
   *
   * @param statements sent to PostgreSQL; negative if they are not counted
   * @param requests sent by the application to the server; negative if there is no server
   */
  record Counters(long statements, long requests) {
    static final Counters NONE = new Counters(-1, -1);
  }
}
